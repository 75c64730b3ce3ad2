//! The receive window held the sender back. It is the connection's: no subflow alone is to blame. A window that the receiver still
//! widens as data comes is none: it fills in each round trip of slow start, and a larger buffer gives nothing back.

use super::case::{Case, Cost, Found, s, span};
use super::remedies::{LARGER_WINDOW, LARGER_WINDOW_SHARED, Remedy::Said};
use crate::timeline::Timeline;

/// Of the times in which segments left, so many had some that filled the window.
const OFTEN: f64 = 0.2;
/// Of a window that was full now and then, a few long times tell nothing.
const LEAST_TIMES: usize = 4;
/// Until it is this part of what it becomes, a window is still being widened.
const WIDE: u32 = 2;
/// A queue is next to empty where the least round trip of a short time is below so many times the least of all; where it stands,
/// it is longer in more than this part of the time.
const DRAINED: f64 = 1.3;
const SOMETIMES: f64 = 0.5;

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    let Some(timeline) = case.sender.filter(|_| case.is_whole()) else { return Vec::new() };
    if let Some(shut) = shut(case, timeline) {
        return vec![shut];
    }
    let sending = timeline.whole.iter().filter(|bin| bin.segments > 0).count();
    let widest = timeline.whole.iter().map(|bin| bin.window_bytes).max().unwrap_or(0);
    let wide = timeline.whole.iter().position(|bin| bin.window_bytes >= widest / WIDE).unwrap_or(0);
    let full: Vec<usize> = (wide..timeline.whole.len()).filter(|&index| timeline.whole[index].limited > 0).collect();
    let (Some(&first), Some(&last)) = (full.first(), full.last()) else { return Vec::new() };
    let part = full.len() as f64 / sending.max(1) as f64;
    // One that was full for a few round trips may have been on its way to become wider still. It fills once in each.
    let few_s = case.established().into_iter().map(|subflow| case.patience_s(subflow, 0.0)).fold(f64::MAX, f64::min);
    let for_s = (last + 1 - first) as f64 * timeline.width_s();
    if part < OFTEN || full.len() < LEAST_TIMES || for_s < few_s {
        return Vec::new();
    }
    let windows = case.report.flows.iter().filter_map(|rows| rows[case.direction as usize].window_bytes_max);
    let window = windows.max().unwrap_or(0);
    let (from_s, to_s) = (case.seconds(timeline, first), case.seconds(timeline, last + 1).min(case.end_s()));
    let mut cost_s = 0.0;
    for &index in &full {
        let at_s = case.seconds(timeline, index);
        cost_s += case.lost.claim(at_s, at_s + timeline.width_s(), timeline.width_s());
    }
    let cost = match case.window_bound {
        // A path that data waits for fills any window.
        false if case.order_bound => Cost::Unknown,
        // The best rate is the window's own: what the paths would carry is not in the capture.
        true if case.has_room() || !case.order_bound && has_drained(case, timeline) => Cost::Unknown,
        true => return Vec::new(),
        false => Cost::Seconds(cost_s),
    };
    vec![Found {
        kind: "receive_window",
        subflow: None,
        from_s,
        to_s,
        cost,
        confidence: 0.9,
        message: format!(
            "the receive window, at most {} kB, was full in {:.0} % of the time in which data was sent{}",
            window / 1000,
            part * 100.0,
            if case.window_bound {
                ", also while most data arrived: how fast the paths are without it, the capture does not show"
            } else {
                ""
            }
        ),
        evidence: format!(
            "at least 90 % of it was sent and not acknowledged in {} of {sending} intervals of {:.0} ms with data; Linux announces about 60 % of the receive buffer as window",
            full.len(),
            timeline.width_s() * 1e3
        ),
        remedy: if case.established().len() > 1 { &[LARGER_WINDOW_SHARED] } else { &[LARGER_WINDOW] },
    }]
}

/// Whether the queue of a path that carried data was empty again and again: what a window lets go at once makes most round trips
/// longer, but a queue that stands does not leave room for the least.
fn has_drained(case: &Case, timeline: &Timeline) -> bool {
    case.established().into_iter().any(|subflow| {
        let row = &case.report.flows[subflow][case.direction as usize];
        let least_ms = row.rtt_ms_min.filter(|_| row.bytes > 0);
        least_ms.is_some_and(|least_ms| timeline.part_above(subflow, DRAINED * least_ms * 1e3) <= SOMETIMES)
    })
}

/// The receiver's buffer was full: no larger one helps a program that does not read.
fn shut(case: &mut Case, timeline: &Timeline) -> Option<Found> {
    let end = timeline.index_at(case.end_s() - case.seconds(timeline, 0));
    // Where the transfer does not go on, it waits to the end of the capture.
    let end = if timeline.outstanding_bytes > 0 { timeline.whole.len() } else { end };
    let shut_s = |index: usize| f64::from(timeline.whole[index].shut_us) / 1e6;
    let times: Vec<usize> = (0..end).filter(|&index| shut_s(index) > 0.0).collect();
    let all_s: f64 = times.iter().map(|&index| shut_s(index)).sum();
    let (Some(&first), Some(&last)) = (times.first(), times.last()) else { return None };
    if !case.is_worth(all_s) {
        return None;
    }
    let (from_s, to_s) = (case.seconds(timeline, first), case.seconds(timeline, last + 1));
    let mut cost_s = 0.0;
    for &index in &times {
        let at_s = case.seconds(timeline, index);
        cost_s += case.lost.claim(at_s, at_s + timeline.width_s(), shut_s(index));
    }
    let [from, to] = span(from_s, to_s);
    Some(Found {
        kind: "receive_window",
        subflow: None,
        from_s,
        to_s,
        // Where it was full all the time, the program's own pace is all that shows.
        cost: if case.window_bound { Cost::Unknown } else { Cost::Seconds(cost_s) },
        confidence: 0.9,
        message: format!(
            "the receiver's window was shut for {} between {from} and {to}: the program that receives, or a proxy, read too slowly",
            s(all_s)
        ),
        evidence: format!("the window took less than two segments for {all_s:.3} s in all"),
        remedy: &[Said(
            "look at the program that receives, at its machine, or at a proxy in between: a larger receive buffer only puts the wait off",
        )],
    })
}
