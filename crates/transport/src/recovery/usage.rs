//! Whether the window is what holds the sender back (RFC 7661's concern, Linux's `tcp_cwnd_validate`): a window that
//! was not filled does not grow, one that was not for long comes down to what is used, and one that was not used for long begins
//! anew.

use crate::congestion::Window;
use wire::Time;

/// The fullest that the flight was in the last round trip, and since the window was full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    limited: bool,
    /// Something was sent, and [`Usage::validate`] did not come since.
    sent: bool,
    greatest_flight: u32,
    round_end: u64,
    /// Most that was in flight since the window was full (snd_cwnd_used).
    used: u32,
    /// When it was full, or was set (snd_cwnd_stamp).
    since: Time,
}

impl Usage {
    /// A segment was sent: `full` when the window lets no other go, `flight` segments are not acknowledged, everything
    /// below `acked` is, and `next` is sent next.
    #[inline]
    pub fn sent(&mut self, full: bool, flight: u32, acked: u64, next: u64) {
        self.sent = true;
        if acked >= self.round_end || full || (!self.limited && flight > self.greatest_flight) {
            (self.limited, self.greatest_flight, self.round_end) = (full, flight, next);
        }
    }

    /// Whether something was sent since that was asked last.
    #[inline]
    pub fn take_sent(&mut self) -> bool {
        std::mem::take(&mut self.sent)
    }

    /// Whether the window may grow. Slow start may double what was used.
    #[inline]
    pub fn is_limited(&self, window: &Window) -> bool {
        let slow_start = window.cwnd_packets < window.ssthresh_packets;
        self.limited || (slow_start && window.cwnd_packets < 2.0 * f64::from(self.greatest_flight))
    }

    /// The window was set at `now`.
    pub fn set(&mut self, now: Time) {
        self.since = now;
    }

    /// All that may leave now has left, and `flight` segments are not acknowledged: says whether the window was not filled for
    /// `timeout_ns`. A writer that waits for memory keeps it from being filled, and is waited for (tcp_new_space).
    pub fn validate(&mut self, now: Time, flight: u32, timeout_ns: i64, waits: bool, window: &Window) -> bool {
        if self.is_limited(window) {
            (self.used, self.since) = (0, now);
            return false;
        }
        self.used = self.used.max(flight);
        let long = now - self.since >= timeout_ns;
        if long || waits {
            self.since = now;
        }
        long && !waits
    }

    /// A window that was not filled for long comes down to the mean of what it is and what was used of it, or of the `first` of a
    /// connection (RFC 2861 §3.1, tcp_cwnd_application_limited).
    pub fn come_down(&mut self, window: &mut Window, first_packets: u32) {
        let used = f64::from(std::mem::take(&mut self.used).max(first_packets));
        let cwnd = window.cwnd_packets.floor();
        if used < cwnd {
            window.ssthresh_packets = window.recent_packets();
            window.cwnd_packets = ((cwnd + used) / 2.0).floor();
        }
    }

    /// The window after `idle_ns` without sending: halved for each time-out that went by (RFC 2861 §3.1), down to the `first` of a
    /// connection (RFC 5681 §4.1). Slow start brings it back to where it was, nearly: tcp_cwnd_restart.
    pub fn restart(&mut self, now: Time, window: &mut Window, idle_ns: i64, timeout_ns: i64, first_packets: u32) {
        window.ssthresh_packets = window.recent_packets();
        let cwnd = window.cwnd_packets.floor();
        let least = f64::from(first_packets).min(cwnd);
        let (mut cwnd, mut left_ns) = (cwnd, idle_ns - timeout_ns);
        while left_ns > 0 && cwnd > least {
            cwnd = (cwnd / 2.0).floor();
            left_ns -= timeout_ns;
        }
        window.cwnd_packets = cwnd.max(least);
        (self.used, self.since) = (0, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_that_waits_for_memory_is_waited_for() {
        let window = Window {
            cwnd_packets: 40.0,
            ssthresh_packets: 20.0,
            srtt_ns: None,
            min_rtt_ns: None,
            mss_bytes: 1000,
            recovering: false,
            usable: true,
        };
        let mut usage = Usage::default();
        // The time-out is 100.
        let long = [(100, true), (199, false), (200, false)].map(|(now, waits)| {
            usage.sent(false, 30, 0, 1);
            usage.validate(Time::from_nanos(now), 30, 100, waits, &window)
        });
        assert_eq!(long, [false, false, true]);
        let mut window = window;
        usage.come_down(&mut window, 10);
        assert_eq!((window.cwnd_packets, window.ssthresh_packets), (35.0, 30.0));
    }
}
