//! When a path was away, and what that cost: with it, the connection would have gone on at the rate that it had with all its paths.

use super::case::Case;
use super::idle;
use crate::timeline::Timeline;
use std::iter;
use std::ops::Range;

/// Rates are those over so long, and over so many round trips. From this part of the usual one on the connection has begun, and from
/// that part on it has recovered.
const OVER_S: f64 = 0.2;
const OVER_ROUND_TRIPS: f64 = 2.0;
const BEGUN: f64 = 0.5;
const RECOVERED: f64 = 0.8;
/// What comes later is no recovery: after time-outs a window grows again over so many round trips.
const RECOVERY_S: f64 = 2.0;
const RECOVERY_ROUND_TRIPS: f64 = 40.0;
/// A shorter time with all paths tells no rate, nor one of fewer round trips.
const LEAST_S: f64 = 0.3;
const LEAST_ROUND_TRIPS: f64 = 10.0;
/// Where messages come one after the other, so many round trips of them tell.
const LEAST_EXCHANGED: f64 = 2.0;
/// Then a path carries what it carried over so long and so many round trips.
const BEST_S: f64 = 1.0;
const BEST_ROUND_TRIPS: f64 = 4.0;
/// A path is much slower than one that carries so many times as much; data waits for it where it does so for this part of the time.
const MUCH_SLOWER: f64 = 6.0;
const WAITED_PART: f64 = 0.25;
/// Beside one that is so many times slower, chance decides for how long.
const FAR_SLOWER: f64 = 20.0;
/// A path is left that carries this part of what it carried, and loses so much.
const LEFT: f64 = 0.25;
const LOSES_PERCENT: f64 = 0.35;
/// A sender that has more to send keeps more than this part of what was in flight a round trip before.
const SHRUNK: f64 = 0.5;
/// What shows a time-out to be spurious comes so many round trips later at most.
const HELD_ROUND_TRIPS: f64 = 2.0;
/// What a subflow carried over so long before an outage shows whether data was on it.
const BEFORE_S: f64 = 1.0;
/// A path that carried a smaller part is not missed.
const LEAST_PART: f64 = 0.05;

/// Times in which a subflow's path brought nothing: silent until a time-out and longer, or withdrawn until it was joined anew.
pub(super) fn away(case: &Case, timeline: &Timeline, subflow: usize) -> Vec<Range<usize>> {
    let timed_out = |silent: &Range<usize>| timeouts(timeline, subflow, silent.clone()).0 > 0;
    let long = &case.silences[subflow];
    let is_new = |short: &Range<usize>| long.iter().all(|one| one.end <= short.start || short.end <= one.start);
    let short = case.short_silences[subflow]
        .iter()
        .filter(|short| is_new(short) && !is_lost_tail(case, timeline, subflow, short));
    let mut spans: Vec<Range<usize>> = long.iter().chain(short).filter(|silent| timed_out(silent)).cloned().collect();
    for mut gone in gone(case, timeline, subflow) {
        spans.retain(|silent| {
            let apart = silent.end <= gone.start || silent.start >= gone.end;
            gone.start = if apart { gone.start } else { gone.start.min(silent.start) };
            apart
        });
        spans.push(gone);
    }
    spans
}

/// Whether one time-out ended a short silence, and the sender had little to send: soon after, nothing, or on this path nothing more
/// already while the last answers came. Then the end of what was sent was lost, which a queue that overflows in slow start does as
/// well as a path that is dead.
fn is_lost_tail(case: &Case, timeline: &Timeline, subflow: usize, silent: &Range<usize>) -> bool {
    let (timeouts, _) = timeouts(timeline, subflow, silent.clone());
    let bins = |seconds: f64| (seconds / timeline.width_s()).ceil() as usize;
    let soon = silent.end + bins(case.patience_s(subflow, 0.0));
    let is_all = || timeline.whole[silent.end..soon.min(timeline.whole.len())].iter().any(|bin| bin.idle_us > 0);
    let before = |round_trips: f64| {
        let from = silent.start.saturating_sub(bins(case.waits_s(subflow, 0.0, round_trips)) + 1);
        (from..silent.start).map(|index| timeline.of(subflow, index))
    };
    let shrank = || {
        let most = before(1.0).map(|bin| bin.left_bytes).max();
        let last = before(1.0).map(|bin| bin.left_bytes).rfind(|&left| left > 0);
        // What came around a loss is acknowledged all at once, a round trip after that was sent again.
        let in_order = before(2.0).all(|bin| bin.resent == 0);
        in_order && last.zip(most).is_some_and(|(last, most)| f64::from(last) < SHRUNK * f64::from(most))
    };
    timeouts <= 1 && (is_all() || shrank())
}

/// Time-outs of a subflow in a span, and those of them that came after a longer silence than the one before.
pub(super) fn timeouts(timeline: &Timeline, subflow: usize, span: Range<usize>) -> (usize, usize) {
    span.map(|index| timeline.of(subflow, index)).fold((0, 0), |(timeouts, backed_off), bin| {
        (timeouts + usize::from(bin.timeouts), backed_off + usize::from(bin.backed_off))
    })
}

/// When a subflow's address was withdrawn, until another one over its path had joined, but for when an old one brought what was
/// left on it.
pub(super) fn gone(case: &Case, timeline: &Timeline, subflow: usize) -> Vec<Range<usize>> {
    let Some(gone_s) = case.withdrawn_s(subflow).filter(|&at_s| at_s < case.end_s()) else { return Vec::new() };
    let same_path = case.same_path(subflow);
    let anew = same_path.iter().map(|&other| &case.report.subflows[other]);
    let back_s =
        anew.filter(|row| row.start_s > gone_s).map(|row| row.start_s + row.handshake_rtt_ms.unwrap_or(0.0) / 1e3);
    let index_at = |at_s: f64| timeline.index_at(at_s - case.seconds(timeline, 0));
    let gone = index_at(gone_s)..index_at(back_s.fold(case.end_s(), f64::min));
    // One that was silent before did not work.
    let before = index_at(gone_s - OVER_S);
    let was_silent = case.short_silences[subflow].iter().any(|one| one.start < before && before < one.end);
    let missed = timeline.rate(subflow) >= LEAST_PART * case.best_rate && (was_silent || !case.was_left(subflow));
    if !missed || gone.is_empty() {
        return Vec::new();
    }
    // What was on its way comes.
    let later = index_at(gone_s + case.patience_s(subflow, OVER_S))..gone.end;
    let least = later.start - gone.start;
    let brought: Vec<usize> =
        later.filter(|&index| same_path.iter().any(|&one| timeline.of(one, index).came_bytes > 0)).collect();
    if brought.is_empty() {
        return vec![gone];
    }
    let begins = iter::once(gone.start).chain(brought.iter().map(|index| index + 1));
    let spans = begins.zip(brought.iter().copied().chain([gone.end])).map(|(from, to)| from..to);
    spans.filter(|span| span.len() > least).collect()
}

/// What the connection carries while all its paths are there.
#[derive(Clone, Copy)]
pub(super) struct Rate {
    /// Bytes per second.
    pub(super) of_all: f64,
    pub(super) certainty: Certainty,
}

/// What is known of what an outage cost.
#[derive(Clone, Copy)]
pub(super) enum Certainty {
    Known,
    /// It may be more: a path never was full.
    AtLeast,
    Unknown,
}

/// What the connection carried while all its paths were there, as its sender saw it.
pub(super) fn rate(case: &Case, timeline: &Timeline) -> Rate {
    let away: Vec<Range<usize>> =
        case.established().into_iter().flat_map(|subflow| away(case, timeline, subflow)).collect();
    rate_beside(case, timeline, &away)
}

/// The same beside these times; where what is left is too short, what each carried at best.
pub(super) fn rate_beside(case: &Case, timeline: &Timeline, away: &[Range<usize>]) -> Rate {
    let over = over(case, timeline);
    let recovery = (recovery_s(case) / timeline.width_s()) as usize;
    let first = timeline.index_at(case.begin_s - case.seconds(timeline, 0));
    let last = timeline.index_at(case.end_s() - case.seconds(timeline, 0));
    let came = |from: usize| (from..(from + over).min(last)).map(|index| timeline.came(index)).sum::<f64>();
    let begun = BEGUN * case.best_rate * over as f64 * timeline.width_s();
    let begin = (first..last).find(|&from| came(from) >= begun).unwrap_or(first);
    let is_there = |index: &usize| !away.iter().any(|span| span.start <= *index && *index < span.end + recovery);
    let (there, paused): (Vec<usize>, Vec<usize>) =
        (begin..last).filter(is_there).partition(|&index| timeline.whole[index].idle_us == 0);
    let there_s = there.len() as f64 * timeline.width_s();
    let there_rate = there.iter().map(|&index| timeline.came(index)).sum::<f64>() / there_s.max(timeline.width_s());
    if there_s < LEAST_S.max(LEAST_ROUND_TRIPS * rtt_s(case)) {
        let mut of_all = case.best_rate.max(timeline.best(|index| timeline.came(index)));
        // A sender that pauses between messages has rates over longer times that are not those of the paths.
        let pauses = timeline.whole[begin..last].iter().any(|bin| bin.idle_us > 0);
        if pauses && there_s >= LEAST_EXCHANGED * rtt_s(case) {
            of_all = of_all.max(there_rate);
        }
        // Those of the time in which an answer, or its request, was on its way are what an outage takes.
        let idle_s = idle::of_application(case, timeline);
        let active = || there.iter().chain(&paused).copied();
        let active_s: f64 = active().map(|index| timeline.width_s() - idle_s[index]).sum();
        if idle_s.iter().any(|&idle_s| idle_s > 0.0) && active_s >= LEAST_EXCHANGED * rtt_s(case) {
            of_all = of_all.max(active().map(|index| timeline.came(index)).sum::<f64>() / active_s);
        }
        // What a window allows, paths share.
        let each = if case.window_bound { 0.0 } else { best_of_each(case, timeline) };
        let certainty = if case.has_room() { Certainty::AtLeast } else { Certainty::Known };
        return Rate { of_all: of_all.max(each), certainty };
    }
    Rate { of_all: there_rate, certainty: Certainty::Known }
}

/// Whether data waited for a path that is much slower than another, be it for what that lost, as far as the receiver was captured, so
/// that neither's capacity was what limited the connection: how fast it would have gone on is unknown.
pub(super) fn is_out_of_order(case: &Case, rates: &[f64]) -> bool {
    let most = rates.iter().copied().fold(0.0, f64::max);
    let waited_s = |subflow: usize| -> f64 {
        let Some(receiver) = case.receiver else { return f64::INFINITY };
        (0..receiver.whole.len()).map(|index| receiver.of(subflow, index).held_s()).sum()
    };
    let holds_up = |subflow: usize| {
        rates[subflow] * FAR_SLOWER <= most
            || rates[subflow] * MUCH_SLOWER <= most && waited_s(subflow) >= WAITED_PART * case.elapsed_s
    };
    case.established().into_iter().filter(|&subflow| rates[subflow] > 0.0).any(holds_up)
}

/// Whether another path that loses packets was left for good when this one was back: its congestion control, if coupled, gives it
/// up beside one that loses nothing. Without the outage that would have come sooner or later, and how fast it is meanwhile, nothing
/// tells.
pub(super) fn leaves_another(case: &Case, timeline: &Timeline, subflow: usize) -> bool {
    let spans = away(case, timeline, subflow);
    let index_at = |at_s: f64| timeline.index_at(at_s - case.seconds(timeline, 0));
    let (begin, end) = (index_at(case.begin_s), index_at(case.end_s()));
    let from = spans.iter().map(|span| span.start).min().unwrap_or(end);
    let to = spans.iter().map(|span| span.end).max().unwrap_or(end);
    if from <= begin || (end.saturating_sub(to)) as f64 * timeline.width_s() < BEST_S {
        return false;
    }
    case.established().into_iter().filter(|&other| other != subflow).any(|other| {
        let rate = |span: Range<usize>| timeline.bytes(other, span.clone()) / (span.len() as f64 * timeline.width_s());
        let loss = case.report.flows[other][case.direction as usize].loss_rate_percent;
        let before = rate(begin..from);
        before >= LEAST_PART * case.best_rate
            && rate(to..end) < LEFT * before
            && loss.is_some_and(|percent| percent >= LOSES_PERCENT)
            && away(case, timeline, other).is_empty()
    })
}

/// The most that each path carried over some round trips, together; subflows over one path carry what it does, one after another
/// as well.
fn best_of_each(case: &Case, timeline: &Timeline) -> f64 {
    let over = (BEST_S.max(BEST_ROUND_TRIPS * rtt_s(case)) / timeline.width_s()).ceil() as usize;
    let best = |subflows: Vec<usize>| {
        let came = |index| subflows.iter().map(|&one| f64::from(timeline.of(one, index).came_bytes)).sum();
        let bytes: Vec<f64> = (0..timeline.whole.len()).map(came).collect();
        bytes.windows(over).map(|window| window.iter().sum::<f64>()).fold(0.0, f64::max)
    };
    let mut paths: Vec<Vec<usize>> = case.established().into_iter().map(|subflow| case.same_path(subflow)).collect();
    paths.sort_unstable();
    paths.dedup();
    paths.into_iter().map(best).sum::<f64>() / (over as f64 * timeline.width_s())
}

/// From when a span begins to when the connection has recovered from it.
pub(super) fn until_recovered(case: &Case, timeline: &Timeline, span: &Range<usize>, rate: f64) -> Range<usize> {
    let over = over(case, timeline);
    let end = timeline.index_at(case.end_s() - case.seconds(timeline, 0));
    let recovered = |from: &usize| {
        let to = (from + over).min(end);
        (*from..to).map(|index| timeline.came(index)).sum::<f64>()
            >= RECOVERED * rate * (to - from) as f64 * timeline.width_s()
    };
    let latest = (span.end + (recovery_s(case) / timeline.width_s()) as usize).min(end);
    span.start..(span.end.min(latest)..latest).find(recovered).unwrap_or(latest).max(span.start)
}

/// Claims what a time cost in which a path was away and the connection recovered: no more than what others waited, and a path that
/// carries so much would have brought.
pub(super) fn claim(
    case: &mut Case,
    timeline: &Timeline,
    time: &Range<usize>,
    rate: f64,
    own: f64,
    waited_s: f64,
) -> f64 {
    let idle_s = idle::of_application(case, timeline);
    let [from_s, to_s] = [time.start, time.end].map(|index| case.seconds(timeline, index));
    let idle_s: f64 = idle_s[time.clone()].iter().sum();
    let most_s = waited_s + (to_s - from_s) * own / rate;
    let carried_s = time.clone().map(|index| timeline.came(index)).sum::<f64>() / rate;
    let begins_s = begins_s(case, timeline, time.start, rate);
    case.lost.claim_at(from_s, to_s, rate, (to_s - from_s - carried_s - idle_s - begins_s).min(most_s).max(0.0))
}

/// What slow start would have taken until the rate was there, less what comes meanwhile: it doubles each round trip.
fn begins_s(case: &Case, timeline: &Timeline, at: usize, rate: f64) -> f64 {
    let least_ms = case.report.flows.iter().filter_map(|rows| rows[case.direction as usize].rtt_ms_min);
    let rtt_s = least_ms.fold(0.0, f64::max) / 1e3;
    let over = (rtt_s / timeline.width_s()).ceil().max(1.0) as usize;
    let before: Vec<f64> = (0..at).map(|index| timeline.came(index)).collect();
    let most = before.windows(over).map(|window| window.iter().sum::<f64>()).fold(0.0, f64::max);
    let part = most / (rate * over as f64 * timeline.width_s());
    if !(0.0..RECOVERED).contains(&part) || part == 0.0 {
        return 0.0;
    }
    rtt_s * (-part.log2() - (1.0 - part) / std::f64::consts::LN_2).max(0.0)
}

/// Whether a path that was silent lost nothing: what had been in flight before was acknowledged soon after.
pub(super) fn held_up(case: &Case, subflow: usize, from_s: f64, to_s: f64) -> bool {
    let Some(timeline) = case.sender else { return false };
    let index_at = |at_s: f64| timeline.index_at(at_s - case.seconds(timeline, 0));
    let until_s = to_s + HELD_ROUND_TRIPS * rtt_s(case);
    (index_at(from_s)..=index_at(until_s)).any(|index| timeline.of(subflow, index).spurious > 0)
}

/// Of the longest time in which nothing new was delivered, what lies in a span, seconds.
pub(super) fn gap_s(case: &Case, from_s: f64, to_s: f64) -> f64 {
    let transfer = &case.report.transfers[case.direction as usize];
    let gap = transfer.longest_gap_start_s.zip(transfer.longest_gap_ms);
    gap.map_or(0.0, |(start_s, gap_ms)| ((start_s + gap_ms / 1e3).min(to_s) - start_s.max(from_s)).max(0.0))
}

fn recovery_s(case: &Case) -> f64 {
    RECOVERY_S.max(RECOVERY_ROUND_TRIPS * rtt_s(case))
}

/// The longest of its paths' usual round trips.
pub(super) fn rtt_s(case: &Case) -> f64 {
    let rtt_ms = case.report.flows.iter().filter_map(|rows| rows[case.direction as usize].rtt_ms_median);
    rtt_ms.fold(0.0, f64::max) / 1e3
}

fn over(case: &Case, timeline: &Timeline) -> usize {
    (OVER_S.max(OVER_ROUND_TRIPS * rtt_s(case)) / timeline.width_s()).ceil() as usize
}

/// Of subflows over one path that are away together, the one that carried most before stands for all: whether that is another
/// one. `spans` are the times in which each of them was away, `silent` is one of `subflow`; others begin within `soon_s`.
pub(super) fn another_stands(
    timeline: &Timeline,
    subflow: usize,
    spans: &[(usize, Range<usize>)],
    silent: &Range<usize>,
    soon_s: f64,
) -> bool {
    let [before, soon] = [BEFORE_S, soon_s].map(|seconds| (seconds / timeline.width_s()).ceil() as usize);
    let carried = |one: usize| timeline.bytes(one, silent.start.saturating_sub(before)..silent.start);
    spans.iter().any(|(one, span)| {
        span.start <= silent.start + soon && silent.start < span.end && carried(*one) > carried(subflow)
    })
}
