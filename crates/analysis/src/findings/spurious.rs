//! Time-outs that were spurious: a path had held packets, or their acknowledgements, up, and the sender sent again and slowed
//! down for nothing.

use super::case::{Case, Cost, Found, often, s};
use super::remedies::Remedy;
use crate::timeline::Timeline;
use std::ops::Range;

/// A sender that slowed down is back at this part of the subflow's usual rate; longer than this it is not looked for.
const USUAL: f64 = 0.5;
const MOST_S: f64 = 5.0;

const BEYOND_HOSTS: Remedy = Remedy::Beyond(
    "none at the hosts: look at what holds the packets up (a handover, a radio that wakes up); Linux takes back what such a time-out did to its rate (net.ipv4.tcp_frto)",
);

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    let Some(timeline) = case.sender.filter(|_| case.is_whole() && case.main) else { return Vec::new() };
    let mut found = Vec::new();
    for subflow in case.established() {
        let spurious: Vec<usize> =
            (0..timeline.whole.len()).filter(|&index| timeline.of(subflow, index).spurious > 0).collect();
        let (Some(&first), Some(&last)) = (spurious.first(), spurious.last()) else { continue };
        let times: usize = spurious.iter().map(|&index| usize::from(timeline.of(subflow, index).spurious)).sum();
        let mut cost_s = 0.0;
        for &index in &spurious {
            let slow = slow(case, timeline, subflow, index);
            let [from_s, to_s] = [slow.start, slow.end].map(|index| case.seconds(timeline, index));
            cost_s += case.lost.claim(from_s, to_s, f64::INFINITY);
        }
        let silences = spurious.iter().map(|&index| silence(timeline, subflow, index));
        let longest_s = silences.map(|silence| silence.len()).max().unwrap_or(0) as f64 * timeline.width_s();
        let from_s = case.seconds(timeline, silence(timeline, subflow, first).start);
        let to_s = case.seconds(timeline, slow(case, timeline, subflow, last).end).min(case.end_s());
        found.push(Found {
            kind: "spurious_timeouts",
            subflow: Some(subflow),
            from_s,
            to_s,
            // A sender that notices goes on as before: what is lost is the path's pause.
            cost: if case.is_worth(cost_s) { Cost::Seconds(cost_s) } else { Cost::Unknown },
            confidence: 0.6,
            message: format!(
                "{}: {}: the path delayed packets, or their acknowledgements, by up to {}, and lost none",
                case.name(subflow),
                if times == 1 { "an unnecessary retransmission time-out".to_owned() } else { format!("{times} unnecessary retransmission time-outs") },
                s(longest_s)
            ),
            evidence: format!(
                "segments were sent again after a silence, {}; then what had been in flight before was acknowledged from its first segment on, within two round trips",
                often(times)
            ),
            remedy: &[BEYOND_HOSTS],
        });
    }
    found
}

/// From an answer on, the times in which less than usual came over a subflow.
fn slow(case: &Case, timeline: &Timeline, subflow: usize, from: usize) -> Range<usize> {
    let end = timeline.index_at(case.end_s() - case.seconds(timeline, 0));
    let most = from + (MOST_S / timeline.width_s()) as usize;
    let usual = USUAL * timeline.rate(subflow) * timeline.width_s();
    let is_usual = |index: &usize| f64::from(timeline.of(subflow, *index).came_bytes) >= usual;
    let to = (from..most.min(end)).find(is_usual).unwrap_or(most.min(end));
    from..to.max(from)
}

/// Before a time, the silence that a time-out was in: from the last answer before that, or what was sent first after it, to the
/// first answer after.
fn silence(timeline: &Timeline, subflow: usize, index: usize) -> Range<usize> {
    let time_out = (0..=index).rev().find(|&index| timeline.of(subflow, index).timeouts > 0).unwrap_or(index);
    let answered = |index: &usize| timeline.of(subflow, *index).answered;
    let from = (0..time_out).rev().find(answered).unwrap_or(time_out);
    let from = (from..time_out).find(|&index| timeline.of(subflow, index).left_bytes > 1).unwrap_or(from);
    from..(time_out..index).find(answered).unwrap_or(index)
}
