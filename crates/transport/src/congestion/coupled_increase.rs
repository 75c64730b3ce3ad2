//! Coupled increase: all subflows together grow as one TCP, and each halves by itself (Chen et al., after Raiciu, Handley,
//! Wischik: Practical congestion control for multipath transport protocols, 2009). LIA, which also regards round-trip times, is
//! what became of it.

use super::{Acked, Congestion, Window, fully_coupled::increase};

pub(super) const SUMMARY: &str = "all subflows together increase like one TCP; each halves its own window at a loss";

/// Coupled increase.
#[derive(Default)]
pub struct CoupledIncrease;

impl Congestion for CoupledIncrease {
    fn acked(&mut self, i: usize, all: &mut [Window], acked: &Acked) {
        self.grow(i, all, acked, increase);
    }
}
