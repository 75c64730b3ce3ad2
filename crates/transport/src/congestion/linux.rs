//! What controllers as in Linux do alike: integers, and growth by counting. The coupled ones are those of the out-of-tree
//! kernel (multipath-tcp.org, v0.9x).

use super::Window;

/// Whole packets, as the kernel has them.
pub fn packets(window: &Window) -> u64 {
    window.cwnd_packets as u64
}

/// srtt_us: the smoothed round-trip time in eighths of a microsecond; none where it is not known or the subflow cannot send.
pub fn srtt(window: &Window) -> Option<u64> {
    let srtt_ns = window.srtt_ns.filter(|_| window.usable)?;
    Some((srtt_ns as u64 / 125).max(1))
}

/// Subflows that count for each other.
pub fn count(all: &[Window]) -> usize {
    all.iter().filter(|window| window.usable).count()
}

/// snd_cwnd_cnt: ACKs that have not made a packet yet, per subflow.
#[derive(Default)]
pub struct Counter(u64);

impl Counter {
    /// Whether an ACK makes a packet. The threshold is looked at before the ACK is counted, so that it takes one ACK more.
    pub fn is_full(&mut self, threshold: u64) -> bool {
        let is_full = self.0 >= threshold;
        self.0 = if is_full { 0 } else { self.0 + 1 };
        is_full
    }
}

/// snd_cwnd_cnt of tcp_cong_avoid_ai (net/ipv4/tcp_cong.c): acknowledged segments that have not made a packet yet.
/// A loss forgets them (tcp_init_cwnd_reduction, tcp_enter_loss).
#[derive(Clone, Copy, Default)]
pub struct Additive(u64);

impl Additive {
    /// The window after `acked` segments more, of which `per_packet` make a packet. Those counted towards more are let go.
    pub fn grow(&mut self, cwnd: u64, per_packet: u64, acked: u64) -> u64 {
        let mut grown = cwnd;
        if self.0 >= per_packet {
            self.0 = 0;
            grown += 1;
        }
        self.0 += acked;
        grown += self.0 / per_packet;
        self.0 %= per_packet;
        grown
    }
}

/// What is remembered of subflow `i`.
pub fn of<T: Default>(subflows: &mut Vec<T>, i: usize) -> &mut T {
    if subflows.len() <= i {
        subflows.resize_with(i + 1, T::default);
    }
    &mut subflows[i]
}
