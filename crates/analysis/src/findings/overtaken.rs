//! Paths that fell silent, as the receiver saw it: which one it was shows only where data had overtaken what was on it.

use super::away;
use super::case::{Case, Cost, Found, SILENT_S, s, span};
use super::remedies::GUARD;
use super::stops::{LEAST_S, NOTHING, stops};
use crate::timeline::Timeline;
use std::ops::Range;

/// At the receiver: a path brought data throughout where it did so in this part of the short times of so long, and carried this part
/// of all; what is lost on it is missed for longer than this, a time-out.
const STEADY_S: f64 = 1.0;
const STEADY: f64 = 0.5;
const LEAST_PART: f64 = 0.05;
const LEAST_GAP_S: f64 = 0.2;

/// The receiver sees which path fell silent only where data had overtaken what was on it, and not what it would have carried besides.
pub(super) fn at_receiver(case: &mut Case, timeline: &Timeline) -> Vec<Found> {
    let mut found = overtaken(case, timeline);
    for stop in stops(case, timeline) {
        let (from_s, to_s) = (case.seconds(timeline, stop.start), case.seconds(timeline, stop.end));
        let span = |from_s: f64, to_s: f64| {
            let begin_s = case.seconds(timeline, 0);
            timeline.index_at(from_s - begin_s)..timeline.index_at(to_s - begin_s)
        };
        let came = |subflow: usize, from_s: f64, to_s: f64| timeline.bytes(subflow, span(from_s, to_s)) > 0.0;
        let silent: Vec<usize> = case
            .established()
            .into_iter()
            .filter(|&subflow| came(subflow, from_s - 2.0, from_s) && !came(subflow, from_s, to_s + LEAST_S))
            .collect();
        let [subflow] = silent[..] else { continue };
        if found.iter().any(|one: &Found| one.subflow == Some(subflow) && one.from_s < to_s && from_s < one.to_s) {
            continue;
        }
        let others = case
            .established()
            .into_iter()
            .any(|other| other != subflow && came(other, to_s - timeline.width_s(), to_s + LEAST_S));
        let waited_s: f64 = stop.clone().map(|index| waited_s(timeline, subflow, index)).sum();
        if waited_s < (to_s - from_s) / 2.0 || !others || to_s - from_s < case.patience_s(subflow, SILENT_S) {
            continue;
        }
        let rate = away::rate_beside(case, timeline, std::slice::from_ref(&stop)).of_all;
        let lost_s = away::claim(case, timeline, &stop, rate, timeline.rate(subflow), waited_s);
        found.push(path_dead(
            (subflow, from_s, to_s, lost_s),
            format!(
                "{} delivered nothing from {} on; data of the other paths waited for data that was on it: at least {} lost",
                case.name(subflow),
                s(from_s),
                s(lost_s)
            ),
            format!("nothing arrived from {from_s:.3} s to {to_s:.3} s, then another subflow filled the gap"),
        ));
    }
    found
}

/// How long data waited in a short time, but for what another path was slow to bring, or had lost itself.
fn waited_s(timeline: &Timeline, subflow: usize, index: usize) -> f64 {
    let others = (0..timeline.flows.len()).filter(|&other| other != subflow);
    let for_others: f64 = others.map(|other| timeline.of(other, index).held_s()).sum();
    f64::from(timeline.whole[index].waited_us) / 1e6 - for_others
}

/// Paths that brought data throughout, fell silent, and held up others, which went on: another brought what was missing, or they did
/// themselves, later.
fn overtaken(case: &mut Case, timeline: &Timeline) -> Vec<Found> {
    let silences = silences(case, timeline);
    let spans: Vec<Range<usize>> = silences.iter().map(|(_, silent, _)| silent.clone()).collect();
    let rate = away::rate_beside(case, timeline, &spans).of_all;
    let mut found = Vec::new();
    for (subflow, silent, waited_s) in silences {
        let time = away::until_recovered(case, timeline, &silent, rate);
        let [from_s, to_s] = [silent.start, silent.end].map(|index| case.seconds(timeline, index));
        let lost_s = away::claim(case, timeline, &time, rate, timeline.rate(subflow), waited_s);
        let [from, to] = span(from_s, to_s);
        found.push(path_dead(
            (subflow, from_s, to_s, lost_s),
            format!(
                "{} delivered nothing from {from} to {}; data of the other paths waited {} of that for data that was on it: at least {} lost",
                case.name(subflow),
                if to_s + 0.1 >= case.end_s() { "the end" } else { &to },
                s(waited_s),
                s(lost_s)
            ),
            format!(
                "nothing arrived over it from {from_s:.3} s to {to_s:.3} s, after it had brought data throughout; data of others that had arrived waited for {waited_s:.3} s from then on"
            ),
        ));
    }
    found
}

/// A subflow was silent from one time to another, and so much was lost with it.
fn path_dead((subflow, from_s, to_s, lost_s): (usize, f64, f64, f64), message: String, evidence: String) -> Found {
    Found {
        kind: "path_dead",
        subflow: Some(subflow),
        from_s,
        to_s,
        cost: Cost::AtLeast(lost_s),
        confidence: 0.6,
        message,
        evidence,
        remedy: &[GUARD],
    }
}

/// When each of them was silent, and for how long data of others waited for it.
fn silences(case: &Case, timeline: &Timeline) -> Vec<(usize, Range<usize>, f64)> {
    let width_s = timeline.width_s();
    let bins = |seconds: f64| (seconds / width_s).ceil() as usize;
    let (end, soon, before) =
        (timeline.index_at(case.end_s() - case.seconds(timeline, 0)), bins(LEAST_S), bins(STEADY_S));
    let mut found = Vec::new();
    for subflow in case.established() {
        if timeline.rate(subflow) < LEAST_PART * case.best_rate {
            continue;
        }
        let brings = |index: usize| timeline.of(subflow, index).came_bytes > 0;
        let brought: Vec<usize> = (0..end).filter(|&index| brings(index)).collect();
        let nexts = brought.iter().skip(1).copied().chain([end]);
        let spans: Vec<Range<usize>> = brought.iter().zip(nexts).map(|(&last, next)| last + 1..next).collect();
        for silent in spans {
            let least_s = case.patience_s(subflow, SILENT_S);
            let steady = silent.start.saturating_sub(before)..silent.start;
            let often = steady.clone().filter(|&index| brings(index)).count() as f64;
            if (silent.len() as f64) * width_s < least_s || steady.len() < before || often < STEADY * before as f64 {
                continue;
            }
            let waited = |index: usize| waited_s(timeline, subflow, index);
            let waits = (silent.start..silent.end.min(silent.start + soon)).find(|&index| waited(index) > 0.0);
            let waited_s: f64 =
                waits.map_or(0.0, |first| (first..silent.end).map(waited).take_while(|&waited_s| waited_s > 0.0).sum());
            let others = timeline.rate_of_all(silent.clone()) > NOTHING * case.best_rate;
            if waited_s < LEAST_GAP_S || !others || case.was_left(subflow) {
                continue;
            }
            found.push((subflow, silent, waited_s));
        }
    }
    found
}
