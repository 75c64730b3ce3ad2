//! How long an ACK waits: Linux's ATO, which follows the time between the peer's segments (net/ipv4/tcp_input.c,
//! tcp_event_data_recv; net/ipv4/tcp_output.c, tcp_send_delayed_ack).

use crate::recovery::wheel::Ticks;
use wire::Time;

/// tcp_delack_max: a tick less than what retransmission time-outs last at least.
const MOST_NS: i64 = 196_000_000;

/// A subflow's delayed ACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckTimeout {
    /// TCP_ATO_MIN and TCP_DELACK_MIN.
    least_ns: i64,
    /// icsk_ack.ato; 0 before data came.
    ato_ns: i64,
    /// When the ACK that waits is to leave, and when it does; [`Time::MAX`]: none waits.
    asked: Time,
    ends: Time,
    /// When data came last: icsk_ack.lrcvtime.
    last_data: Time,
    /// Data of this end follows that of the peer so soon that it carries the ACKs (inet_csk_in_pingpong_mode).
    pub(super) answers: bool,
}

impl AckTimeout {
    pub(super) fn new(least_ns: i64) -> AckTimeout {
        AckTimeout {
            least_ns,
            ato_ns: 0,
            asked: Time::MAX,
            ends: Time::MAX,
            last_data: Time::default(),
            answers: false,
        }
    }

    /// Data came in order, and `rto_ns` is this end's retransmission time-out. Says whether it is the first, or the peer paused so
    /// long that it begins anew.
    pub(super) fn heard(&mut self, now: Time, ticks: Ticks, rto_ns: i64) -> bool {
        let between_ns = ticks.between(std::mem::replace(&mut self.last_data, now), now);
        if self.ato_ns == 0 {
            self.ato_ns = self.least_ns;
            return true;
        }
        let half_ns = self.least_ns / 2;
        if between_ns <= half_ns {
            self.ato_ns = ticks.whole_ns(self.ato_ns / 2) + half_ns;
        } else if between_ns < self.ato_ns {
            self.ato_ns = (ticks.whole_ns(self.ato_ns / 2) + between_ns).min(rto_ns);
        } else {
            return between_ns > rto_ns;
        }
        false
    }

    /// Data leaves (tcp_event_data_sent).
    #[inline]
    pub(super) fn sent_data(&mut self, now: Time, ticks: Ticks) {
        // It is 0 where nothing came.
        self.answers |= self.ato_ns > 0 && ticks.between(self.last_data, now) < self.ato_ns;
    }

    /// An ACK waits from now on: until when, unless one that waits already is about to leave.
    pub(super) fn wait(&mut self, now: Time, ticks: Ticks, srtt_ns: Option<i64>) -> Option<Time> {
        let most_ns = srtt_ns.map_or(MOST_NS, |srtt_ns| srtt_ns.max(self.least_ns).min(MOST_NS));
        let wait_ns = self.ato_ns.min(most_ns);
        let (ends, asked) = ticks.ends(now, wait_ns);
        if self.ends == Time::MAX || asked < self.asked {
            (self.ends, self.asked) = (ends, asked);
        } else if self.asked <= ticks.ends(now, ticks.whole_ns(wait_ns / 4)).1 {
            return None;
        }
        Some(self.ends)
    }

    /// An ACK leaves.
    #[inline]
    pub(super) fn stop(&mut self) {
        self.ends = Time::MAX;
    }

    /// No more ACKs leave at once, or some do from now on.
    pub(super) fn deflate(&mut self) {
        self.ato_ns = self.least_ns;
    }

    /// A timer ended: if it was that of the delayed ACK, nothing came that would have carried it, or called for it
    /// (tcp_delack_timer_handler).
    pub(super) fn ended(&mut self, now: Time, rto_ns: i64) {
        if self.ends > now {
            return;
        }
        self.stop();
        if std::mem::take(&mut self.answers) {
            self.deflate();
        } else {
            self.ato_ns = (2 * self.ato_ns).min(rto_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;
    const RTO_NS: i64 = 300 * MS;

    fn at(ms: i64) -> Time {
        Time::from_nanos(ms * MS)
    }

    /// How long ACKs wait for data that comes every `between_ms`, with exact timers.
    fn waits_ms(between_ms: i64, times: i64) -> i64 {
        let (mut timeout, ticks) = (AckTimeout::new(40 * MS), Ticks::new(0, false));
        for n in 0..times {
            timeout.heard(at(n * between_ms), ticks, RTO_NS);
        }
        let last = at((times - 1) * between_ms);
        (timeout.wait(last, ticks, None).unwrap() - last) / MS
    }

    // Half of the last one and what lies between two, where that is more than 20 ms and less than the last one: twice that in the end.
    #[test]
    fn it_follows_the_time_between_segments() {
        assert_eq!(waits_ms(1, 20), 40);
        assert_eq!(waits_ms(30, 2), 50);
        assert_eq!(waits_ms(30, 20), 59);
        assert_eq!(waits_ms(200, 20), 40);
    }

    #[test]
    fn no_longer_than_a_round_trip_and_a_tick_less_than_a_time_out() {
        let ticks = Ticks::new(0, false);
        for (srtt_ms, wait_ms) in [(10, 40), (90, 90), (400, 196)] {
            let mut timeout = AckTimeout { ato_ns: RTO_NS, ..AckTimeout::new(40 * MS) };
            assert_eq!(timeout.wait(at(0), ticks, Some(srtt_ms * MS)), Some(at(wait_ms)));
        }
    }

    // One that has less than a quarter of a wait left leaves at once, and another does not begin later.
    #[test]
    fn one_that_waits_already_goes_first() {
        let (mut timeout, ticks) = (AckTimeout::new(40 * MS), Ticks::new(0, false));
        timeout.heard(at(0), ticks, RTO_NS);
        assert_eq!(timeout.wait(at(0), ticks, None), Some(at(40)));
        assert_eq!(timeout.wait(at(29), ticks, None), Some(at(40)));
        assert_eq!(timeout.wait(at(30), ticks, None), None);
    }

    #[test]
    fn in_vain_it_doubles_unless_data_carried_acks() {
        let (mut timeout, ticks) = (AckTimeout::new(40 * MS), Ticks::new(0, false));
        timeout.heard(at(0), ticks, RTO_NS);
        for (wait_ms, answers) in [(40, false), (80, false), (160, true), (40, false)] {
            timeout.answers = answers;
            assert_eq!(timeout.wait(at(0), ticks, None), Some(at(wait_ms)));
            timeout.ended(at(wait_ms - 1), RTO_NS);
            timeout.ended(at(wait_ms), RTO_NS);
        }
    }

    // Linux 6.18, with ticks of 4 ms: asked for 40, it waits for 40 to 44.
    #[test]
    fn it_ends_at_ticks() {
        for (booted_ms, end_ms) in [(0, 44), (1, 43), (3, 41)] {
            let (mut timeout, ticks) = (AckTimeout::new(40 * MS), Ticks::new(booted_ms * MS, true));
            timeout.heard(at(0), ticks, RTO_NS);
            assert_eq!(timeout.wait(at(0), ticks, None), Some(at(end_ms)));
        }
    }

    #[test]
    fn data_that_follows_soon_carries_acks() {
        let (mut timeout, ticks) = (AckTimeout::new(40 * MS), Ticks::new(0, false));
        timeout.sent_data(at(0), ticks);
        assert!(!timeout.answers, "nothing came yet");
        timeout.heard(at(10), ticks, RTO_NS);
        timeout.sent_data(at(50), ticks);
        assert!(!timeout.answers);
        timeout.sent_data(at(49), ticks);
        assert!(timeout.answers);
    }
}
