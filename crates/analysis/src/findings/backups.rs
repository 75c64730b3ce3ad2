//! Backup paths: used while a regular one worked, or idle while none did.

use super::case::{Case, Cost, Found, s};
use super::remedies::{AS_REGULAR, GUARD, Remedy::Said};
use crate::timeline::Timeline;
use std::ops::Range;

const LEAST_PART: f64 = 0.05;
const LEAST_S: f64 = 1.0;
/// A backup is due when a time-out shows that no regular path is left.
const DUE_S: f64 = 0.5;

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    let Some(timeline) = case.sender.or(case.receiver).filter(|_| case.is_whole() && case.main) else {
        return Vec::new();
    };
    let is_backup = |subflow: &usize| case.report.subflows[*subflow].backup;
    let (backup, regular): (Vec<usize>, Vec<usize>) = case.established().into_iter().partition(is_backup);
    if backup.is_empty() || regular.is_empty() {
        return Vec::new();
    }
    let mut found = unused(case, &backup, &regular);
    found.extend(used(case, timeline, &backup, &regular));
    found
}

/// Idle while all regular subflows were silent with data in flight.
fn unused(case: &mut Case, backup: &[usize], regular: &[usize]) -> Vec<Found> {
    let Some(timeline) = case.sender else { return Vec::new() };
    let mut found = Vec::new();
    for silent in case.silences[regular[0]].clone() {
        let rest = |&subflow: &usize| case.silences[subflow].iter().any(|other| overlap(other, &silent));
        if !regular[1..].iter().all(rest) {
            continue;
        }
        // From the first time on after which no backup carried anything.
        let carried = |index: usize| backup.iter().any(|&subflow| timeline.of(subflow, index).came_bytes > 0);
        let until = silent.clone().find(|&index| carried(index)).unwrap_or(silent.end);
        let [from_s, to_s] = [silent.start, until].map(|index| case.seconds(timeline, index));
        let joined = |&subflow: &usize| case.report.subflows[subflow].start_s < from_s;
        if to_s - from_s < case.patience_s(regular[0], DUE_S) || !backup.iter().any(joined) {
            continue;
        }
        let lost_s = case.lost.claim(from_s, to_s, to_s - from_s);
        // What it would have carried shows only where it carried anything.
        let rate = backup.iter().map(|&subflow| timeline.rate(subflow)).fold(0.0, f64::max);
        let cost = match rate > 0.0 && case.best_rate > 0.0 {
            true => Cost::Seconds(lost_s * (rate / case.best_rate).min(1.0)),
            false => Cost::Unknown,
        };
        let (name, failed) = (case.name(backup[0]), case.name(regular[0]));
        found.push(Found {
            kind: "backup_unused",
            subflow: Some(backup[0]),
            from_s,
            to_s,
            cost,
            confidence: 0.9,
            message: format!("{failed} delivered nothing for {}, and {name}, a backup, stayed idle", s(to_s - from_s)),
            evidence: format!(
                "from {from_s:.3} s nothing was acknowledged on {failed} with data in flight; nothing was sent over {name} until {to_s:.3} s"
            ),
            remedy: &[GUARD, AS_REGULAR],
        });
    }
    found
}

fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

/// Used while a regular subflow worked.
fn used(case: &Case, timeline: &Timeline, backup: &[usize], regular: &[usize]) -> Vec<Found> {
    let came = |subflows: &[usize], index: usize| -> f64 {
        subflows.iter().map(|&subflow| f64::from(timeline.of(subflow, index).came_bytes)).sum()
    };
    let both: Vec<usize> =
        (0..timeline.whole.len()).filter(|&index| came(backup, index) > 0.0 && came(regular, index) > 0.0).collect();
    let wrong: f64 = both.iter().map(|&index| came(backup, index)).sum();
    let span_s = both.len() as f64 * timeline.width_s();
    if wrong < LEAST_PART * case.bytes as f64 || span_s < LEAST_S.min(case.elapsed_s / 2.0) {
        return Vec::new();
    }
    let [first, last] = [both[0], both[both.len() - 1]].map(|index| case.seconds(timeline, index));
    vec![Found {
        kind: "backup_used",
        subflow: Some(backup[0]),
        from_s: first,
        to_s: last + timeline.width_s(),
        cost: Cost::Unknown,
        confidence: 0.9,
        message: format!(
            "{} is a backup, but carried {:.0} % of the data while {} worked, during {}",
            case.name(backup[0]),
            wrong * 100.0 / case.bytes as f64,
            case.name(regular[0]),
            s(span_s)
        ),
        evidence: format!(
            "its subflow is marked as a backup, and carried {wrong:.0} bytes at times at which a regular one carried data, too"
        ),
        remedy: &[Said(
            "set the backup flag at the side that sends (ip mptcp endpoint change … backup): each side decides only about what it sends",
        )],
    }]
}
