//! Nothing new came although there was something to send: a path was dead and the others waited, or all of them were.

use super::case::{Case, Cost, Found, s};
use crate::metrics::Timeline;
use std::ops::Range;

/// Less of the usual rate is nothing.
const NOTHING: f64 = 0.1;
/// A stop is as long at least, and as so many round trips.
const LEAST_S: f64 = 0.3;
const ROUND_TRIPS: f64 = 3.0;
/// A path is dead when it was silent for so long: one retransmission time-out alone is shorter.
const DEAD_S: f64 = 0.8;

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    if !case.is_whole() || case.best_rate <= 0.0 {
        return Vec::new();
    }
    match (case.sender, case.receiver) {
        (Some(sender), _) => at_sender(case, sender),
        (None, Some(receiver)) => at_receiver(case, receiver),
        _ => Vec::new(),
    }
}

/// Times in which nothing new came between the first data and the last.
fn stops(case: &Case, timeline: &Timeline) -> Vec<Range<usize>> {
    let came: Vec<bool> = (0..timeline.whole.len())
        .map(|index| timeline.came(index) > NOTHING * case.best_rate * timeline.width_s())
        .collect();
    let (Some(first), Some(last)) = (came.iter().position(|&came| came), came.iter().rposition(|&came| came)) else {
        return Vec::new();
    };
    let rtt_s = case.report.flows.iter().filter_map(|rows| rows[case.direction as usize].rtt_ms_median).fold(0.0, f64::max) / 1e3;
    let least = (LEAST_S.max(ROUND_TRIPS * rtt_s) / timeline.width_s()).ceil() as usize;
    let mut stops = Vec::new();
    let mut from = first;
    for index in first..=last {
        if came[index] {
            if index - from > least {
                stops.push(from + 1..index);
            }
            from = index;
        }
    }
    stops
}

fn at_sender(case: &mut Case, timeline: &Timeline) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for stop in stops(case, timeline) {
        let (from_s, to_s) = (case.seconds(timeline, stop.start), case.seconds(timeline, stop.end));
        let idle_us: u64 = timeline.whole[stop.clone()].iter().map(|bin| u64::from(bin.idle_us)).sum();
        if idle_us as f64 / 1e6 > (to_s - from_s) / 2.0 {
            continue;
        }
        let alive: Vec<usize> = case
            .established()
            .into_iter()
            .filter(|&subflow| {
                let row = &case.report.subflows[subflow];
                row.start_s < from_s && row.end_s > from_s
            })
            .collect();
        let answered = |subflow: usize, index: usize| timeline.of(subflow, index).answers > 0;
        let waits = |subflow: usize| {
            let left = (0..=stop.start).rev().map(|index| timeline.of(subflow, index).left_bytes).find(|&left| left > 0);
            // What is dead may answer at the end of the stop, too slowly yet to count as going on.
            let mostly = stop.start + 1..stop.start + stop.len().div_ceil(2);
            left > Some(1) && !mostly.into_iter().any(|index| answered(subflow, index))
        };
        let dead: Vec<usize> = alive.iter().copied().filter(|&subflow| waits(subflow)).collect();
        let silent = |subflow: usize| {
            let from = (0..=stop.start).rev().find(|&index| answered(subflow, index)).unwrap_or(0);
            let to = (stop.start + stop.len().div_ceil(2)..timeline.whole.len()).find(|&index| answered(subflow, index));
            (case.seconds(timeline, from + 1), to.map_or(case.end_s(), |to| case.seconds(timeline, to)))
        };
        let longest = dead.iter().copied().max_by(|&a, &b| {
            let length = |subflow| silent(subflow).1 - silent(subflow).0;
            length(a).total_cmp(&length(b))
        });
        let Some(subflow) = longest else { continue };
        let (dead_from_s, dead_to_s) = silent(subflow);
        if dead_to_s - dead_from_s < DEAD_S {
            continue;
        }
        let timeouts = timeline.flows[subflow]
            .timeouts
            .iter()
            .filter(|(at, ..)| (dead_from_s..=dead_to_s).contains(&case.at(*at)))
            .count();
        let others: Vec<String> =
            alive.iter().filter(|other| !dead.contains(other)).map(|&other| case.name(other)).collect();
        let cost = case.claim(from_s, to_s, to_s - from_s);
        let Cost::Seconds(lost_s) = cost else { continue };
        let name = case.name(subflow);
        let until = if dead_to_s >= case.end_s() { String::new() } else { format!(" to {}", s(dead_to_s)) };
        let (kind, message, remedy) = if !others.is_empty() {
            (
                "path_dead",
                format!(
                    "{name} was dead from {}{until}; {} waited {} for what was on it: {} lost",
                    s(dead_from_s),
                    others.join(" and "),
                    s(to_s - from_s),
                    s(lost_s)
                ),
                "a path manager that suspends silent paths, or a larger receive buffer so that the other paths go on meanwhile",
            )
        } else if timeouts >= 2 {
            (
                "timeout_chain",
                format!(
                    "{name} stood still from {}{until} and no other path was there to go on: {timeouts} retransmission time-outs, each \
                     twice as long as the one before, {} lost",
                    s(dead_from_s),
                    s(lost_s)
                ),
                "a second path; where the outage was shorter than the wait, a limit on the back-off (sysctl net.ipv4.tcp_rto_max_ms)",
            )
        } else {
            (
                "outage",
                format!("nothing came over any path from {}{until}: {} lost", s(dead_from_s), s(lost_s)),
                "a path that fails at other times than these",
            )
        };
        match found.iter_mut().find(|one| one.kind == kind && one.subflow == Some(subflow)) {
            Some(one) => {
                let Cost::Seconds(before_s) = one.cost else { continue };
                one.cost = Cost::Seconds(before_s + lost_s);
                one.to_s = to_s.max(dead_to_s);
                one.message = format!("{name} was dead more than once between {} and {}: {} lost", s(one.from_s), s(one.to_s), s(before_s + lost_s));
            }
            None => found.push(Found {
                kind,
                subflow: Some(subflow),
                from_s: dead_from_s,
                to_s: to_s.max(dead_to_s),
                cost,
                confidence: if timeouts > 0 { 0.9 } else { 0.6 },
                message,
                evidence: format!("nothing acknowledged from {from_s:.3} s to {to_s:.3} s with data in flight; events: {timeouts} timeout"),
                remedy,
            }),
        }
    }
    found
}

/// The receiver sees which path fell silent only where data had overtaken what was on it.
fn at_receiver(case: &mut Case, timeline: &Timeline) -> Vec<Found> {
    let mut found = Vec::new();
    for stop in stops(case, timeline) {
        let (from_s, to_s) = (case.seconds(timeline, stop.start), case.seconds(timeline, stop.end));
        let waited = timeline.stalls.iter().any(|stall| {
            case.at(stall.from) < from_s + (to_s - from_s) / 2.0 && case.at(stall.to) >= to_s - timeline.width_s()
        });
        let span = |from_s: f64, to_s: f64| {
            let begin_s = case.seconds(timeline, 0);
            timeline.place(from_s - begin_s)..timeline.place(to_s - begin_s)
        };
        let came = |subflow: usize, from_s: f64, to_s: f64| timeline.bytes(subflow, span(from_s, to_s)) > 0.0;
        let silent: Vec<usize> = case
            .established()
            .into_iter()
            .filter(|&subflow| came(subflow, from_s - 2.0, from_s) && !came(subflow, from_s, to_s + LEAST_S))
            .collect();
        let [subflow] = silent[..] else { continue };
        let others = case.established().into_iter().any(|other| other != subflow && came(other, to_s - timeline.width_s(), to_s + LEAST_S));
        if !waited || !others || to_s - from_s < DEAD_S {
            continue;
        }
        let cost = case.claim(from_s, to_s, to_s - from_s);
        let Cost::Seconds(lost_s) = cost else { continue };
        found.push(Found {
            kind: "path_dead",
            subflow: Some(subflow),
            from_s,
            to_s,
            cost,
            confidence: 0.6,
            message: format!("{} was dead from {}; data of the others waited for what was on it: {} lost", case.name(subflow), s(from_s), s(lost_s)),
            evidence: format!("nothing arrived from {from_s:.3} s to {to_s:.3} s, then another subflow filled the gap"),
            remedy: "a path manager that suspends silent paths, or a larger receive buffer so that the other paths go on meanwhile",
        });
    }
    found
}
