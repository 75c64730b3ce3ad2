//! Receiving: reassembly at connection level, and the window that is told to the peer.

use crate::recovery::ranges::Ranges;
use crate::subflow::first_window_bytes;
use wire::Time;

/// The receiving half of a connection.
#[derive(Debug)]
pub struct Receive {
    /// Everything below this place has arrived.
    next: u64,
    /// Everything below this place was read by the application.
    read: u64,
    /// What arrived beyond `next`.
    ahead: Ranges,
    /// Where the peer's data ends, once it said so.
    end: Option<u64>,
    /// The peer may send up to here; never goes back.
    edge: u64,
    /// It must not go further.
    bound: bool,
    buffer: Buffer,
}

/// The receive buffer and how it grows.
#[derive(Debug)]
struct Buffer {
    bytes: u64,
    most: u64,
    tuning: bool,
    /// Whether tuning has set it.
    tuned: bool,
    /// When the round that is watched began, and what had been read then.
    round: Option<(Time, u64)>,
    /// Bytes read in the last round.
    last: u64,
}

impl Receive {
    /// With a buffer of `bytes` that grows to `most` if `tuning`.
    pub fn new(bytes: u64, most: u64, tuning: bool) -> Receive {
        let buffer = Buffer { bytes, most: most.max(bytes), tuning, tuned: false, round: None, last: 0 };
        let edge = first_window_bytes(bytes, tuning);
        Receive { next: 0, read: 0, ahead: Ranges::default(), end: None, edge, bound: true, buffer }
    }

    /// What may come is for others to say.
    pub fn unbind(&mut self) {
        self.bound = false;
    }

    /// Bytes of data arrived for `place`. Says whether more is in order now.
    pub fn deliver(&mut self, place: u64, len: u64) -> bool {
        let data = place.max(self.next)..self.clip(place + len);
        if data.is_empty() {
            return false;
        }
        if data.start > self.next {
            if self.bound && data.start >= self.edge {
                return false; // beyond the window: no memory for it (RFC 8684 §3.3.5)
            }
            self.ahead.insert(data, |_| {});
            return false;
        }
        self.next = data.end;
        while let next = self.ahead.take_first(self.next)
            && next > self.next
        {
            self.next = next;
        }
        self.ahead.trim(self.next);
        true
    }

    /// `place`, or the end of the peer's data where that is before it.
    pub fn clip(&self, place: u64) -> u64 {
        self.end.map_or(place, |end| place.min(end))
    }

    /// The peer's data ends at `place` (DATA_FIN, or the FIN of plain TCP). Only the first word counts; what lies behind
    /// it is none.
    pub fn end_at(&mut self, place: u64) {
        if self.end.is_none() {
            self.end = Some(place);
            self.ahead.cut(place);
        }
    }

    /// Whether all that the peer sent has arrived, and its end.
    pub fn finished(&self) -> bool {
        self.end.is_some_and(|end| end <= self.next)
    }

    /// What a DATA_ACK says: the next place that is missing; the end takes one place of its own (RFC 8684 §3.3.3).
    pub fn acknowledged(&self) -> u64 {
        self.next + u64::from(self.finished())
    }

    /// The next place of data that is missing.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Everything below this place was read.
    pub fn read_to(&self) -> u64 {
        self.read
    }

    /// Bytes that can be read.
    pub fn readable(&self) -> u64 {
        self.next - self.read
    }

    /// Bytes that wait for others before them.
    pub fn out_of_order(&self) -> u64 {
        self.ahead.bytes()
    }

    /// The window that a subflow begins with.
    pub fn first_window(&self) -> u64 {
        first_window_bytes(self.buffer.bytes, self.buffer.tuning)
    }

    /// Whether the buffer grows.
    pub fn tunes(&self) -> bool {
        self.buffer.tuning
    }

    /// Bytes of the buffer.
    pub fn buffer(&self) -> u64 {
        self.buffer.bytes
    }

    /// How far Linux's window grows: to about half of the buffer at first, as the rest is for what packets occupy besides
    /// data (include/net/tcp.h, TCP_DEFAULT_SCALING_RATIO); what tuning makes of it is data alone.
    pub fn window_goal(&self) -> u64 {
        if self.buffer.tuned { self.buffer.bytes } else { self.buffer.bytes / 2 }
    }

    /// Reads up to `bytes`; says how many.
    pub fn read(&mut self, now: Time, bytes: u64, rtt_ns: Option<i64>, mss_bytes: u64) -> u64 {
        let bytes = bytes.min(self.readable());
        self.read += bytes;
        if let Some(rtt_ns) = rtt_ns {
            self.buffer.tune(now, self.read, rtt_ns, mss_bytes);
        }
        bytes
    }

    /// The window to tell: how far the peer may go beyond what is acknowledged. It opens in steps of half the buffer or
    /// a segment, whichever is less, to keep segments from becoming small (RFC 9293 §3.8.6.2.2). It is no wider than
    /// `grown_bytes`, what the subflow allows that tells it; the edge is that of the subflow that is ahead
    /// (net/mptcp/options.c, mptcp_set_rwin).
    pub fn window(&mut self, mss_bytes: u64, grown_bytes: u64) -> u64 {
        if self.opened(mss_bytes, grown_bytes) > 0 {
            self.edge = self.allowed(grown_bytes);
        }
        self.edge.saturating_sub(self.next)
    }

    /// How far the peer may go.
    fn allowed(&self, grown_bytes: u64) -> u64 {
        (self.read + self.buffer.bytes).min(self.next.saturating_add(grown_bytes))
    }

    /// By how much the window would open if told now; 0 where that would be too little to tell.
    pub fn opened(&self, mss_bytes: u64, grown_bytes: u64) -> u64 {
        let by = self.allowed(grown_bytes).saturating_sub(self.edge);
        if by >= mss_bytes.min(self.buffer.bytes / 2).max(1) { by } else { 0 }
    }

    /// Whether a reader should tell the peer at once: the window was less than half of what it is now.
    pub fn worth_telling(&self, mss_bytes: u64, grown_bytes: u64) -> bool {
        let told = self.edge.saturating_sub(self.next);
        let opened = self.opened(mss_bytes, grown_bytes);
        opened > 0 && told < self.buffer.bytes / 2 && told <= opened
    }
}

impl Buffer {
    /// Dynamic right-sizing as Linux does it: what was read in a round trip, twice, and 16 segments more; while the
    /// rate grows, twice its growth on top (net/ipv4/tcp_input.c, tcp_rcv_space_adjust; net/mptcp/protocol.c,
    /// mptcp_rcv_space_adjust).
    fn tune(&mut self, now: Time, read: u64, rtt_ns: i64, mss_bytes: u64) {
        let (began, read_then) = *self.round.get_or_insert((now, read));
        if !self.tuning || now - began < rtt_ns {
            return;
        }
        let copied = read - read_then;
        if copied > self.last {
            let mut bytes = 2 * copied + 16 * mss_bytes;
            if self.last > 0 {
                let growth = u128::from(bytes) * u128::from(copied - self.last) / u128::from(self.last);
                bytes = bytes.saturating_add((2 * growth).min(u128::from(self.most)) as u64);
            }
            let bytes = bytes.min(self.most);
            if bytes >= self.bytes {
                (self.bytes, self.tuned) = (bytes, true);
            }
            self.last = copied;
        }
        self.round = Some((now, read));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_byte_arrives_once_and_in_order(pieces in prop::collection::vec((0u64..200, 1u64..40), 1..60)) {
            let mut receive = Receive::new(1 << 20, 1 << 20, false);
            let mut model = std::collections::BTreeSet::new();
            for (place, len) in pieces {
                let before = receive.next();
                let grew = receive.deliver(place, len);
                model.extend(place..place + len);
                let next = (0..).find(|place| !model.contains(place)).unwrap();
                prop_assert_eq!(receive.next(), next);
                prop_assert_eq!(grew, next > before);
                prop_assert_eq!(receive.out_of_order(), model.iter().filter(|&&place| place >= next).count() as u64);
            }
        }
    }

    #[test]
    fn window_never_goes_back_and_opens_in_steps() {
        let mut receive = Receive::new(10_000, 10_000, false);
        assert_eq!(receive.window(1000, u64::MAX), 10_000);
        receive.deliver(0, 9_500);
        assert_eq!(receive.window(1000, u64::MAX), 500);
        receive.read(Time::from_nanos(0), 999, None, 1000);
        assert_eq!(receive.window(1000, u64::MAX), 500, "less than a segment is not told");
        receive.read(Time::from_nanos(0), 1, None, 1000);
        assert_eq!(receive.window(1000, u64::MAX), 1500);
        receive.read(Time::from_nanos(0), u64::MAX, None, 1000);
        assert!(receive.worth_telling(1000, u64::MAX));
        assert_eq!(receive.window(1000, u64::MAX), 10_000);
    }

    #[test]
    fn a_tuned_window_grows_with_what_comes() {
        let mut receive = Receive::new(131_072, 6_000_000, true);
        assert_eq!(receive.window(1000, 65_535), 65_535);
        receive.deliver(0, 1000);
        assert_eq!(receive.window(1000, 67_535), 67_535);
        assert_eq!(receive.window(1000, 65_535), 67_535, "another subflow, whose window has grown less");
        assert_eq!(receive.window(1000, 1 << 20), 130_072, "no further than the buffer");
    }

    #[test]
    fn the_end_takes_a_place() {
        let mut receive = Receive::new(10_000, 10_000, false);
        receive.end_at(100);
        receive.deliver(0, 50);
        assert_eq!((receive.acknowledged(), receive.finished()), (50, false));
        receive.deliver(50, 50);
        assert_eq!((receive.acknowledged(), receive.finished()), (101, true));
    }

    #[test]
    fn behind_the_end_is_nothing() {
        let mut receive = Receive::new(10_000, 10_000, false);
        receive.deliver(50, 100);
        receive.deliver(200, 100);
        receive.end_at(120);
        receive.deliver(110, 100);
        assert_eq!(receive.out_of_order(), 70);
        receive.deliver(0, 50);
        assert_eq!((receive.next(), receive.out_of_order(), receive.finished()), (120, 0, true));
        receive.deliver(120, 10);
        assert_eq!(receive.readable(), 120);
    }

    #[test]
    fn buffer_grows_with_what_a_round_trip_brings() {
        let (rtt, mss) = (50_000_000, 1000);
        let mut receive = Receive::new(64_000, 6_000_000, true);
        let mut now = Time::from_nanos(0);
        // 100 kB a round, doubling: twice that and 16 segments, and on growth twice the growth.
        for (round, expected) in [(0, 64_000), (100_000, 216_000), (200_000, 416_000 + 2 * 416_000)] {
            receive.deliver(receive.next(), round);
            receive.read(now, u64::MAX, Some(rtt), mss);
            assert_eq!(receive.buffer(), expected);
            now = now + rtt;
        }
    }
}
