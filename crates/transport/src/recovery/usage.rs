//! Whether the window is what holds the sender back (RFC 7661's concern, Linux's `tcp_cwnd_validate`): a window that
//! was not filled does not grow, and one that was not used for long begins anew.

use crate::congestion::Window;

/// The fullest that the flight was in the last round trip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    limited: bool,
    greatest_flight: u32,
    round_end: u64,
}

impl Usage {
    /// A segment was sent: `full` when the window lets no other go, `flight` segments are not acknowledged, everything
    /// below `acked` is, and `next` is sent next.
    #[inline]
    pub fn sent(&mut self, full: bool, flight: u32, acked: u64, next: u64) {
        if acked >= self.round_end || full || (!self.limited && flight > self.greatest_flight) {
            *self = Usage { limited: full, greatest_flight: flight, round_end: next };
        }
    }

    /// Whether the window may grow. Slow start may double what was used.
    #[inline]
    pub fn is_limited(&self, window: &Window) -> bool {
        let slow_start = window.cwnd_packets < window.ssthresh_packets;
        self.limited || (slow_start && window.cwnd_packets < 2.0 * f64::from(self.greatest_flight))
    }
}

/// The window after `idle_ns` without sending: halved for each time-out that went by (RFC 2861 §3.1), down to the `first` of a
/// connection (RFC 5681 §4.1). Slow start brings it back to where it was, nearly: tcp_cwnd_restart and tcp_current_ssthresh.
pub fn restart(window: &mut Window, idle_ns: i64, timeout_ns: i64, first_packets: f64) {
    let cwnd = window.cwnd_packets.floor();
    window.ssthresh_packets = window.ssthresh_packets.max((cwnd / 2.0).floor() + (cwnd / 4.0).floor());
    let least = first_packets.min(cwnd);
    let (mut cwnd, mut left_ns) = (cwnd, idle_ns - timeout_ns);
    while left_ns > 0 && cwnd > least {
        cwnd = (cwnd / 2.0).floor();
        left_ns -= timeout_ns;
    }
    window.cwnd_packets = cwnd.max(least);
}
