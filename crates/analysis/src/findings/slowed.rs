//! A path became slower although it had enough to carry: its own capacity fell, or others took it. Its round trips show that
//! packets waited on it; a sender that slows down, for losses or a window, makes them no longer.

use super::away;
use super::case::{self, Case, Cost, Found, s, span};
use super::idle_path::idle;
use super::remedies::Remedy::Said;
use crate::timeline::Timeline;
use std::iter::repeat_n;
use std::ops::Range;

/// Rates are those over so long, and over so many round trips.
const OVER_S: f64 = 0.5;
const ROUND_TRIPS: f64 = 2.0;
/// It is slow below this part of what it carried in two such times in a row, for so long at a time.
const SLOW: f64 = 0.5;
const LEAST_S: f64 = 1.0;
/// Of a path whose capacity shows, since it carried almost as much in half of the times in which it was fast, less than this part is
/// less: others take the rest, if packets wait and the connection carries less, too, for longer.
const LESS: f64 = 0.85;
const SAME: f64 = 0.95;
const LESS_OF_ALL: f64 = 0.9;
const LESS_S: f64 = 2.0;
/// It is fast in this part of all times at least: one that shares its bottleneck throughout carries all of it now and then.
const SHOWN: f64 = 0.15;
/// That time does not count where the rest is this part of all, and others came so often at most: a neighbour that is always there
/// takes now more and now less.
const WHOLE: f64 = 0.25;
const COME: usize = 2;
/// So many such times before and after are its doing as well: what the change loses, and until the sender finds the rate.
const AROUND: usize = 2;
/// What is no less than this part of that, or of the connection's rate then, is as fast as ever.
const FAST: f64 = 0.8;
/// It has a rate that it keeps where it is that fast so often beside times in which it is neither fast nor slow: one that shares its
/// bottleneck from beginning to end seldom carries what it does at best.
const KEEPS: f64 = 0.75;
/// Where packets wait it carries all that it can: the rates in half of such times differ by this part at most, and a packet.
const STEADY: f64 = 0.02;
/// Or, where jitter or losses move packets from one time to the next, the means of so many times in a row lie so many standard
/// deviations above those of when it was slow, and twice as high: what others take drifts, and such means vary as much as it does.
const IN_A_ROW: usize = 3;
const APART: f64 = 8.5;
/// Fewer such times, as in slow start, tell nothing of that.
const FEW: usize = 7;
const PACKET_BYTES: f64 = 1500.0;
/// Packets wait where a round trip takes so many times the least, and so much longer, in this part of the short times.
const WAITS: f64 = 1.3;
const WAITS_MS: f64 = 3.0;
const MOSTLY: f64 = 0.75;
/// Where no more than this is in flight on average, a packet is alone: it waits for a delayed acknowledgement (RFC 1122, 4.2.3.2)
/// and not in a queue.
const ALONE_BYTES: f64 = 2200.0;
/// A handshake that took longer than so many times the least round trip waited for something.
const VARIES: f64 = 2.0;
/// In this part of a time the application may have nothing to send, or the path nothing in flight, or no answer for so long.
const SELDOM: f64 = 0.25;
/// Hardly in any of one in which it carries only a little less.
const NEVER: f64 = 0.05;
/// So long after a path was away, a shorter time than that is none of this path's.
const BESIDE_S: f64 = 1.0;
const LONG_S: f64 = 4.0;
const SILENT_S: f64 = 0.3;
const SILENT_BYTES: u32 = 5000;

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    let Some(timeline) = case.sender.filter(|_| case.is_whole() && case.main) else { return Vec::new() };
    let mut found = Vec::new();
    let away: Vec<Vec<Range<usize>>> =
        (0..timeline.flows.len()).map(|subflow| away::away(case, timeline, subflow)).collect();
    for subflow in case.established() {
        let Some(mut slow) = slow(case, timeline, subflow) else { continue };
        // Beside a path that is away, this one has what was on that one to send again.
        let around = (BESIDE_S / timeline.width_s()) as usize;
        let beside = |span: &Range<usize>| {
            let others = (0..away.len()).filter(|&other| other != subflow).flat_map(|other| &away[other]);
            others.into_iter().any(|away| away.start < span.end && span.start < away.end + around)
        };
        slow.spans.retain(|span| span.len() as f64 * timeline.width_s() > LONG_S || !beside(span));
        if slow.spans.is_empty() {
            continue;
        }
        let mut cost_s = 0.0;
        for span in &slow.spans {
            let [from_s, to_s] = [span.start, span.end].map(|index| case.seconds(timeline, index));
            cost_s += case.lost.claim_at(from_s, to_s, slow.rate_of_all, to_s - from_s);
        }
        let bins: Vec<usize> = slow.spans.iter().flat_map(Clone::clone).collect();
        let slow_s = bins.len() as f64 * timeline.width_s();
        let (from_s, to_s) = (case.seconds(timeline, bins[0]), case.seconds(timeline, bins[bins.len() - 1] + 1));
        let mbps = |rate: f64| rate * 8e-6;
        let carried = slow.spans.iter().map(|span| timeline.bytes(subflow, span.clone())).sum::<f64>() / slow_s;
        let mut rtts: Vec<u32> =
            bins.iter().map(|&index| timeline.of(subflow, index).rtt_us).filter(|&us| us > 0).collect();
        rtts.sort_unstable();
        let rtt_ms = rtts.get(rtts.len() / 2).map_or(0.0, |&us| f64::from(us) / 1e3);
        let [from, to] = span(from_s, to_s);
        found.push(Found {
            kind: "path_slowed",
            subflow: Some(subflow),
            from_s,
            to_s,
            cost: Cost::Seconds(cost_s),
            confidence: 0.6,
            message: format!(
                "{} carried {:.1} Mbit/s for {} between {from} and {to}, and up to {:.1} Mbit/s at other times, though packets waited on it: the path became slower, or other traffic took its capacity",
                case.name(subflow),
                mbps(carried),
                s(slow_s),
                mbps(slow.rate)
            ),
            evidence: format!(
                "round trips took {rtt_ms:.0} ms (median) then, and at least {:.0} ms on this path; {:.0} % of what it carried at other times was acknowledged",
                slow.least_ms,
                100.0 * carried / slow.rate
            ),
            remedy: &[Said("another place, channel or network for this path, or less other traffic on it")],
        });
    }
    found
}

/// When a subflow was slow.
struct Slow {
    spans: Vec<Range<usize>>,
    /// What it and the connection carry otherwise, bytes per second.
    rate: f64,
    rate_of_all: f64,
    least_ms: f64,
}

fn slow(case: &Case, timeline: &Timeline, subflow: usize) -> Option<Slow> {
    let (row, flow) = (&case.report.subflows[subflow], &case.report.flows[subflow][case.direction as usize]);
    let silences = &case.silences(timeline, SILENT_S, SILENT_BYTES, case::ROUND_TRIPS)[subflow];
    let (least_ms, long_ms) = (flow.rtt_ms_min?, flow.rtt_ms_p95?);
    // Where round trips vary, few take the least.
    let least_ms = least_ms.max(row.handshake_rtt_ms.unwrap_or(0.0).min(VARIES * least_ms));
    let index_at = |at_s: f64| timeline.index_at(at_s - case.seconds(timeline, 0));
    let there = index_at(row.start_s)..index_at(case.end_s().min(row.end_s));
    let over = (OVER_S.max(ROUND_TRIPS * long_ms / 1e3) / timeline.width_s()).ceil() as usize;
    let times: Vec<Range<usize>> =
        there.clone().step_by(over).map(|from| from..from + over).filter(|time| time.end <= there.end).collect();
    let seconds = over as f64 * timeline.width_s();
    let rates: Vec<f64> = times.iter().map(|time| timeline.bytes(subflow, time.clone()) / seconds).collect();
    // What a path carried that was closed, no other one lost.
    let lasts = |other: &usize| case.report.subflows[*other].end_s >= case.end_s();
    let closed: Vec<usize> =
        case.established().into_iter().filter(|&other| !case.same_path(other).iter().any(lasts)).collect();
    let came = |index: usize| {
        let of_closed = closed.iter().filter(|&&other| other != subflow);
        timeline.came(index) - of_closed.map(|&other| f64::from(timeline.of(other, index).came_bytes)).sum::<f64>()
    };
    let all = |time: &Range<usize>| time.clone().map(came).sum::<f64>() / seconds;
    let rate = rates.windows(2).map(|pair| pair[0].min(pair[1])).fold(0.0, f64::max);
    let bound_us = 1e3 * (WAITS * least_ms).max(least_ms + WAITS_MS);
    let idle = idle(timeline, subflow, &there.clone().collect::<Vec<_>>());
    // In which the path was neither dead nor left aside.
    let is_used = |time: &Range<usize>, most: f64| {
        let idle = idle.partition_point(|&index| index < time.end) - idle.partition_point(|&index| index < time.start);
        let silent =
            silences.iter().map(|silent| silent.end.min(time.end).saturating_sub(silent.start.max(time.start)));
        (idle + silent.sum::<usize>()) as f64 <= most * time.len() as f64 && is_busy(timeline, time)
    };
    let is_less = |(time, one): (&Range<usize>, &f64)| {
        *one < LESS * rate && is_used(time, NEVER) && waits(timeline, subflow, time, bound_us)
    };
    // Where others take a part of it for long, that says nothing of what the path carries.
    let long = (LESS_S / seconds).ceil().max(2.0) as usize;
    let less: Vec<bool> = times.iter().zip(&rates).map(is_less).collect();
    let runs = || less.chunk_by(|one, other| one == other).map(|run| (run[0] && run.len() >= long, run.len()));
    let come = runs().filter(|(for_long, _)| *for_long).count();
    let for_long = runs().flat_map(|(for_long, count)| repeat_n(for_long, count));
    let whole: Vec<usize> = for_long.enumerate().filter(|(_, for_long)| !for_long).map(|(index, _)| index).collect();
    let count = |part: f64| whole.iter().filter(|&&index| rates[index] >= part * rate).count();
    let fast_in_all = rates.iter().filter(|&&one| one >= FAST * rate).count();
    let are = |fast: usize, part: f64| fast as f64 >= part * times.len() as f64;
    let shows = 2 * count(SAME) >= fast_in_all && are(fast_in_all, SHOWN)
        || come <= COME && 2 * count(SAME) >= count(FAST) && are(count(FAST), WHOLE);
    let fast: Vec<f64> =
        whole.iter().filter(|&&index| rates[index] >= FAST * rate).map(|&index| all(&times[index])).collect();
    let rate_of_all = fast.iter().sum::<f64>() / fast.len().max(1) as f64;
    let is_slow = |(time, one): (&Range<usize>, &f64)| {
        *one < SLOW * rate
            && all(time) < FAST * rate_of_all
            && is_used(time, SELDOM)
            && waits(timeline, subflow, time, bound_us)
    };
    let slow: Vec<bool> = times.iter().zip(&rates).map(is_slow).collect();
    let part = if shows { LESS } else { SLOW };
    let less: Vec<bool> = less.iter().zip(&slow).map(|(&less, &slow)| slow || shows && less).collect();
    // It becomes slower only after it was fast.
    let begin = rates.iter().position(|&one| one >= FAST * rate)?;
    let least = (LEAST_S / seconds).ceil().max(2.0) as usize;
    let long = long.max(least);
    // For how long it was slow in its first and last time, if as slow then as in the one beside.
    let lasts = |edge: usize, inner: usize| {
        let [edge, inner] = [edge, inner].map(|index| 1.0 - rates[index] / rate);
        ((edge / inner).min(1.0) * over as f64).round() as usize
    };
    let (mut spans, mut at) = (Vec::new(), begin);
    for run in less[begin..].chunk_by(|one, other| one == other) {
        let to = at + run.len();
        let is_slow = || slow[at..to].windows(least).any(|all| all.iter().all(|&one| one));
        let is_long = || {
            let all = times[at..to].iter().map(all).sum::<f64>() / run.len() as f64;
            shows && run.len() >= long && all < LESS_OF_ALL * rate_of_all
        };
        if run[0] && (is_slow() || is_long()) {
            // What the change itself has cost, until as much is carried as before, or packets wait.
            let less = |index: &usize| rates[*index] < part * rate && is_used(&times[*index], SELDOM);
            let before = (at.saturating_sub(AROUND).max(begin)..at).rev().take_while(less).count();
            let after = (to..(to + AROUND).min(times.len())).take_while(less).count();
            let (first, last) = (at - before, to + after - 1);
            let from = times[first].end - lasts(first, first + 1);
            // What lies between two such times counts once.
            let from = spans.last().map_or(from, |span: &Range<usize>| from.max(span.end));
            spans.push(from..times[last].start + lasts(last, last - 1));
        }
        at = to;
    }
    let apart = |time: &Range<usize>| spans.iter().all(|span| span.end <= time.start || time.end <= span.start);
    let others = times.iter().zip(&rates).filter(|(time, _)| apart(time) && is_used(time, SELDOM));
    // Where no packets wait, its sender is what is slow.
    let shows_it =
        |(time, one): &(&Range<usize>, &f64)| **one >= FAST * rate || waits(timeline, subflow, time, bound_us);
    let others = others.filter(|&(_, &one)| one >= SLOW * rate);
    let full =
        others.clone().filter(|(time, _)| waits(timeline, subflow, time, bound_us)).map(|(_, &one)| one).collect();
    let others = others.filter(shows_it).map(|(_, &one)| one);
    let (fast, between): (Vec<f64>, Vec<f64>) = others.partition(|&one| one >= FAST * rate);
    let is_full = |index: usize| {
        let (time, one) = (&times[index], rates[index]);
        apart(time) && one >= SLOW * rate && is_used(time, SELDOM) && waits(timeline, subflow, time, bound_us)
    };
    let is_within =
        |index: usize| spans.iter().any(|span| span.start <= times[index].start && times[index].end <= span.end);
    let stands_apart = || {
        let [full, within] = [means(&rates, is_full), means(&rates, is_within)];
        // One alone does not show how much they vary.
        let full = Some(full).filter(|means| means.len() > 1);
        full.and_then(|means| mean_and_variance(&means)).zip(mean_and_variance(&within)).is_some_and(
            |((full, varies), (within, varies_within))| {
                within < SLOW * full && full - within >= APART * ((varies + varies_within) / 2.0).sqrt()
            },
        )
    };
    let keeps = fast.len() as f64 >= KEEPS * between.len() as f64 && (is_steady(full, seconds) || stands_apart());
    (keeps && !spans.is_empty()).then_some(Slow { spans, rate, rate_of_all, least_ms })
}

/// Whether a path carried the same in half of the times in which packets waited on it: all that it can. Others leave now more of it
/// and now less.
fn is_steady(mut full: Vec<f64>, seconds: f64) -> bool {
    full.sort_by(f64::total_cmp);
    let is_same = |half: &[f64]| half[half.len() - 1] - half[0] <= STEADY * half[0] + PACKET_BYTES / seconds;
    full.len() < FEW || full.windows(full.len() / 2 + 1).any(is_same)
}

/// The mean rates of so many of these times in a row; of fewer, where there are no more.
fn means(rates: &[f64], is_one: impl Fn(usize) -> bool) -> Vec<f64> {
    let of = |count: usize| -> Vec<f64> {
        let all = rates.windows(count).enumerate().filter(|(from, _)| (*from..from + count).all(&is_one));
        all.map(|(_, rates)| rates.iter().sum::<f64>() / count as f64).collect()
    };
    (1..=IN_A_ROW).rev().map(of).find(|means| !means.is_empty()).unwrap_or_default()
}

fn mean_and_variance(rates: &[f64]) -> Option<(f64, f64)> {
    let count = rates.len() as f64;
    let mean = rates.iter().sum::<f64>() / count;
    (!rates.is_empty()).then(|| (mean, rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / count))
}

/// Whether packets of a subflow waited in a span of bins.
fn waits(timeline: &Timeline, subflow: usize, time: &Range<usize>, bound_us: f64) -> bool {
    let rtts = time.clone().map(|index| f64::from(timeline.of(subflow, index).rtt_us)).filter(|&us| us > 0.0);
    let rtts: Vec<f64> = rtts.collect();
    let long = rtts.iter().filter(|&&us| us >= bound_us).count() as f64;
    let mean_s = rtts.iter().sum::<f64>() / rtts.len().max(1) as f64 / 1e6;
    let in_flight_bytes = timeline.bytes(subflow, time.clone()) / (time.len() as f64 * timeline.width_s()) * mean_s;
    !rtts.is_empty() && long >= MOSTLY * rtts.len() as f64 && in_flight_bytes > ALONE_BYTES
}

fn is_busy(timeline: &Timeline, time: &Range<usize>) -> bool {
    let idle_us = timeline.whole[time.clone()].iter().map(|bin| f64::from(bin.idle_us)).sum::<f64>();
    idle_us <= SELDOM * time.len() as f64 * timeline.width_s() * 1e6
}
