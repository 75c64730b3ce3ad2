//! ECF: earliest completion first (Lim, Nahum, Towsley, Gibbens, CoNEXT 2017; `net/mptcp/mptcp_ecf.c` of the out-of-tree
//! kernel).
//!
//! What waits is left to the fastest subflow, though its window is full, where that is done with it sooner than a slower
//! one would be.

use super::{Choice, Chunk, LowestRtt, PathView, Scheduler, lowest_rtt};
use parameters::{Fault, Number, fault, parameters};
use wire::Time;

pub(super) const SUMMARY: &str =
    "the subflow with the lowest round-trip time; a slower one only if it completes sooner";

parameters! {
    struct Parameters {
        /// β, at most 1000: the hysteresis of waiting. Once it waits for the fastest subflow, it goes on until waiting
        /// is worse by this fraction.
        beta: Number = Number(0.25),
    }
}

/// Lowest round-trip time first, unless all is done sooner without the slower one.
pub struct Ecf {
    /// β, in thousandths.
    beta: u128,
    waiting: bool,
    base: LowestRtt,
}

impl Ecf {
    /// β is 1/mptcp_ecf_r_beta.
    pub(crate) fn new(Parameters { beta: Number(beta) }: Parameters) -> Result<Ecf, Fault> {
        match (0.0..=1000.0).contains(&beta) {
            true => Ok(Ecf { beta: (beta * 1000.0) as u128, waiting: false, base: LowestRtt }),
            false => Err(fault("beta", "must be from 0 to 1000")),
        }
    }

    /// ecf_get_available_subflow. Its products have 32 bits in the kernel and run over at 43 kB and 100 ms; these have 128.
    fn waits(&mut self, unsent_bytes: u64, fast: &PathView, slow: &PathView) -> bool {
        let window_bytes = |path: &PathView| u128::from(path.cwnd_packets.max(1)) * u128::from(path.mss_bytes);
        let srtt_ns = |path| u128::from(lowest_rtt::srtt_ns(path));
        let (window_f, window_s) = (window_bytes(fast), window_bytes(slow));
        // The paper's δ. Linux has half of rttvar_us, which its least time-out keeps above 100 ms.
        let delta_ns = fast.rttvar_ns.max(slow.rttvar_ns).max(0) as u128;
        let unsent = u128::from(unsent_bytes);

        // (1 + k/cwnd_f) R_f < (1 + β waiting) (R_s + δ)
        let by_fast = (unsent.max(window_f) + window_f) * srtt_ns(fast);
        let by_slow = window_f * (srtt_ns(slow) + delta_ns);
        let hysteresis = if self.waiting { self.beta } else { 0 };
        if 1000 * by_fast >= (1000 + hysteresis) * by_slow {
            self.waiting = false;
            return false;
        }
        // k/cwnd_s R_s >= 2 R_f + δ
        let waits = unsent.max(window_s) * srtt_ns(slow) >= window_s * (2 * srtt_ns(fast) + delta_ns);
        self.waiting |= waits;
        waits
    }
}

impl Scheduler for Ecf {
    fn choose(&mut self, now: Time, chunk: &Chunk, paths: &[PathView]) -> Choice {
        let choice = self.base.choose(now, chunk, paths);
        let Some((fast, slow, bytes)) = lowest_rtt::slower(choice, chunk, paths) else { return choice };
        match self.waits(chunk.bytes, fast, slow) {
            true => Choice::Wait(Time::MAX),
            false => Choice::Send { subflows: slow.bit(), bytes },
        }
    }

    fn mends_buffer(&self) -> bool {
        true
    }
}
