//! A path stayed idle while the others had data in flight: its scheduler left its capacity unused. Where data waited for a slow
//! path, or for what another lost, that is why.

use super::case::{Case, Cost, Found, s};
use super::remedies::USE_ALL;
use crate::timeline::Timeline;

/// So much of the time that it was there.
const OFTEN: f64 = 0.5;
const LEAST_S: f64 = 1.0;
/// A connection whose window is full as often has nothing that the path could carry.
const LIMITED: f64 = 0.2;

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    let Some(timeline) = case.sender.filter(|_| case.is_whole() && case.main && !case.blocked && !case.lossy) else {
        return Vec::new();
    };
    let regular = |subflow: &usize| !case.report.subflows[*subflow].backup;
    let subflows: Vec<usize> = case.established().into_iter().filter(regular).collect();
    if subflows.len() < 2 {
        return Vec::new();
    }
    let mut found = Vec::new();
    for &subflow in &subflows {
        let row = &case.report.subflows[subflow];
        // A SYN may have been lost.
        let joined_s = case.begin_s + row.join_time_ms.unwrap_or(0.0) / 1e3;
        let begin_s = joined_s.max(row.start_s + row.handshake_rtt_ms.unwrap_or(0.0) / 1e3);
        let index_at = |at_s: f64| timeline.index_at(at_s - case.seconds(timeline, 0));
        let end_s = case.withdrawn_s(subflow).unwrap_or(row.end_s);
        let there = index_at(begin_s)..index_at(case.end_s().min(end_s));
        // What is sent and answered within a round trip of the path, it would bring no sooner.
        let rtt_s = row.handshake_rtt_ms.unwrap_or(0.0) / 1e3;
        let is_busy = |&index: &usize| is_busy(timeline, index) && !asks(case, case.seconds(timeline, index), rtt_s);
        let busy: Vec<usize> = there.clone().filter(is_busy).collect();
        // Another subflow over the path may have used it.
        let same_path = case.same_path(subflow);
        let idle = same_path.iter().fold(busy.clone(), |left, &one| idle(timeline, one, &left));
        let limited = busy.iter().filter(|&&index| timeline.whole[index].limited > 0).count();
        let idle_s = idle.len() as f64 * timeline.width_s();
        let silent = !case.silences[subflow].is_empty();
        let bounded = limited as f64 >= LIMITED * busy.len() as f64;
        let known = found.iter().any(|one: &Found| one.subflow.is_some_and(|other| same_path.contains(&other)));
        if known || silent || bounded || idle_s < LEAST_S || (idle.len() as f64) < OFTEN * busy.len() as f64 {
            continue;
        }
        found.push(Found {
            kind: "capacity_unused",
            subflow: Some(subflow),
            from_s: case.seconds(timeline, idle[0]),
            to_s: case.seconds(timeline, idle[idle.len() - 1] + 1).min(case.end_s()),
            // What it would have carried only a run that uses it tells.
            cost: Cost::Unknown,
            confidence: 0.6,
            message: format!(
                "{} was idle for {} of the {} in which there was data to send and room in the receive window: the scheduler did not use it",
                case.name(subflow),
                s(idle_s),
                s(busy.len() as f64 * timeline.width_s())
            ),
            evidence: format!(
                "nothing was in flight on it in {} of {} intervals of {:.0} ms in which other subflows carried data",
                idle.len(),
                busy.len(),
                timeline.width_s() * 1e3
            ),
            remedy: &[USE_ALL],
        });
    }
    found
}

/// The connection had data to send throughout.
fn is_busy(timeline: &Timeline, index: usize) -> bool {
    timeline.whole[index].idle_us == 0 && timeline.came(index) > 0.0
}

/// Whether the other end sent a message so soon before or after a time: what it asks for begins, and all before has come.
fn asks(case: &Case, at_s: f64, within_s: f64) -> bool {
    let back = 1 - case.direction as usize;
    let messages = case.report.receivers[back].as_deref().or(case.report.senders[back].as_deref());
    messages.is_some_and(|messages| {
        let index_at = |at_s: f64| messages.index_at(at_s - case.seconds(messages, 0));
        (index_at(at_s - within_s)..=index_at(at_s + within_s)).any(|index| messages.came(index) > 0.0)
    })
}

/// Those of some times in which a subflow had nothing in flight.
pub(super) fn idle(timeline: &Timeline, subflow: usize, times: &[usize]) -> Vec<usize> {
    let mut in_flight = false;
    let mut idle = Vec::new();
    let mut seen = 0;
    for &index in times {
        for index in seen..=index {
            let left_bytes = timeline.of(subflow, index).left_bytes;
            in_flight = if left_bytes > 0 { left_bytes > 1 } else { in_flight };
        }
        seen = index + 1;
        if !in_flight && timeline.of(subflow, index).came_bytes == 0 {
            idle.push(index);
        }
    }
    idle
}
