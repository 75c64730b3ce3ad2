//! OLIA as in the out-of-tree kernel (`net/mptcp/mptcp_olia.c`): in integers.
//!
//! It differs from [`Olia`](super::Olia) in this: each ACK adds a whole number of 1024ths of a packet, however many segments it
//! is for, and what is above a packet when one is made is dropped. A window that α takes below where slow start ends is
//! brought back by it.

use super::linux::{count, of, packets, srtt};
use super::olia::Runs;
use super::{Acked, Cause, Congestion, Window};
use wire::Time;

pub(super) const SUMMARY: &str = "OLIA as in the out-of-tree kernel: in integers, by counting ACKs";

/// `scale` of the kernel: bits behind the point.
const BITS: u32 = 10;
const PACKET: i128 = (1 << BITS) - 1;

/// Opportunistic linked increases as in the out-of-tree kernel.
#[derive(Default)]
pub struct OliaLinux {
    subflows: Vec<Subflow>,
}

#[derive(Clone, Default)]
struct Subflow {
    runs: Runs,
    /// Of a packet, in 1024ths.
    part: i128,
}

impl OliaLinux {
    /// mptcp_get_epsilon, as numerator and denominator.
    fn epsilon(&self, i: usize, all: &[Window]) -> (i128, i128) {
        let paths = || (0..all.len()).filter(|&j| srtt(&all[j]).is_some());
        let bytes = |j: usize| u128::from(self.subflows.get(j).map_or(0, |subflow| subflow.runs.longest()));
        let square = |j: usize| srtt(&all[j]).map_or(1, |rtt| u128::from(rtt).pow(2));
        let largest = paths().map(|j| settled(&all[j])).max().unwrap_or(0);
        let is_largest = |j: usize| settled(&all[j]) == largest;
        let is_best = |j: usize| !paths().any(|k| bytes(k) * square(j) > bytes(j) * square(k));
        let collected = paths().filter(|&j| is_best(j) && !is_largest(j)).count();
        let established = count(all) as i128;
        if collected == 0 {
            (0, 1)
        } else if is_largest(i) {
            (-1, established * paths().filter(|&j| is_largest(j)).count() as i128)
        } else if is_best(i) {
            (1, established * collected as i128)
        } else {
            (0, 1)
        }
    }

    /// What an ACK adds in 1024ths of a packet; the kernel's 64 bits are too few for it above some 2¹⁶ packets.
    fn increase(&self, i: usize, all: &[Window]) -> i128 {
        let Some(own) = srtt(&all[i]) else { return 0 };
        let cwnd = i128::from(packets(&all[i]));
        let share =
            |window: &Window| Some((i128::from(settled(window)) << BITS) * i128::from(own) / i128::from(srtt(window)?));
        // mptcp_get_rate begins with 1.
        let rate = (1 + all.iter().filter_map(share).sum::<i128>()).pow(2);
        let (numerator, denominator) = self.epsilon(i, all);
        let scaled = (cwnd << BITS).pow(2);
        // Division is of the amount, so that it rounds towards 0.
        ((numerator * rate + denominator * scaled) << BITS) / (denominator * cwnd * rate).max(1)
    }
}

impl Congestion for OliaLinux {
    fn joined(&mut self, i: usize, _: Time) {
        *of(&mut self.subflows, i) = Subflow::default();
    }

    fn acked(&mut self, i: usize, all: &mut [Window], acked: &Acked) {
        of(&mut self.subflows, i).runs.acked(acked.bytes);
        if !acked.cwnd_limited {
            return;
        }
        if all[i].cwnd_packets < all[i].ssthresh_packets {
            self.slow_start(i, all, acked);
            return;
        }
        let increase = self.increase(i, all);
        let part = &mut self.subflows[i].part;
        *part += increase;
        let cwnd = packets(&all[i]);
        if *part >= PACKET {
            (*part, all[i].cwnd_packets) = (0, (cwnd + 1) as f64);
        } else if *part <= -PACKET {
            (*part, all[i].cwnd_packets) = (0, cwnd.saturating_sub(1).max(1) as f64);
        }
    }

    fn lost(&mut self, i: usize, all: &mut [Window], _: Time, _: Cause) {
        // tcp_reno_ssthresh
        all[i].ssthresh_packets = (packets(&all[i]) / 2).max(2) as f64;
        of(&mut self.subflows, i).runs.lost();
    }
}

/// mptcp_get_crt_cwnd: in recovery what the window will end with.
fn settled(window: &Window) -> u64 {
    if window.recovering { window.ssthresh_packets as u64 } else { packets(window) }
}
