//! Linux hands segments down in units of two at least, and waits for a window that has room for one (net/ipv4/tcp_output.c,
//! tcp_tso_should_defer, tcp_tso_autosize).

use super::state::Subflow;
use wire::Time;

/// A unit is of so many bytes as the rate brings in a 1024th of a second (sk_pacing_shift), or of two segments.
const UNITS_PER_SECOND: u64 = 1024;
const LEAST_SEGMENTS: u64 = 2;
/// On short paths it is longer by what is left of the longest, halved for each 512 µs of the round trip (tcp_tso_rtt_log).
const LONGEST_BYTES: u64 = 65_536;
const HALVING_NS: i64 = 512_000;
/// Nothing waits longer than that since something left, nor for an ACK that is farther (Linux 6.18).
const LONGEST_WAIT_NS: i64 = 1_000_000;
/// Nor where there is room for that part of the window (tcp_tso_win_divisor).
const PART_OF_WINDOW: u32 = 3;

/// What Linux hands down as one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unit {
    /// Segments that leave with the last one.
    more: u32,
    /// Whether the last one is one of several.
    is_of_several: bool,
    /// The next ones wait for more room.
    is_deferred: bool,
}

impl Unit {
    /// Whether the next segments wait for an ACK, or for more data.
    #[inline]
    pub(super) fn is_deferred(&self) -> bool {
        self.is_deferred
    }

    /// An ACK came, or more data.
    #[inline]
    pub(super) fn resume(&mut self) {
        self.is_deferred = false;
    }
}

impl Subflow {
    /// Whether the next segment waits for an ACK that makes room for more; otherwise it leaves, and a unit of others with it. The
    /// window of `cwnd_packets` has room.
    pub(super) fn defers(&mut self, now: Time, cwnd_packets: u32) -> bool {
        if self.unit.is_deferred {
            return true;
        }
        // One alone waits for no other.
        if self.unit.more == 0 && self.queue.len() > 1 {
            let room = cwnd_packets - self.in_flight_packets();
            let most = self.unit_packets();
            // What is beyond the room is not asked for.
            let together = self.queue.together(most.min(room + 1));
            self.unit.is_deferred = room < most && together > 1 && self.may_wait(now, room, together, cwnd_packets);
            if self.unit.is_deferred {
                // The window is what holds it back.
                self.usage.sent(true, self.flight.len(), self.acked, self.next);
                return true;
            }
            self.unit.more = together.min(room).min((cwnd_packets / 2).max(1));
            self.unit.is_of_several = self.unit.more > 1;
        }
        self.unit.more = self.unit.more.saturating_sub(1);
        false
    }

    /// Whether the segment that leaves is the last of several that Linux hands down as one, which ends with PSH
    /// (net/ipv4/tcp_output.c, __tcp_transmit_skb; since Linux 5.4).
    pub(super) fn ends_unit(&mut self) -> bool {
        let ends = self.unit.is_of_several && self.unit.more == 0;
        self.unit.is_of_several &= !ends;
        ends && self.settings.gso_push
    }

    /// Whether what left last ends its unit, and the send buffer may grow for it.
    pub fn may_grow_early(&self) -> bool {
        self.settings.send_buffer_grows_early && self.unit.more == 0
    }

    fn may_wait(&self, now: Time, room: u32, together: u32, cwnd_packets: u32) -> bool {
        // What comes after it does not grow any more.
        let whole = together <= room && together < self.queue.len();
        let oldest = self.flight.first().map_or(now, |record| record.last_sent);
        let Some(srtt_ns) = self.srtt_ns() else { return false };
        self.recovery.is_open()
            && !whole
            && now - self.last_sent <= LONGEST_WAIT_NS
            && PART_OF_WINDOW * room < cwnd_packets
            // The next ACK is not far.
            && oldest + srtt_ns - now <= (srtt_ns / 2).min(LONGEST_WAIT_NS)
    }

    /// Segments of a unit.
    pub(super) fn unit_packets(&self) -> u32 {
        let rate = self.pacing_bytes_per_second();
        let halvings = self.min_rtt_ns().map_or(0, |rtt_ns| rtt_ns / HALVING_NS);
        let more = if halvings < 32 { LONGEST_BYTES >> halvings } else { 0 };
        let bytes = (rate / UNITS_PER_SECOND).saturating_add(more).min(LONGEST_BYTES);
        (bytes / u64::from(self.mss_bytes())).max(LEAST_SEGMENTS) as u32
    }
}
