//! The rate at which the network delivers, a sample per ACK (draft-cheng-iccrg-delivery-rate-estimation, and Linux's
//! `tcp_rate.c`): between the sending of a segment and its acknowledgement, what was delivered meanwhile over how long that
//! took. Kept only for controllers that ask for it.

use std::collections::VecDeque;
use wire::Time;

/// What is known of deliveries, and of each segment in flight when it was sent.
#[derive(Clone, Debug, Default)]
pub struct Delivery {
    /// Segments delivered so far, and when the last of them was.
    delivered: u64,
    delivered_at: Time,
    /// When the segment was sent from which the next sample begins.
    first_sent: Time,
    /// Until so many are delivered, samples say what the application gave and not what the path takes; 0: they do not.
    limited_until: u64,
    segments: VecDeque<Segment>,
    latest: Option<Latest>,
}

/// A segment in flight, and what was known when it was sent.
#[derive(Clone, Copy, Debug)]
struct Segment {
    offset: u64,
    sent: Time,
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    limited: bool,
    /// Its delivery was counted.
    over: bool,
}

/// Of what an ACK delivers, the segment that was sent last.
#[derive(Clone, Copy, Debug)]
struct Latest {
    sent: Time,
    offset: u64,
    delivered: u64,
    delivered_at: Time,
    sending_ns: i64,
    limited: bool,
}

/// A rate: so many segments in so many nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Segments delivered.
    pub packets: u64,
    /// In this time: of the sending or of the ACKs, whichever was longer.
    pub interval_ns: i64,
    /// Segments that had been delivered when the interval began.
    pub since: u64,
    /// The application had less to send than the path would take.
    pub limited: bool,
}

impl Delivery {
    /// A segment is sent, for the first time or again; `idle` if nothing was in flight.
    pub fn sent(&mut self, now: Time, offset: u64, idle: bool) {
        if idle {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        let (delivered, delivered_at, first_sent) = (self.delivered, self.delivered_at, self.first_sent);
        let limited = self.limited_until > 0;
        let segment = Segment { offset, sent: now, delivered, delivered_at, first_sent, limited, over: false };
        let at = self.segments.partition_point(|other| other.offset < offset);
        match self.segments.get_mut(at).filter(|other| other.offset == offset) {
            Some(other) => *other = segment,
            None => self.segments.insert(at, segment),
        }
    }

    /// The segment at `offset` was delivered, as the ACK says that is being read.
    pub fn arrived(&mut self, offset: u64) {
        let at = self.segments.partition_point(|segment| segment.offset < offset);
        let Some(segment) = self.segments.get_mut(at).filter(|segment| segment.offset == offset) else { return };
        if std::mem::replace(&mut segment.over, true) {
            return;
        }
        // tcp_rate_skb_delivered
        if self.latest.is_none_or(|latest| (segment.sent, offset) > (latest.sent, latest.offset)) {
            let Segment { sent, delivered, delivered_at, limited, .. } = *segment;
            let sending_ns = sent - segment.first_sent;
            self.first_sent = sent;
            self.latest = Some(Latest { sent, offset, delivered, delivered_at, sending_ns, limited });
        }
    }

    /// The ACK is read: it delivered `packets`, and everything below `acked` is acknowledged. The rate, if it says one; an
    /// interval below the least round-trip time says none.
    pub fn sample(&mut self, now: Time, packets: u32, acked: u64, min_rtt_ns: i64) -> Option<Rate> {
        while self.segments.front().is_some_and(|segment| segment.offset < acked) {
            self.segments.pop_front();
        }
        self.delivered += u64::from(packets);
        if self.delivered > self.limited_until {
            self.limited_until = 0;
        }
        if packets > 0 {
            self.delivered_at = now;
        }
        let latest = self.latest.take()?;
        let interval_ns = latest.sending_ns.max(now - latest.delivered_at);
        let rate = Rate {
            packets: self.delivered - latest.delivered,
            interval_ns,
            since: latest.delivered,
            limited: latest.limited,
        };
        (interval_ns > 0 && interval_ns >= min_rtt_ns).then_some(rate)
    }

    /// Nothing is left to send, with `in_flight` out: what these deliver is not all that the path takes.
    pub fn limit(&mut self, in_flight: u32) {
        self.limited_until = (self.delivered + u64::from(in_flight)).max(1);
    }

    /// Whether that is so.
    pub fn is_limited(&self) -> bool {
        self.limited_until > 0
    }

    /// Segments delivered so far.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }
}
