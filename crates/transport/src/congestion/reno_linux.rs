//! Reno as in Linux (net/ipv4/tcp_cong.c): in whole packets.
//!
//! It differs from [`Reno`](super::Reno) by what is left of a packet: a window of n grows when n segments are acknowledged, not
//! when 1/n for each of them adds up to one, and of its half the fraction is dropped. With windows of a few packets that
//! decides whether one packet is lost at a time or two.

use super::linux::{Additive, of, packets};
use super::{Acked, Cause, Congestion, Window};
use wire::Time;

pub(super) const SUMMARY: &str = "as in Linux: Reno in whole packets; each subflow like a TCP connection";

/// Reno as in Linux on every subflow, uncoupled.
#[derive(Default)]
pub struct RenoLinux {
    additive: Vec<Additive>,
}

impl Congestion for RenoLinux {
    fn joined(&mut self, i: usize, _: Time) {
        *of(&mut self.additive, i) = Additive::default();
    }

    fn acked(&mut self, i: usize, all: &mut [Window], acked: &Acked) {
        if !acked.cwnd_limited {
            return;
        }
        let left = u64::from(self.slow_start(i, all, acked));
        if left > 0 {
            let cwnd = packets(&all[i]);
            all[i].cwnd_packets = of(&mut self.additive, i).grow(cwnd, cwnd, left) as f64;
        }
    }

    fn lost(&mut self, i: usize, all: &mut [Window], _: Time, _: Cause) {
        // tcp_reno_ssthresh
        all[i].ssthresh_packets = (packets(&all[i]) / 2).max(2) as f64;
        *of(&mut self.additive, i) = Additive::default();
    }

    fn is_reno_alone(&self) -> bool {
        false
    }
}
