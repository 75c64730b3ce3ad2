//! EWTCP: every subflow a TCP of its own, of less weight the more there are (Honda et al.: Multipath congestion control for
//! shared bottleneck, PFLDNeT 2009). A subflow of weight a adds a / w per packet: with w = √(2a/p), n of them take as much as
//! one TCP of a shared bottleneck if a = 1/n². Wischik et al. (NSDI 2011, §2.1) write a = 1/√n, and others after them; those
//! take more.

use super::{Acked, Congestion, Window};
use parameters::{Fault, Number, Text, fault, parameters};

pub(super) const SUMMARY: &str = "equally weighted TCP: uncoupled subflows, each with a fraction of a TCP's increase";

parameters! {
    struct Parameters {
        /// Factor of each subflow's increase, whatever their number; above 0, at most 100. If left out, it follows from
        /// `weighting`.
        weight: Option<Number> = None,
        /// How the weight depends on the number n of subflows: `inverse-square` is 1/n², with which all subflows that
        /// share a bottleneck take as much as one TCP; `inverse-root` is 1/√n, as printed in the papers. If left out,
        /// `inverse-square`.
        weighting: Option<Text> = None,
    }
}

const MOST: f64 = 100.0;

/// Equally weighted TCPs.
pub struct Ewtcp {
    weight: Weight,
}

enum Weight {
    Fixed(f64),
    OfNumber(fn(f64) -> f64),
}

impl Ewtcp {
    pub(crate) fn new(Parameters { weight, weighting }: Parameters) -> Result<Ewtcp, Fault> {
        if weight.is_some() && weighting.is_some() {
            return Err(fault("weighting", "cannot be combined with `weight`"));
        }
        let of_number: fn(f64) -> f64 = match weighting.as_ref().map_or("inverse-square", |Text(name)| name) {
            "inverse-square" => |n| 1.0 / (n * n),
            "inverse-root" => |n| 1.0 / n.sqrt(),
            _ => return Err(fault("weighting", "must be inverse-square or inverse-root")),
        };
        let weight = match weight {
            Some(Number(weight)) if !(weight > 0.0 && weight <= MOST) => {
                return Err(fault("weight", format!("must be above 0 and at most {MOST}")));
            }
            Some(Number(weight)) => Weight::Fixed(weight),
            None => Weight::OfNumber(of_number),
        };
        Ok(Ewtcp { weight })
    }
}

impl Congestion for Ewtcp {
    fn acked(&mut self, i: usize, all: &mut [Window], acked: &Acked) {
        if !acked.cwnd_limited {
            return;
        }
        let weight = match self.weight {
            Weight::Fixed(weight) => weight,
            Weight::OfNumber(of) => of(all.iter().filter(|window| window.usable).count().max(1) as f64),
        };
        for _ in 0..self.slow_start(i, all, acked) {
            all[i].cwnd_packets += weight / all[i].cwnd_packets;
        }
    }
}
