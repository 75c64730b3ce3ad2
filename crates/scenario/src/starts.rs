//! When flows of cross traffic start: programs that begin at one time never do so at the same nanosecond.

use crate::Scenario;
use crate::form::CrossTraffic;
use crate::hosts::seed;

/// A flow starts up to so much late: programs that Linux wakes for one time start within as much of each other (measured with
/// the kernel engine: 0.1 to 1 ms). Much more would give the transfer, which starts in time, a lead.
const SPREAD_NS: i64 = 1_000_000;

/// When each flow starts, in nanoseconds from the start of the run: drawn from the seed, unless hosts take no time.
pub fn starts<'a>(scenario: &'a Scenario, traffic: &'a CrossTraffic) -> impl Iterator<Item = i64> + 'a {
    let (start, stop) = traffic.times();
    (0..traffic.flows()).map(move |flow| {
        if scenario.processing_ns == 0 {
            return start;
        }
        let word = seed(scenario, &format!("cross/{}/start/{flow}", traffic.name()));
        let late = ((u128::from(word) * SPREAD_NS as u128) >> 64) as i64;
        // What stops sooner starts all the same.
        stop.map_or(start + late, |stop| (start + late).min(stop - 1).max(start))
    })
}
