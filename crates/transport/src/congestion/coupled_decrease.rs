//! Coupled decrease: each subflow grows as a TCP, and one that loses gives up half of all windows together (Chen et al., after
//! Raiciu, Handley, Wischik: Practical congestion control for multipath transport protocols, 2009).

use super::{Acked, Cause, Congestion, Window, fully_coupled::reduced, single};
use wire::Time;

pub(super) const SUMMARY: &str =
    "each subflow increases like a TCP; a loss takes half of the total window off the subflow that loses";

/// Coupled decrease.
#[derive(Default)]
pub struct CoupledDecrease;

impl Congestion for CoupledDecrease {
    fn acked(&mut self, i: usize, all: &mut [Window], acked: &Acked) {
        self.grow(i, all, acked, single);
    }

    fn lost(&mut self, i: usize, all: &mut [Window], _: Time, _: Cause) {
        all[i].ssthresh_packets = reduced(i, all);
    }
}
