//! The last segments of a request or a response were lost: nothing came after them that would have shown it, and the sender waited
//! for its timer.

use super::case::{Case, Cost, FIRST_WINDOW_BYTES, Found, often, s};
use super::remedies::{Remedy, Remedy::Said, TWICE};
use super::waits::Wait;
use std::collections::BTreeMap;
use tables::Direction;

/// A wait of which less is left to claim belongs to another finding, or held nothing up.
const LEAST_PART: f64 = 0.5;

const LESS: Remedy = Said("a path that loses less");
const AGAIN: Remedy = Said(
    "for requests that can be repeated, the next one at once over another path (a shorter time-out of the program)",
);

/// Waits that are no outage's.
pub(super) fn find(case: &mut Case) -> Vec<Found> {
    let mut waits: BTreeMap<usize, Vec<(Wait, f64)>> = BTreeMap::new();
    for wait in std::mem::take(&mut case.waits) {
        let waited_s = wait.claim(case);
        if waited_s >= LEAST_PART * wait.seconds() {
            waits.entry(wait.timeouts[0].0).or_default().push((wait, waited_s));
        }
    }
    waits.into_iter().map(|(subflow, waits)| finding(case, subflow, &waits)).collect()
}

fn finding(case: &Case, subflow: usize, waits: &[(Wait, f64)]) -> Found {
    let cost_s: f64 = waits.iter().map(|(_, waited_s)| waited_s).sum();
    let requests = waits.iter().filter(|(wait, _)| wait.direction == Direction::Up).count();
    let what = match (requests, waits.len() - requests) {
        (_, 0) => "of requests",
        (0, _) => "of responses",
        _ => "of requests and responses",
    };
    let seen = case.report.connection.vantage == Some("both");
    Found {
        kind: "tail_losses",
        subflow: Some(subflow),
        from_s: waits[0].0.from_s,
        to_s: waits[waits.len() - 1].0.to_s,
        cost: Cost::Seconds(cost_s),
        confidence: if seen { 0.9 } else { 0.6 },
        message: format!(
            "{} lost the last segments {what} {}; nothing came after them to show it, and a retransmission time-out had to pass: {} lost",
            case.name(subflow),
            often(waits.len()),
            s(cost_s)
        ),
        evidence: format!(
            "segments were sent again {} after at least 200 ms of silence, in which nothing else came; the longest took {:.0} ms",
            often(waits.iter().map(|(wait, _)| wait.most()).sum()),
            waits.iter().map(|(wait, _)| wait.seconds() * 1e3).fold(0.0, f64::max)
        ),
        remedy: if case.established().len() > 1 && are_small(case) { &[LESS, AGAIN, TWICE] } else { &[LESS, AGAIN] },
    }
}

/// Whether requests and responses are so small that they may well go over all paths.
fn are_small(case: &Case) -> bool {
    case.message_bytes().is_some_and(|bytes| bytes <= FIRST_WINDOW_BYTES)
}
