//! The send buffer, which grows with the congestion window as Linux's does.

use super::state::{Subflow, whole};
use crate::congestion::Window;
use crate::scheduler::SENT_BYTES;

/// TCP_INIT_CWND
const FIRST_PACKETS: u32 = 10;
/// MAX_TCP_HEADER and skb_shared_info beside a segment's data, and the sk_buff: together 2304 bytes for one of 1448, as
/// `ss -m` shows where MAX_TCP_HEADER is 256 (4352 where it is more).
const BESIDE_BYTES: u64 = 576;
const SK_BUFF_BYTES: u64 = 256;

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

    /// What packets occupy besides the data that was sent, where it counts.
    pub fn send_overhead_bytes(&self) -> u64 {
        if self.settings.send_buffer_tuning { u64::from(self.flight.len()) * SENT_BYTES } else { 0 }
    }
}
