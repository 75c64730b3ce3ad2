//! Nothing new came although there was something to send: a path was dead and the others waited, or all of them were.

use super::case::{Case, Cost, Found, s};
use crate::timeline::Timeline;
use std::ops::Range;

/// Less of the usual rate is nothing.
const NOTHING: f64 = 0.1;
/// A stop is as long at least, and as so many round trips.
const LEAST_S: f64 = 0.3;
const ROUND_TRIPS: f64 = 3.0;
/// Other paths were held up where less than this part of their usual rate came.
const SLOW: f64 = 0.5;
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
    let rtt_s =
        case.report.flows.iter().filter_map(|rows| rows[case.direction as usize].rtt_ms_median).fold(0.0, f64::max)
            / 1e3;
    let least = (LEAST_S.max(ROUND_TRIPS * rtt_s) / timeline.width_s()).ceil() as usize;
    let mut stops = Vec::new();
    let mut from = first;
    for (index, &came) in came.iter().enumerate().take(last + 1).skip(first) {
        if came {
            if index - from > least {
                stops.push(from + 1..index);
            }
            from = index;
        }
    }
    stops
}

fn at_sender(case: &mut Case, timeline: &Timeline) -> Vec<Found> {
    let mut found: Vec<Found> =
        case.established().into_iter().filter_map(|subflow| dead(case, timeline, subflow)).collect();
    found.extend(all_dead(case, timeline));
    found
}

/// Times in which nothing was acknowledged on a subflow, with data in flight, for long.
fn silences(case: &Case, timeline: &Timeline, subflow: usize) -> Vec<Range<usize>> {
    let bins = timeline.place(case.end_s() - case.seconds(timeline, 0));
    let mut answered: Vec<usize> = (0..bins).filter(|&index| timeline.of(subflow, index).answers > 0).collect();
    answered.push(bins);
    answered
        .windows(2)
        .filter(|pair| timeline.of(subflow, pair[0]).left_bytes > 1 && pair[0] + 1 < pair[1])
        .map(|pair| pair[0] + 1..pair[1])
        .filter(|silent| silent.len() as f64 * timeline.width_s() >= DEAD_S)
        .collect()
}

/// A path that was dead while the others, which were not, got less done than they can.
fn dead(case: &mut Case, timeline: &Timeline, subflow: usize) -> Option<Found> {
    let silences = silences(case, timeline, subflow);
    let others: Vec<usize> = case.established().into_iter().filter(|&other| other != subflow).collect();
    let (first, last) = (silences.first()?.start, silences.last()?.end);
    let (from_s, to_s) = (case.seconds(timeline, first), case.seconds(timeline, last));
    let timeouts = timeouts(case, timeline, subflow, from_s, to_s);
    // That no answer came shows only where the sender's timer had run out.
    if others.is_empty() || timeouts == 0 {
        return None;
    }
    let rate = others.iter().map(|&other| timeline.rate(other)).sum::<f64>() * timeline.width_s();
    let (mut lost_s, mut waited_s, mut cover_s) = (0.0, 0.0, 0.0);
    let mut blamed = Vec::new();
    for index in silences.into_iter().flatten() {
        let came: f64 = others.iter().map(|&other| f64::from(timeline.of(other, index).came_bytes)).sum();
        cover_s += timeline.width_s();
        if rate <= 0.0 || came >= SLOW * rate {
            continue;
        }
        let at_s = case.seconds(timeline, index);
        let idle_s = timeline.width_s() * (1.0 - came / rate);
        waited_s += idle_s;
        if let Cost::Seconds(claimed_s) = case.claim(at_s, at_s + timeline.width_s(), idle_s) {
            lost_s += claimed_s;
        }
        blamed.push(index);
    }
    // Where the others were as silent, no path was there to wait.
    if blamed.is_empty() || all_silent(case, timeline, &others, &blamed) {
        return None;
    }
    let name = case.name(subflow);
    let until = if to_s + 0.1 >= case.end_s() { "the end".to_owned() } else { s(to_s) };
    let what = if cover_s < 0.9 * (to_s - from_s) { "dead more than once" } else { "dead" };
    let names: Vec<String> = others.iter().map(|&other| case.name(other)).collect();
    Some(Found {
        kind: "path_dead",
        subflow: Some(subflow),
        from_s,
        to_s,
        cost: Cost::Seconds(lost_s),
        confidence: 0.9,
        message: format!(
            "{name} was {what} from {} to {until}; {} waited {} for what was on it: {} lost",
            s(from_s),
            names.join(" and "),
            s(waited_s),
            s(lost_s)
        ),
        evidence: format!(
            "nothing acknowledged on it for {cover_s:.3} s with data in flight; events: {timeouts} timeout"
        ),
        remedy: "a path manager that suspends silent paths, or a larger receive buffer so that the other paths go on meanwhile",
    })
}

/// Whether all of some subflows were dead in most of these times, too: their timers had run out.
fn all_silent(case: &Case, timeline: &Timeline, subflows: &[usize], bins: &[usize]) -> bool {
    subflows.iter().all(|&subflow| {
        let proven = |silent: &Range<usize>| {
            let [from_s, to_s] = [silent.start, silent.end].map(|index| case.seconds(timeline, index));
            timeouts(case, timeline, subflow, from_s, to_s) > 0
        };
        let silent: Vec<usize> = silences(case, timeline, subflow).into_iter().filter(proven).flatten().collect();
        bins.iter().filter(|index| silent.contains(index)).count() * 2 > bins.len()
    })
}

/// Time-outs of a subflow in a span.
fn timeouts(case: &Case, timeline: &Timeline, subflow: usize, from_s: f64, to_s: f64) -> usize {
    let all = timeline.flows[subflow].timeouts.iter();
    all.filter(|at| (from_s..=to_s).contains(&case.at(**at))).count()
}

/// No path was left that went on.
fn all_dead(case: &mut Case, timeline: &Timeline) -> Option<Found> {
    let (mut lost_s, mut span, mut longest): (f64, Option<(f64, f64)>, (f64, usize)) = Default::default();
    let mut timeouts_seen = 0;
    for stop in stops(case, timeline) {
        let (from_s, to_s) = (case.seconds(timeline, stop.start), case.seconds(timeline, stop.end));
        let there = |subflow: &usize| {
            let row = &case.report.subflows[*subflow];
            row.start_s < from_s && row.end_s > from_s
        };
        let there: Vec<usize> = case.established().into_iter().filter(there).collect();
        let middle = stop.start + stop.len() / 2;
        let is_dead = |&subflow: &usize| {
            let silent = silences(case, timeline, subflow);
            silent.into_iter().any(|silent| silent.contains(&middle))
        };
        let dead: Vec<usize> = there.iter().copied().filter(is_dead).collect();
        if dead.is_empty() || dead.len() < there.len() {
            continue;
        }
        if let Cost::Seconds(claimed_s) = case.claim(from_s, to_s, to_s - from_s) {
            lost_s += claimed_s;
        }
        let timed =
            dead.iter().map(|&subflow| timeouts(case, timeline, subflow, from_s - DEAD_S, to_s)).max().unwrap_or(0);
        timeouts_seen = timeouts_seen.max(timed);
        span = Some((span.map_or(from_s, |span| span.0), to_s));
        if to_s - from_s > longest.0 {
            longest = (to_s - from_s, dead[0]);
        }
    }
    let (from_s, to_s) = span?;
    let name = case.name(longest.1);
    let chain = timeouts_seen >= 2;
    Some(Found {
        kind: if chain { "timeout_chain" } else { "outage" },
        subflow: Some(longest.1),
        from_s,
        to_s,
        cost: Cost::Seconds(lost_s),
        confidence: if timeouts_seen > 0 { 0.9 } else { 0.6 },
        message: if chain {
            format!(
                "{name} stood still from {} to {} and no other path went on: {timeouts_seen} retransmission time-outs, each twice as long \
                 as the one before, {} lost",
                s(from_s),
                s(to_s),
                s(lost_s)
            )
        } else {
            format!("nothing came over any path between {} and {}: {} lost", s(from_s), s(to_s), s(lost_s))
        },
        evidence: format!(
            "nothing acknowledged for up to {:.3} s with data in flight; events: {timeouts_seen} timeout",
            longest.0
        ),
        remedy: "a second path that fails at other times; where the outage was shorter than the wait, a limit on the back-off (net.ipv4.tcp_rto_max_ms)",
    })
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
        let others = case
            .established()
            .into_iter()
            .any(|other| other != subflow && came(other, to_s - timeline.width_s(), to_s + LEAST_S));
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
