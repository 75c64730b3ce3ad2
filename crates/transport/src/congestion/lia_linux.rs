//! LIA as in the out-of-tree kernel (`net/mptcp/mptcp_coupled.c`): in integers.
//!
//! It differs from [`Lia`](super::Lia) in three ways. α is a whole number of 4096ths of the window's inverse: from 2048 packets
//! per unit of α on it is too small by up to a half, and never below 1, which is too much above 4096. A packet is made of one
//! ACK more than that says, however many segments an ACK is for. And α is reckoned anew only when a window changes.

use super::linux::{Counter, count, of, packets, srtt};
use super::{Acked, Cause, Congestion, Window};
use std::cmp::Reverse;
use wire::Time;

pub(super) const SUMMARY: &str = "LIA as in the out-of-tree kernel: in integers, by counting ACKs";

/// alpha_scale, alpha_scale_num and alpha_scale_den of the kernel: bits behind the point.
const ALPHA_BITS: u32 = 12;
const NUMERATOR_BITS: u32 = 32;
const DENOMINATOR_BITS: u32 = 10;

/// Linked increases as in the out-of-tree kernel.
pub struct LiaLinux {
    alpha: u64,
    /// A loss since α was reckoned.
    is_stale: bool,
    counters: Vec<Counter>,
}

impl Default for LiaLinux {
    fn default() -> LiaLinux {
        LiaLinux { alpha: 1, is_stale: true, counters: Vec::new() }
    }
}

impl LiaLinux {
    /// mptcp_ccc_recalc_alpha
    fn reckon(&mut self, all: &[Window]) {
        self.is_stale = false;
        let subflows = || all.iter().filter_map(|window| Some((packets(window), srtt(window)?)));
        let quality = |&(cwnd, rtt): &(u64, u64)| (u128::from(cwnd) << NUMERATOR_BITS) / u128::from(rtt).pow(2);
        // Of equals the last of the kernel's list, as `>=` there has it. Subflows are inserted at its head (mptcp_ctrl.c,
        // mptcp_add_sock): the last is the oldest.
        let Some((best_cwnd, best_rtt)) = subflows().min_by_key(|each| Reverse(quality(each))) else { return };
        let scaled = |(cwnd, rtt)| ((u128::from(cwnd) << DENOMINATOR_BITS) * u128::from(best_rtt)) / u128::from(rtt);
        let total: u128 = subflows().map(scaled).sum();
        self.alpha = ((u128::from(best_cwnd) << NUMERATOR_BITS) / total.pow(2).max(1)).max(1) as u64;
    }
}

impl Congestion for LiaLinux {
    fn joined(&mut self, i: usize, _: Time) {
        *of(&mut self.counters, i) = Counter::default();
        self.is_stale = true;
    }

    fn acked(&mut self, i: usize, all: &mut [Window], acked: &Acked) {
        if !acked.cwnd_limited {
            return;
        }
        if all[i].cwnd_packets < all[i].ssthresh_packets {
            self.slow_start(i, all, acked);
            self.reckon(all);
            return;
        }
        if self.is_stale {
            self.reckon(all);
        }
        let cwnd = packets(&all[i]);
        let linked = if count(all) > 1 { (1 << ALPHA_BITS) / self.alpha } else { 0 };
        if of(&mut self.counters, i).is_full(linked.max(cwnd)) {
            all[i].cwnd_packets = (cwnd + 1) as f64;
            self.reckon(all);
        }
    }

    fn lost(&mut self, i: usize, all: &mut [Window], _: Time, _: Cause) {
        // tcp_reno_ssthresh
        all[i].ssthresh_packets = (packets(&all[i]) / 2).max(2) as f64;
        self.is_stale = true;
    }
}
