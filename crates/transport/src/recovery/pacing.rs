//! Spreading segments over the round trip.

use crate::congestion::Window;
use wire::Time;

/// When the next segment may leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pacing {
    release: Time,
}

impl Pacing {
    /// The next segment may not leave before.
    pub fn release(&self) -> Time {
        self.release
    }

    /// A segment of `bytes` left at `now`. What was not used of the rate is not made up for.
    pub fn sent(&mut self, now: Time, bytes: u32, bytes_per_second: u64) {
        let gap = u64::from(bytes) * 1_000_000_000 / bytes_per_second.max(1);
        self.release = self.release.max(now) + gap as i64;
    }
}

/// Rate for a window, with `in_flight` packets out: it over the round-trip time, twice that in slow start, 1.2 times
/// after, so that pacing does not hold the window back (Linux's `tcp_update_pacing_rate`). The greatest when no round
/// trip is known.
pub fn bytes_per_second(window: &Window, in_flight: u32) -> u64 {
    let Some(srtt_ns) = window.srtt_ns.filter(|&srtt| srtt > 0) else { return u64::MAX };
    let gain_percent = if window.cwnd_packets < window.ssthresh_packets / 2.0 { 200 } else { 120 };
    let packets = (window.cwnd_packets as u64).max(u64::from(in_flight)).max(1);
    let bytes = packets * u64::from(window.mss_bytes) * gain_percent;
    bytes.saturating_mul(10_000_000) / srtt_ns as u64
}
