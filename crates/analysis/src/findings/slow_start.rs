//! Slow start ended long before the path was full: HyStart took a change of delay for a queue, or a loss came early.

use super::case::{Case, Cost, Found, s};
use super::remedies::{BBR, NO_HYSTART, Remedy, Remedy::Said};
use crate::timeline::Timeline;
use std::ops::Range;

/// It ended early with less than this part in flight of what fills the path, and is made up for at that.
const EARLY: f64 = 0.5;
const FULL: f64 = 0.8;
/// In slow start what is in flight doubles each round trip; over so many it has ended where it grows less than this.
const ROUND_TRIPS: f64 = 4.0;
const GROWS: f64 = 2.0;
/// The first window is no slow start that ended.
const FIRST_BYTES: f64 = 25_000.0;
/// A queue that is that long is a reason to end it.
const QUEUED: f64 = 1.5;
const LEAST_S: f64 = 0.5;
/// Other reasons may hold the subflow back in this part of the time.
const SELDOM: f64 = 0.1;

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    let Some(timeline) = case.sender.filter(|_| case.is_whole() && case.main) else { return Vec::new() };
    let mut found = Vec::new();
    for subflow in case.established() {
        let Some(early) = early(case, timeline, subflow) else { continue };
        let [from_s, to_s] = [early.from, early.to].map(|index| case.seconds(timeline, index));
        let cost_s = match early.lost {
            // Where it grows throughout, only what it has come to says what the path carries.
            true => case.lost.claim_at(
                from_s,
                to_s,
                case.best_rate.max(timeline.best(|index| timeline.came(index))),
                to_s - from_s,
            ),
            false => case.lost.claim(from_s, to_s, f64::INFINITY),
        };
        let (kind, what, before, remedy): (_, _, _, &[Remedy]) = match early.lost {
            true => (
                "slow_start_loss",
                "at a loss",
                "segments were sent again then, and none after that",
                &[BBR, Said("a longer queue at the bottleneck")],
            ),
            false => ("slow_start_early", "without a loss", "nothing was sent again before", &[NO_HYSTART]),
        };
        found.push(Found {
            kind,
            subflow: Some(subflow),
            from_s,
            to_s,
            // With a queue that loses packets so soon, nothing shows that the path ever was full.
            cost: if early.lost { Cost::AtLeast(cost_s) } else { Cost::Seconds(cost_s) },
            confidence: 0.6,
            message: format!(
                "{}: slow start ended {what} at {:.0} kB in flight, and it took {} more to fill the path with {:.0} kB",
                case.name(subflow),
                early.bytes / 1e3,
                s(to_s - from_s),
                early.full_bytes / 1e3
            ),
            evidence: format!("data in flight did not double within the next four round trips; {before}"),
            remedy,
        });
    }
    found
}

/// Slow start that ended early: from when to when, with so much in flight, of so much that fills the path.
struct Early {
    from: usize,
    to: usize,
    bytes: f64,
    full_bytes: f64,
    /// It was a loss that ended it.
    lost: bool,
}

fn early(case: &Case, timeline: &Timeline, subflow: usize) -> Option<Early> {
    let rtt_s = case.report.flows[subflow][case.direction as usize].rtt_ms_min? / 1e3;
    let width_s = timeline.width_s();
    let round_trip = (rtt_s / width_s).ceil().max(1.0) as usize;
    // In times that are much longer than a round trip its growth does not show.
    if width_s > 4.0 * rtt_s {
        return None;
    }
    let end = timeline.index_at(case.end_s() - case.seconds(timeline, 0));
    let resent = |mut span: Range<usize>| span.any(|index| timeline.of(subflow, index).resent > 0);
    let in_flight = |index: usize| {
        let span = index..(index + round_trip).min(end);
        span.map(|index| f64::from(timeline.of(subflow, index).left_bytes)).fold(0.0, f64::max)
    };
    let later = (ROUND_TRIPS * round_trip as f64) as usize;
    let first = (0..end).find(|&index| in_flight(index) >= FIRST_BYTES)?;
    let ended = |&index: &usize| in_flight(index + later) < GROWS * in_flight(index);
    let from = (first..end.saturating_sub(later)).find(ended)?;
    // A loss leaves less.
    let lost = resent(0..from + later);
    let last = (from..from + 2 * later).rev().find(|&index| resent(index..index + 1)).filter(|_| lost);
    let left = if lost { (from + later).max(last.map_or(0, |last| last + round_trip + 1)) } else { from };
    let came = |index: usize| f64::from(timeline.of(subflow, index).came_bytes);
    let full_bytes = rtt_s * if lost { timeline.best(came) } else { timeline.rate(subflow) };
    let bytes = in_flight(left);
    let to = (left..end).find(|&index| in_flight(index) >= FULL * full_bytes)?;
    let other = (from..to).filter(|&index| {
        let (whole, bin) = (timeline.whole.get(index).copied().unwrap_or_default(), timeline.of(subflow, index));
        whole.idle_us > 0 || whole.limited > 0 || f64::from(bin.rtt_us) / 1e6 > QUEUED * rtt_s
    });
    // A time-out ends slow start as a loss does.
    let timed_out = (0..to).any(|index| timeline.of(subflow, index).timeouts > 0);
    let calm = other.count() as f64 <= SELDOM * (to - from) as f64;
    let is_long = (to - from) as f64 * width_s >= LEAST_S.max(ROUND_TRIPS * rtt_s);
    // What dead paths cost has a finding of its own.
    let was_dead = case.stopped_s.is_some_and(|at_s| at_s < case.seconds(timeline, to));
    // Later losses than those that were repaired are another reason.
    let later_lost = resent((if lost { left + later } else { left })..to);
    let is_early = bytes < EARLY * full_bytes && !later_lost && !timed_out && !was_dead && calm && is_long;
    is_early.then_some(Early { from, to, bytes, full_bytes, lost })
}
