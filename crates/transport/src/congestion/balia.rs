//! BALIA, "balanced linked adaptation" (draft-walid-mptcp-congestion-control-04): between LIA's friendliness and OLIA's
//! responsiveness.

use super::{Acked, Cause, Congestion, Window};
use wire::Time;

pub(super) const SUMMARY: &str =
    "balanced linked adaptation: increases and decreases depend on the rates of all subflows";

/// Most of a half of the window that a loss takes (draft §3).
const MOST: f64 = 1.5;

/// Balanced linked adaptation.
#[derive(Default)]
pub struct Balia;

impl Congestion for Balia {
    fn acked(&mut self, i: usize, all: &mut [Window], acked: &Acked) {
        self.grow(i, all, acked, increase);
    }

    fn lost(&mut self, i: usize, all: &mut [Window], _: Time, _: Cause) {
        let cwnd = all[i].cwnd_packets;
        // draft §3: w/2 · min(α, 1.5), where α is 1 on the fastest path.
        let alpha = Rates::of(i, all).map_or(1.0, |rates| rates.alpha());
        all[i].ssthresh_packets = (cwnd - cwnd / 2.0 * alpha.min(MOST)).max(2.0);
    }
}

/// x of the draft, in bytes per nanosecond: this subflow's, the greatest, and all together.
struct Rates {
    own: f64,
    greatest: f64,
    total: f64,
}

impl Rates {
    /// None where it is alone or cannot be compared: it is Reno then, to the bit.
    fn of(i: usize, all: &[Window]) -> Option<Rates> {
        let (bytes, rtt) = all[i].coupling()?;
        let mut rates = Rates { own: bytes / rtt, greatest: 0.0, total: 0.0 };
        let mut count = 0;
        for (bytes, rtt) in all.iter().filter_map(Window::coupling) {
            rates.greatest = rates.greatest.max(bytes / rtt);
            rates.total += bytes / rtt;
            count += 1;
        }
        (count > 1).then_some(rates)
    }

    fn alpha(&self) -> f64 {
        self.greatest / self.own
    }
}

/// What a packet adds: x / (R X²) · (1 + α)/2 · (4 + α)/5 (draft §3), never more than Reno.
fn increase(i: usize, all: &[Window]) -> f64 {
    let single = 1.0 / all[i].cwnd_packets;
    let Some((rates, (_, rtt))) = Rates::of(i, all).zip(all[i].coupling()) else { return single };
    let alpha = rates.alpha();
    let linked = rates.own / (rtt * rates.total * rates.total) * f64::from(all[i].mss_bytes);
    (linked * (1.0 + alpha) / 2.0 * (4.0 + alpha) / 5.0).min(single)
}
