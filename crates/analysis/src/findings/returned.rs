//! A path that was dead answered again, and was hardly used for long.

use super::case::{Case, Cost, Found, span};
use super::idle;
use super::remedies::{GUARD_RETURNS, Remedy::Said};
use std::ops::Range;

/// A path was away when it was silent for so long with data in flight.
const AWAY_S: f64 = 1.0;
/// It is used again at this part of its earlier rate; longer than that without is worth telling.
const USED: f64 = 0.1;
const LEAST_S: f64 = 2.0;
/// A path that carried less before is not missed.
const LEAST_PART: f64 = 0.1;

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    let Some(timeline) = case.sender.filter(|_| case.is_whole()) else { return Vec::new() };
    if case.established().len() < 2 || case.best_rate <= 0.0 {
        return Vec::new();
    }
    let second = (1.0 / timeline.width_s()).ceil() as usize;
    let idle_s = idle::of_application(case, timeline);
    let mut found = Vec::new();
    for subflow in case.established() {
        let rate = timeline.rate(subflow);
        if rate < LEAST_PART * case.best_rate {
            continue;
        }
        let over_s = case.report.subflows[subflow].end_s.min(case.end_s());
        let bins = timeline.index_at(over_s - case.seconds(timeline, 0));
        for silent in case.silences[subflow].clone() {
            let back = silent.end;
            if (silent.len() as f64 * timeline.width_s()) < case.patience_s(subflow, AWAY_S)
                || !timeline.of(subflow, back).answered
            {
                continue;
            }
            // An end that opened another subflow over the path uses it.
            let same_path = case.same_path(subflow);
            let carried =
                |span: Range<usize>| same_path.iter().map(|&one| timeline.bytes(one, span.clone())).sum::<f64>();
            let used = (back..bins).find(|&index| {
                let to = (index + second).min(bins);
                carried(index..to) >= USED * rate * (to - index) as f64 * timeline.width_s()
            });
            let used = used.unwrap_or(bins);
            let (from_s, to_s) = (case.seconds(timeline, back), case.seconds(timeline, used).min(over_s));
            // Where there is nothing to send, nobody misses it.
            let missed_s = to_s - from_s - idle_s[back.min(used)..used].iter().sum::<f64>();
            if missed_s < LEAST_S {
                continue;
            }
            // Of all that is known of the connection's rate, what it had before is nearest to what it would have had.
            let before = timeline.rate_of_all(0..silent.start);
            let cost = Cost::Seconds(case.lost.claim_at(from_s, to_s, before, missed_s));
            let name = case.name(subflow);
            let [from, to] = span(from_s, to_s);
            found.push(Found {
                kind: "path_back_unused",
                subflow: Some(subflow),
                from_s,
                to_s,
                cost,
                confidence: 0.6,
                message: format!("{name} answered again at {from}, but carried almost nothing until {to}"),
                evidence: format!(
                    "acknowledgements on it from {from_s:.3} s on; until then less than {:.0} % of its earlier rate",
                    USED * 100.0
                ),
                remedy: &[GUARD_RETURNS, Said("by hand: remove the endpoint and add it again (ip mptcp endpoint)")],
            });
        }
    }
    found
}
