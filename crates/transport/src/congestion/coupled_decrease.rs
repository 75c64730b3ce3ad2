//! Coupled decrease: each subflow grows as a TCP, and one that loses gives up half of all windows together (Chen et al., after
//! Raiciu, Handley, Wischik: Practical congestion control for multipath transport protocols, 2009).

use super::{Acked, Cause, Congestion, Window, fully_coupled::reduced};
use wire::Time;

pub(super) const SUMMARY: &str = "each subflow grows as a TCP; half of all windows off the one that loses";

/// Coupled decrease.
#[derive(Default)]
pub struct CoupledDecrease;

impl Congestion for CoupledDecrease {
    fn acked(&mut self, i: usize, all: &mut [Window], acked: &Acked) {
        if !acked.cwnd_limited {
            return;
        }
        for _ in 0..self.slow_start(i, all, acked) {
            all[i].cwnd_packets += 1.0 / all[i].cwnd_packets;
        }
    }

    fn lost(&mut self, i: usize, all: &mut [Window], _: Time, _: Cause) {
        all[i].ssthresh_packets = reduced(i, all);
    }
}
