//! The send buffer, which grows with the congestion window as Linux's does.

use super::output::BUFFER_BYTES;
use super::state::{Subflow, whole};
use crate::congestion::Window;

/// TCP_INIT_CWND
const FIRST_PACKETS: u32 = 10;
/// MAX_TCP_HEADER and skb_shared_info beside a segment's data, and the sk_buff: together 2304 bytes for one of 1448, as
/// `ss -m` shows where MAX_TCP_HEADER is 256 (4352 where it is more).
const BESIDE_BYTES: u64 = 576;
const SK_BUFF_BYTES: u64 = 256;
/// What a packet occupies besides its data, which lies in pages of its own. SO_MEMINFO shows 832 bytes for each of 50 that
/// hold one byte.
const PACKET_BYTES: u64 = BESIDE_BYTES + SK_BUFF_BYTES;

impl Subflow {
    /// Room for two windows (net/ipv4/tcp_input.c, tcp_sndbuf_expand), with BBR three (bbr_sndbuf_expand): at first, and where a
    /// writer waits although the window is not full (tcp_should_expand_sndbuf). It never shrinks.
    pub fn expand_send_buffer(&mut self, window: &Window) {
        if !self.settings.send_buffer_tuning {
            return;
        }
        let packets = whole(window.cwnd_packets);
        if self.send_buffer_bytes > 0 && self.in_flight_packets() >= packets {
            return;
        }
        let segment_bytes = (u64::from(self.mss_bytes()) + BESIDE_BYTES).next_power_of_two() + SK_BUFF_BYTES;
        let windows = if self.delivery.is_some() { 3 } else { 2 };
        let bytes = windows * u64::from(packets.max(FIRST_PACKETS)) * segment_bytes;
        self.send_buffer_bytes = self.send_buffer_bytes.max(bytes.min(self.settings.send_buffer_bytes));
    }

    /// Memory that it may hold for what is sent.
    pub fn send_buffer_bytes(&self) -> u64 {
        self.send_buffer_bytes
    }

    /// What packets occupy besides the data that was sent, where it counts: each unit that left at once is one.
    pub fn send_overhead_bytes(&self) -> u64 {
        if !self.settings.send_buffer_tuning || self.flight.is_empty() {
            return 0;
        }
        u64::from(self.flight.len().div_ceil(self.unit_packets())) * PACKET_BYTES
    }

    /// Bytes that a writer of plain TCP may add where memory has `room` for so many and `unsent` wait, of which the peer's window
    /// lets `open` go, with more (net/ipv4/tcp.c, tcp_sendmsg_locked). It fills packets of many segments, and memory is asked for only where one begins. While all that waits
    /// is in one, what the window lets go leaves as it is written, and as much is written in its place: nothing is asked until
    /// more than half the peer's widest window was written, when all leaves that may (forced_push).
    pub fn room_to_write(&self, window: &Window, room: u64, unsent: u64, open: u64, half_window: u64) -> u64 {
        if !self.settings.send_buffer_tuning {
            return room;
        }
        let mss_bytes = u64::from(self.mss_bytes());
        let (unit, packet) = (u64::from(self.unit_packets()), u64::from(BUFFER_BYTES).min(half_window) / mss_bytes);
        let (unit_bytes, packet_bytes) = (unit * mss_bytes, packet.max(1) * mss_bytes);
        let occupied = |bytes: u64| bytes + bytes.div_ceil(unit_bytes) * PACKET_BYTES;
        let free = whole(window.cwnd_packets).saturating_sub(self.in_flight_packets());
        let leaves = if self.paces() { 0 } else { (u64::from(free) * mss_bytes).min(open) };
        let (passes, waits) = (leaves.saturating_sub(unsent), unsent.saturating_sub(leaves));
        let pushed_bytes = (half_window + unit_bytes) / mss_bytes * mss_bytes;
        let pushed = room.div_ceil(occupied(pushed_bytes)) * pushed_bytes;
        if passes > pushed {
            return pushed;
        }
        let begun = waits.next_multiple_of(packet_bytes) - waits;
        let left = room.saturating_sub(occupied(passes) + begun);
        let more = left.div_ceil(packet_bytes + PACKET_BYTES).max(u64::from(waits == 0));
        passes + begun + more * packet_bytes
    }
}
