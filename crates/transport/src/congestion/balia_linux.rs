//! BALIA as in the out-of-tree kernel (`net/mptcp/mptcp_balia.c`): in integers.
//!
//! It differs from [`Balia`](super::Balia) in three ways. α of a loss is a whole number, so that between 1 and 2 it is 1: half of the
//! window goes where the draft takes up to three quarters. What a loss takes is what it would have taken when the window
//! last changed. And a packet is made of one ACK more than the formula says, however many segments an ACK is for.

use super::linux::{Counter, count, of, packets, srtt};
use super::{Acked, Cause, Congestion, Window};
use wire::Time;

pub(super) const SUMMARY: &str = "BALIA as in the out-of-tree kernel: in integers, by counting ACKs";

/// rate_scale_limit and scale_num of the kernel: greater rates lose so many bits at a time.
const RATE_BITS: u32 = 25;
const STEP_BITS: u32 = 5;

/// Balanced linked adaptation as in the out-of-tree kernel.
#[derive(Default)]
pub struct BaliaLinux {
    subflows: Vec<Subflow>,
}

#[derive(Default)]
struct Subflow {
    counter: Counter,
    reckoned: Option<Reckoned>,
}

/// As of the last change of the window.
#[derive(Clone, Copy)]
struct Reckoned {
    /// ACKs that make a packet (`ai`).
    acks: u64,
    /// Packets that a loss takes (`md`).
    decrease: u64,
}

impl Congestion for BaliaLinux {
    fn joined(&mut self, i: usize, _: Time) {
        *of(&mut self.subflows, i) = Subflow::default();
    }

    fn acked(&mut self, i: usize, all: &mut [Window], acked: &Acked) {
        if !acked.cwnd_limited {
            return;
        }
        if all[i].cwnd_packets < all[i].ssthresh_packets {
            self.slow_start(i, all, acked);
            of(&mut self.subflows, i).reckoned = Some(reckon(i, all));
            return;
        }
        let cwnd = packets(&all[i]);
        let subflow = of(&mut self.subflows, i);
        let acks = subflow.reckoned.get_or_insert_with(|| reckon(i, all)).acks;
        if subflow.counter.is_full(if count(all) > 1 { acks } else { cwnd }) {
            all[i].cwnd_packets = (cwnd + 1) as f64;
            subflow.reckoned = Some(reckon(i, all));
        }
    }

    fn lost(&mut self, i: usize, all: &mut [Window], _: Time, _: Cause) {
        let cwnd = packets(&all[i]);
        let subflow = of(&mut self.subflows, i);
        let ssthresh = match subflow.reckoned.filter(|_| count(all) > 1) {
            Some(reckoned) => cwnd.saturating_sub(reckoned.decrease).max(1),
            None => (cwnd / 2).max(2),
        };
        all[i].ssthresh_packets = ssthresh as f64;
        // CA_EVENT_COMPLETE_CWR, CA_EVENT_LOSS
        subflow.reckoned = None;
    }
}

/// mptcp_balia_recalc_ai
fn reckon(i: usize, all: &[Window]) -> Reckoned {
    let cwnd = packets(&all[i]);
    let alone = Reckoned { acks: cwnd, decrease: cwnd / 2 };
    // Bytes per second, all with the segments of this subflow.
    let rate = |window: &Window| {
        let rtt = srtt(window)?;
        Some(u128::from(all[i].mss_bytes) * u128::from(packets(window)) * 8_000_000 / u128::from(rtt))
    };
    let Some(own) = rate(&all[i]).filter(|&own| own > 0 && count(all) > 1) else { return alone };
    let greatest = all.iter().filter_map(rate).max().unwrap_or(own);
    let alpha = greatest / own;
    let mut shift = 0;
    while greatest >> shift > 1 << RATE_BITS {
        shift += STEP_BITS;
    }
    let total: u128 = all.iter().filter_map(rate).map(|rate| rate >> shift).sum();
    let (own, greatest) = (own >> shift, greatest >> shift);
    // The kernel divides in two steps.
    let acks = total * total * 10 / (own + greatest) * u128::from(cwnd) / (4 * own + greatest);
    let acks = if acks == 0 { cwnd } else { acks as u64 };
    // min(α, 3/2) in 1024ths.
    Reckoned { acks, decrease: ((cwnd / 2) * (alpha as u64).saturating_mul(1024).min(1536)) >> 10 }
}
