//! Spreading segments over the round trip.

use crate::congestion::Window;
use wire::Time;

/// Segments at the start of a connection that nothing holds back (tcp_update_skb_after_send).
const UNPACED: u32 = 10;
/// Bytes per second below which one segment at a time leaves, and above which two at least (bbr_min_tso_segs).
const LEAST_BURST_RATE: u64 = 150_000;

/// When the next segment may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pacing {
    /// Bytes per second, as of the last ACK: what a controller by rate paces at, else Linux's sk_pacing_rate.
    rate: u64,
    release: Time,
    /// Segments that left so far, up to those that nothing holds back.
    left: u32,
    burst: Burst,
}

/// What leaves at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Burst {
    at: Time,
    /// Segments that may follow.
    more: u32,
    /// How late it began, as far as that is not made up for.
    late_ns: i64,
}

impl Default for Pacing {
    /// Before anything was sent or acknowledged.
    fn default() -> Pacing {
        Pacing { rate: u64::MAX, release: Time::default(), left: 0, burst: Burst::default() }
    }
}

impl Pacing {
    /// Bytes per second, as of the last ACK.
    #[inline]
    pub fn rate(&self) -> u64 {
        self.rate
    }

    /// From now on.
    #[inline]
    pub fn set_rate(&mut self, bytes_per_second: u64) {
        self.rate = bytes_per_second;
    }

    /// The next segment may not leave before.
    pub fn release(&self) -> Time {
        self.release
    }

    /// Whether the next segment waits.
    #[inline]
    pub fn holds(&self, now: Time) -> bool {
        self.release > now && !(self.burst.at == now && self.burst.more > 0)
    }

    /// A segment of `bytes` left at `now`, for which `burst` may leave at once.
    pub fn sent(&mut self, now: Time, bytes: u32, bytes_per_second: u64, burst: u32) {
        if self.release <= now || self.burst.at != now || self.burst.more == 0 {
            let late_ns = (now - self.release).max(0);
            self.burst = Burst { at: now, more: burst, late_ns };
        }
        self.burst.more = self.burst.more.saturating_sub(1);
        self.release = self.release.max(now);
        self.left += u32::from(self.left < UNPACED);
        if self.left < UNPACED {
            return;
        }
        let gap_ns = (u64::from(bytes) * 1_000_000_000 / bytes_per_second.max(1)) as i64;
        // A host that was late makes up for it by half of what it sends.
        let credit_ns = self.burst.late_ns.min(gap_ns / 2);
        self.burst.late_ns -= credit_ns;
        self.release = self.release + (gap_ns - credit_ns);
    }
}

/// Segments that leave at once: a millisecond's worth (tcp_tso_autosize).
pub fn burst_packets(bytes_per_second: u64, mss_bytes: u32) -> u32 {
    let least = if bytes_per_second < LEAST_BURST_RATE { 1 } else { 2 };
    ((bytes_per_second / 1024).min(65_535) as u32 / mss_bytes.max(1)).max(least)
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
