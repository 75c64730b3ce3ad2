//! Data came twice, over two subflows.

use super::case::{Case, Found};

const LEAST_PART: f64 = 0.05;

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    let Some(timeline) = case.receiver.filter(|_| case.is_whole() && case.main) else { return Vec::new() };
    let twice: u64 = timeline.flows.iter().map(|flow| flow.again_bytes).sum();
    let part = twice as f64 / case.bytes.max(1) as f64;
    if part < LEAST_PART || case.best_rate <= 0.0 {
        return Vec::new();
    }
    let most = timeline.flows.iter().enumerate().max_by_key(|(_, flow)| flow.again_bytes).map(|(subflow, _)| subflow);
    let (from_s, to_s) = (case.begin_s, case.end_s());
    vec![Found {
        kind: "reinjection_waste",
        subflow: most,
        from_s,
        to_s,
        // Rates here count new data alone: what came twice took the place of as much.
        cost: super::case::Cost::Seconds(
            (twice as f64 / (case.best_rate * (1.0 + part))).min(case.elapsed_s * part / (1.0 + part)),
        ),
        confidence: 0.9,
        message: format!("{:.0} % of the data came twice, over two subflows", part * 100.0),
        evidence: format!(
            "{twice} bytes arrived whose data sequence numbers had arrived before; flows: reinjected_bytes"
        ),
        remedy: "another scheduler than a redundant one, or paths whose delays differ less",
    }]
}
