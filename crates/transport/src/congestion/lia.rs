//! LIA, the "linked increases" of RFC 6356: as much as a single TCP on the best path, and on no path more than one.

use super::{Acked, Congestion, Window};

pub(super) const SUMMARY: &str = "RFC 6356: linked increases; all subflows together as fast as a TCP on the best path";

/// Linked increases.
#[derive(Default)]
pub struct Lia;

impl Congestion for Lia {
    fn acked(&mut self, i: usize, all: &mut [Window], acked: &Acked) {
        self.grow(i, all, acked, increase);
    }
}

/// What a packet adds. Windows are bytes here, as segments may differ in size: alpha / W of the RFC is
/// max(b/R²) / (Σ b/R)², per byte acknowledged.
fn increase(i: usize, all: &[Window]) -> f64 {
    let single = 1.0 / all[i].cwnd_packets;
    let (mut best, mut rate, mut count) = (0.0_f64, 0.0, 0);
    for (bytes, rtt) in all.iter().filter_map(Window::coupling) {
        best = best.max(bytes / (rtt * rtt));
        rate += bytes / rtt;
        count += 1;
    }
    // Alone it is Reno to the bit, which the sums are not.
    if count < 2 || all[i].coupling().is_none() {
        return single;
    }
    // RFC 6356 eq. (1) and (2)
    (best / (rate * rate) * f64::from(all[i].mss_bytes)).min(single)
}
