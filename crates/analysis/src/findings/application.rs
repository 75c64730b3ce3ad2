//! The application had nothing to send: no fault of the network.

use super::case::{Case, Cost, Found, s};
use super::remedies::Remedy::Said;
use super::waits::{self, Wait};

const OFTEN: f64 = 0.3;
/// An application that sends less waits for its user, as a remote shell does.
const LEAST_BYTES: u64 = 100_000;

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    let Some(timeline) = case.sender.filter(|_| case.is_whole() && case.main) else { return Vec::new() };
    // While a request that was lost waited for a time-out, its answer could not begin.
    let asked: Vec<Wait> = waits::waits(case).into_iter().filter(|wait| wait.direction != case.direction).collect();
    let idle: Vec<(f64, f64)> = (0..timeline.whole.len())
        .map(|index| {
            let (from_s, to_s) = (case.seconds(timeline, index), case.seconds(timeline, index + 1));
            let waited_s: f64 = asked.iter().map(|wait| wait.within_s(from_s, to_s)).sum();
            (from_s, (f64::from(timeline.whole[index].idle_us) / 1e6 - waited_s).max(0.0))
        })
        .filter(|&(_, idle_s)| idle_s > 0.0)
        .collect();
    let idle_s = idle.iter().map(|(_, idle_s)| idle_s).sum::<f64>();
    if case.bytes < LEAST_BYTES || idle_s < OFTEN * case.elapsed_s || !case.is_worth(idle_s) {
        return Vec::new();
    }
    let (from_s, to_s) = (case.begin_s, case.end_s());
    let mut cost_s = 0.0;
    for (at_s, idle_s) in idle {
        cost_s += case.lost.claim(at_s, at_s + timeline.width_s(), idle_s);
    }
    vec![Found {
        kind: "application",
        subflow: None,
        from_s,
        to_s,
        cost: Cost::Seconds(cost_s),
        confidence: 0.9,
        message: format!(
            "the application had nothing to send for {} of {}: the network was not the limit",
            s(idle_s),
            s(case.elapsed_s)
        ),
        evidence: format!("for {idle_s:.3} s in all, everything was acknowledged and nothing more was sent"),
        remedy: &[Said("none in the network: look at the program that writes the data, or that waits for an answer")],
    }]
}
