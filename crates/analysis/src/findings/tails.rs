//! The last segments of a request or a response were lost: nothing came after them that would have shown it, and the sender waited
//! for its timer.

use super::case::{Case, Cost, Found, often, s};
use super::idle;
use std::collections::BTreeMap;
use tables::{Direction, Event};

/// What was sent again brought something where data came in order so many round trips later at most, and so soon in any case.
const ROUND_TRIPS: f64 = 1.0;
const SOON_S: f64 = 0.05;
/// A wait of which less is left to claim belongs to another finding, or held nothing up.
const LEAST_PART: f64 = 0.5;

const REMEDY: &str = "a path that loses less; for requests that can be repeated, the next one at once over another path (a shorter time-out of the program), or each over both paths (the scheduler redundant)";

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    if !case.is_whole() || !case.main || case.best_rate <= 0.0 {
        return Vec::new();
    }
    // Who has more to send does not wait for the end of a message; what goes the other way asks for it.
    let idle_s = case.sender.map_or_else(Vec::new, |sender| idle::of_application(case, sender));
    let pauses = idle_s.iter().any(|&idle_s| idle_s > 0.0);
    let (report, direction) = (case.report, case.direction);
    let sender = case.sender.map(|sender| (sender, case.seconds(sender, 0)));
    // While all that was sent had come, a dead path holds up nobody; a pause in which the other end's request is lost is not one.
    let paused_s = |event: &Event, from_s: f64| -> f64 {
        let Some((sender, begin_s)) = sender.filter(|_| event.direction == Some(direction)) else { return 0.0 };
        idle_s[sender.place(from_s - begin_s)..sender.place(event.at_s - begin_s)].iter().sum()
    };
    let is_tail = |event: &&Event| {
        event.event == "timeout"
            && (event.direction != Some(case.direction) || pauses)
            && event.at_s <= case.end_s()
            && brought(case, event)
    };
    let mut tails: Vec<&Event> = report.events.iter().filter(is_tail).collect();
    tails.sort_by_key(|event| event.at_ns);
    let mut waits: BTreeMap<Option<u32>, Vec<(&Event, f64)>> = BTreeMap::new();
    for event in tails {
        let silent_s = event.duration_ms.unwrap_or(0.0) / 1e3;
        let from_s = event.at_s - silent_s;
        let waited_s = case.lost.claim(from_s, event.at_s, silent_s - paused_s(event, from_s));
        if waited_s >= LEAST_PART * silent_s {
            waits.entry(event.subflow).or_default().push((event, waited_s));
        }
    }
    waits.into_iter().map(|(subflow, waits)| told(case, subflow, &waits)).collect()
}

/// Whether what was sent again after a time-out was what the receiver waited for, as far as its capture tells: where only the
/// acknowledgement was lost, it had come before.
fn brought(case: &Case, event: &Event) -> bool {
    let direction = event.direction.unwrap_or(case.direction);
    let Some(receiver) = case.report.receivers[direction as usize].as_deref() else { return true };
    let subflow = event.subflow.map_or(0, |subflow| subflow as usize);
    let rtt_ms = case.report.subflows.get(subflow).and_then(|row| row.handshake_rtt_ms).unwrap_or(0.0);
    let place = |at_s: f64| receiver.place(at_s - case.seconds(receiver, 0));
    let until_s = event.at_s + (ROUND_TRIPS * rtt_ms / 1e3).max(SOON_S);
    (place(event.at_s)..=place(until_s)).any(|index| receiver.came(index) > 0.0)
}

fn told(case: &Case, subflow: Option<u32>, waits: &[(&Event, f64)]) -> Found {
    let cost_s: f64 = waits.iter().map(|(_, waited_s)| waited_s).sum();
    let silent_s = |event: &Event| event.duration_ms.unwrap_or(0.0) / 1e3;
    let (first, last) = (waits[0].0, waits[waits.len() - 1].0);
    let is_request = |event: &Event| event.direction == Some(Direction::Up);
    let requests = waits.iter().filter(|(event, _)| is_request(event)).count();
    let what = match (requests, waits.len() - requests) {
        (_, 0) => "of requests",
        (0, _) => "of responses",
        _ => "of requests and responses",
    };
    let subflow = subflow.map(|subflow| subflow as usize);
    let name = subflow.map_or_else(|| "a path".to_owned(), |subflow| case.name(subflow));
    let seen = case.report.connection.vantage == Some("both");
    Found {
        kind: "tail_losses",
        subflow,
        from_s: first.at_s - silent_s(first),
        to_s: last.at_s,
        cost: Cost::Seconds(cost_s),
        confidence: if seen { 0.9 } else { 0.6 },
        message: format!(
            "{name} lost the last segments {what} {}; nothing came after them to show it, and a retransmission time-out had to pass: {} lost",
            often(waits.len()),
            s(cost_s)
        ),
        evidence: format!(
            "segments were sent again {} after at least 200 ms of silence, in which nothing else came; the longest took {:.0} ms",
            often(waits.len()),
            waits.iter().map(|(event, _)| silent_s(event) * 1e3).fold(0.0, f64::max)
        ),
        remedy: REMEDY,
    }
}
