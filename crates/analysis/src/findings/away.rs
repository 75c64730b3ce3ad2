//! When a path was away, and what that cost: with it, the connection would have gone on at the rate that it had with all its paths.

use super::case::Case;
use super::idle;
use crate::timeline::Timeline;
use std::ops::Range;

/// Rates are those over so long. From this part of the usual one on the connection has begun, and from that part on it has recovered.
const OVER_S: f64 = 0.2;
const BEGUN: f64 = 0.5;
const RECOVERED: f64 = 0.8;
/// What comes later is no recovery: after time-outs a window grows again over so many round trips.
const RECOVERY_S: f64 = 2.0;
const RECOVERY_ROUND_TRIPS: f64 = 40.0;
/// A shorter time with all paths tells no rate, nor one of fewer round trips.
const LEAST_S: f64 = 0.3;
const LEAST_ROUND_TRIPS: f64 = 10.0;
/// A path that carried a smaller part is not missed.
const LEAST_PART: f64 = 0.05;

/// Times in which a subflow's path brought nothing: silent until a time-out and longer, or withdrawn until it was joined anew.
pub(super) fn away(case: &Case, timeline: &Timeline, subflow: usize) -> Vec<Range<usize>> {
    let timed_out = |silent: &Range<usize>| silent.clone().any(|index| timeline.of(subflow, index).timeouts > 0);
    let long = &case.silences[subflow];
    let is_new = |short: &Range<usize>| long.iter().all(|one| one.end <= short.start || short.end <= one.start);
    let short = case.short_silences[subflow].iter().filter(|short| is_new(short));
    let mut spans: Vec<Range<usize>> = long.iter().chain(short).filter(|silent| timed_out(silent)).cloned().collect();
    let Some(mut gone) = gone(case, timeline, subflow) else { return spans };
    spans.retain(|silent| {
        let apart = silent.end <= gone.start || silent.start >= gone.end;
        gone.start = if apart { gone.start } else { gone.start.min(silent.start) };
        apart
    });
    spans.push(gone);
    spans
}

/// When a subflow's address was withdrawn, until another one over its path had joined.
fn gone(case: &Case, timeline: &Timeline, subflow: usize) -> Option<Range<usize>> {
    let gone_s = case.withdrawn_s(subflow).filter(|&at_s| at_s < case.end_s())?;
    let anew = case.same_path(subflow).into_iter().map(|other| &case.report.subflows[other]);
    let back_s =
        anew.filter(|row| row.start_s > gone_s).map(|row| row.start_s + row.handshake_rtt_ms.unwrap_or(0.0) / 1e3);
    let place = |at_s: f64| timeline.place(at_s - case.seconds(timeline, 0));
    let gone = place(gone_s)..place(back_s.fold(case.end_s(), f64::min));
    let missed = timeline.rate(subflow) >= LEAST_PART * case.best_rate;
    // What was on its way comes, and no more.
    let later = place(gone_s + case.patience_s(subflow, OVER_S))..gone.end;
    (missed && !gone.is_empty() && timeline.bytes(subflow, later) == 0.0).then_some(gone)
}

/// What the connection carried while all its paths were there, bytes per second.
pub(super) fn rate(case: &Case, timeline: &Timeline) -> f64 {
    let over = over(timeline);
    let recovery = (recovery_s(case) / timeline.width_s()) as usize;
    let away: Vec<Range<usize>> =
        case.established().into_iter().flat_map(|subflow| away(case, timeline, subflow)).collect();
    let first = timeline.place(case.begin_s - case.seconds(timeline, 0));
    let last = timeline.place(case.end_s() - case.seconds(timeline, 0));
    let came = |from: usize| (from..(from + over).min(last)).map(|index| timeline.came(index)).sum::<f64>();
    let begun = BEGUN * case.best_rate * over as f64 * timeline.width_s();
    let begin = (first..last).find(|&from| came(from) >= begun).unwrap_or(first);
    let is_there = |index: &usize| {
        timeline.whole[*index].idle_us == 0
            && !away.iter().any(|span| span.start <= *index && *index < span.end + recovery)
    };
    let there: Vec<usize> = (begin..last).filter(is_there).collect();
    let there_s = there.len() as f64 * timeline.width_s();
    if there_s < LEAST_S.max(LEAST_ROUND_TRIPS * rtt_s(case)) {
        return case.best_rate.max(timeline.best(|index| timeline.came(index)));
    }
    there.into_iter().map(|index| timeline.came(index)).sum::<f64>() / there_s
}

/// Claims what a span cost, and the time in which the connection recovered from it: no more than what others waited, and a path that
/// carries so much would have brought.
pub(super) fn claim(
    case: &mut Case,
    timeline: &Timeline,
    span: &Range<usize>,
    rate: f64,
    own: f64,
    waited_s: f64,
) -> f64 {
    let over = over(timeline);
    let idle_s = idle::of_application(case, timeline);
    let end = timeline.place(case.end_s() - case.seconds(timeline, 0));
    let recovered = |from: &usize| {
        let to = (from + over).min(end);
        (*from..to).map(|index| timeline.came(index)).sum::<f64>()
            >= RECOVERED * rate * (to - from) as f64 * timeline.width_s()
    };
    let latest = (span.end + (recovery_s(case) / timeline.width_s()) as usize).min(end);
    let to = (span.end.min(latest)..latest).find(recovered).unwrap_or(latest).max(span.start);
    let [from_s, to_s] = [span.start, to].map(|index| case.seconds(timeline, index));
    let idle_s: f64 = idle_s[span.start..to].iter().sum();
    let most_s = waited_s + (to_s - from_s) * own / rate;
    let carried_s = (span.start..to).map(|index| timeline.came(index)).sum::<f64>() / rate;
    case.lost.claim_at(from_s, to_s, rate, (to_s - from_s - carried_s - idle_s).min(most_s).max(0.0))
}

fn recovery_s(case: &Case) -> f64 {
    RECOVERY_S.max(RECOVERY_ROUND_TRIPS * rtt_s(case))
}

/// The longest of its paths' usual round trips.
pub(super) fn rtt_s(case: &Case) -> f64 {
    let rtt_ms = case.report.flows.iter().filter_map(|rows| rows[case.direction as usize].rtt_ms_median);
    rtt_ms.fold(0.0, f64::max) / 1e3
}

fn over(timeline: &Timeline) -> usize {
    (OVER_S / timeline.width_s()).ceil() as usize
}
