//! Fully coupled: both the increase and the decrease follow the window of all subflows together (Kelly, Voice: Stability of
//! end-to-end algorithms for joint routing and rate control, 2005; as Chen et al. and Wischik et al., NSDI 2011, write it).
//! It moves all traffic to the paths that lose least, and flaps between those that lose alike.

use super::{Acked, Cause, Congestion, Window, total_packets};
use wire::Time;

pub(super) const SUMMARY: &str =
    "all subflows together increase like one TCP; a loss takes half of the total window off the subflow that loses";

/// Coupled increase and coupled decrease.
#[derive(Default)]
pub struct FullyCoupled;

impl Congestion for FullyCoupled {
    fn acked(&mut self, i: usize, all: &mut [Window], acked: &Acked) {
        self.grow(i, all, acked, increase);
    }

    fn lost(&mut self, i: usize, all: &mut [Window], _: Time, _: Cause) {
        all[i].ssthresh_packets = reduced(i, all);
    }
}

/// 1/W per packet.
pub(super) fn increase(i: usize, all: &[Window]) -> f64 {
    1.0 / total_packets(i, all).unwrap_or(all[i].cwnd_packets)
}

/// w - W/2. One packet remains, where the papers have none: without any a path would never be tried again.
pub(super) fn reduced(i: usize, all: &[Window]) -> f64 {
    match total_packets(i, all) {
        Some(total) => (all[i].cwnd_packets - total / 2.0).max(1.0),
        None => all[i].half_packets(),
    }
}
