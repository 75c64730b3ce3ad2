//! The receiver takes nothing more although its paths work: what it waits for is sent again and again, each subflow acknowledges
//! that, and DATA_ACK stands still. Linux does so where data beyond a hole has filled its memory.

use super::case::{Case, Cost, Found, s};
use super::remedies::WINDOW_AT_ONCE;

/// A time-out or two of the connection pass where a path has just died.
const LEAST_S: f64 = 2.0;
const LEAST_TIMES: usize = 5;

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    let Some(timeline) = case.sender.filter(|_| case.is_whole() && case.main) else { return Vec::new() };
    let answers = timeline.flows.iter().filter_map(|flow| flow.last_answer).map(|at| case.at(at));
    let (from_s, to_s) = (case.end_s(), answers.fold(0.0, f64::max));
    let again = case.report.events.iter().filter(|event| {
        event.event == "reinjection" && event.direction == Some(case.direction) && (from_s..to_s).contains(&event.at_s)
    });
    let (times, bytes) = again.fold((0, 0), |(times, bytes), event| (times + 1, bytes + event.bytes.unwrap_or(0)));
    let goes_on = case.seconds(timeline, timeline.whole.len()) - to_s < LEAST_S;
    if timeline.outstanding_bytes == 0 || times < LEAST_TIMES || to_s - from_s < LEAST_S || !goes_on {
        return Vec::new();
    }
    vec![Found {
        kind: "receiver_stuck",
        subflow: None,
        from_s,
        to_s,
        // Whether it would ever have gone on is unknown.
        cost: Cost::Unknown,
        confidence: 0.9,
        message: format!(
            "the receiver took nothing more from {} on, and the transfer did not end: subflows acknowledged what was sent again, the connection did not",
            s(from_s)
        ),
        evidence: format!(
            "{times} segments with {bytes} bytes were sent again and acknowledged by their subflows until {}, and DATA_ACK stood still; {} bytes were outstanding",
            s(to_s),
            timeline.outstanding_bytes
        ),
        remedy: &[WINDOW_AT_ONCE],
    }]
}
