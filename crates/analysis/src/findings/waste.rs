//! Data came twice, over two subflows.

use super::case::{Case, Cost, Found};
use crate::timeline::Flow;

const LEAST_PART: f64 = 0.05;

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    let Some(timeline) = case.receiver.filter(|_| case.is_whole() && case.main) else { return Vec::new() };
    let of = |flow: &Flow| flow.bins.iter().map(|bin| u64::from(bin.again_bytes)).sum::<u64>();
    let by_flow: Vec<u64> = timeline.flows.iter().map(of).collect();
    let twice: u64 = by_flow.iter().sum();
    let part = twice as f64 / case.bytes.max(1) as f64;
    let some: Vec<usize> = (0..timeline.whole.len()).filter(|&index| timeline.again(index) > 0.0).collect();
    let (Some(&first), Some(&last)) = (some.first(), some.last()) else { return Vec::new() };
    if part < LEAST_PART || case.best_rate <= 0.0 {
        return Vec::new();
    }
    let mut cost_s = 0.0;
    for index in some {
        let at_s = case.seconds(timeline, index);
        cost_s += case.lost.claim(at_s, at_s + timeline.width_s(), timeline.again(index) / case.best_rate);
    }
    vec![Found {
        kind: "reinjection_waste",
        subflow: (0..by_flow.len()).max_by_key(|&subflow| by_flow[subflow]),
        from_s: case.seconds(timeline, first),
        to_s: case.seconds(timeline, last + 1).min(case.end_s()),
        // Where no queue stood, nothing else would have gone in its place sooner.
        cost: if case.sender.is_some() && case.have_room() { Cost::Unknown } else { Cost::Seconds(cost_s) },
        confidence: 0.9,
        message: format!("{:.0} % of the data arrived twice, over two subflows", part * 100.0),
        evidence: format!(
            "{twice} bytes arrived whose data sequence numbers had arrived before; flows: reinjected_bytes"
        ),
        remedy: "if a path died, leave it sooner (mptcplab guard); otherwise a scheduler that is not redundant, or paths whose delays differ less",
    }]
}
