//! When a transfer and the cross traffic beside it start: programs that begin at one time never do so at the same nanosecond,
//! and any of them may be first.

use crate::Scenario;
use crate::form::CrossTraffic;
use crate::hosts::seed;

/// Each starts up to so much late: programs that Linux wakes for one time start within as much of each other (measured with
/// the kernel engine: 0.1 to 1 ms).
const SPREAD_NS: i64 = 1_000_000;

/// When the transfer starts, in nanoseconds from the start of the run: where it has cross traffic, as late as that may be. Whose
/// first packets are behind the other's sees a queue from the beginning, which ends its slow start sooner (HyStart).
pub fn transfer_start(scenario: &Scenario) -> i64 {
    if scenario.cross_traffic.is_empty() { 0 } else { late(scenario, "transfer/start") }
}

/// When each flow starts, in nanoseconds from the start of the run: drawn from the seed, unless hosts take no time.
pub fn starts<'a>(scenario: &'a Scenario, traffic: &'a CrossTraffic) -> impl Iterator<Item = i64> + 'a {
    let (start, stop) = traffic.times();
    (0..traffic.flows()).map(move |flow| {
        let late = late(scenario, &format!("cross/{}/start/{flow}", traffic.name()));
        // What stops sooner starts all the same.
        stop.map_or(start + late, |stop| (start + late).min(stop - 1).max(start))
    })
}

fn late(scenario: &Scenario, who: &str) -> i64 {
    if scenario.settings.processing_ns == 0 {
        return 0;
    }
    ((u128::from(seed(scenario, who)) * SPREAD_NS as u128) >> 64) as i64
}
