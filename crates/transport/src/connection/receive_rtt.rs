//! The round-trip time of one who only receives: Linux's rcv_rtt_est.

use wire::Time;

/// What data that comes in shows of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReceiveRtt {
    ns: Option<i64>,
    /// The clock of ours that data echoed last.
    echoed: Option<u32>,
    /// When the window that is watched was announced, and its end.
    window: Option<(Time, u64)>,
}

impl ReceiveRtt {
    /// The estimate.
    pub fn ns(&self) -> Option<i64> {
        self.ns
    }

    /// Data echoes a clock of ours. Says whether it is another than before: each counts once.
    pub fn is_new(&mut self, echo: Option<u32>) -> bool {
        std::mem::replace(&mut self.echoed, echo) != echo
    }

    /// A full segment came `rtt_ns` after its clock was shown: a shorter time counts at once, longer ones are smoothed
    /// (net/ipv4/tcp_input.c, tcp_rcv_rtt_measure_ts, tcp_rcv_rtt_update).
    pub fn echoed(&mut self, rtt_ns: i64) {
        let known = self.ns.unwrap_or(rtt_ns);
        self.ns = Some(rtt_ns.min(known + (rtt_ns - known) / 8));
    }

    /// Data came in order up to `next`, where a window of `window_bytes` was announced: once as much came, no more than
    /// that time is a round trip (tcp_rcv_rtt_measure).
    pub fn came(&mut self, now: Time, next: u64, window_bytes: u64) {
        if let Some((announced_at, end)) = self.window {
            if next < end {
                return;
            }
            let most_ns = now - announced_at;
            self.ns = Some(self.ns.map_or(most_ns, |ns| ns.min(most_ns)));
        }
        self.window = Some((now, next + window_bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    #[test]
    fn shorter_times_count_at_once_and_longer_ones_are_smoothed() {
        let mut rtt = ReceiveRtt::default();
        for (sample_ms, expected_ms) in [(80, 80), (40, 40), (80, 45), (20, 20)] {
            rtt.echoed(sample_ms * MS);
            assert_eq!(rtt.ns(), Some(expected_ms * MS));
        }
        assert!(rtt.is_new(Some(7)) && !rtt.is_new(Some(7)) && rtt.is_new(Some(8)));
    }

    #[test]
    fn a_window_of_data_takes_a_round_trip_at_least() {
        let (mut rtt, at) = (ReceiveRtt::default(), |ms: i64| Time::from_nanos(ms * MS));
        for (ms, next, expected_ms) in [
            (10, 1_000, None),
            (50, 10_999, None),
            (60, 11_000, Some(50)),
            (200, 21_000, Some(50)),
            (230, 31_000, Some(30)),
        ] {
            rtt.came(at(ms), next, 10_000);
            assert_eq!(rtt.ns(), expected_ms.map(|ms: i64| ms * MS));
        }
    }
}
