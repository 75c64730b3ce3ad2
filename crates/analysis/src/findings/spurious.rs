//! Retransmission time-outs for packets that were not lost: the radio had held them.

use super::case::{Case, Cost, Found};
use crate::metrics::Timeline;
use wire::Time;

/// What a needless time-out costs is within this time after it: the window starts anew.
const AFTER_S: f64 = 1.0;

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    let Some(timeline) = case.sender.filter(|_| case.is_whole()) else { return Vec::new() };
    let mut found = Vec::new();
    for (subflow, flow) in timeline.flows.iter().enumerate() {
        let needless = |(at, _, early): &&(Time, i64, bool)| *early || came_twice(case, subflow, case.at(*at));
        let timeouts: Vec<_> = flow.timeouts.iter().filter(needless).collect();
        let early: Vec<f64> = timeouts.iter().map(|(at, ..)| case.at(*at)).collect();
        let (Some(&first), Some(&last)) = (early.first(), early.last()) else { continue };
        let longest_ms = timeouts.iter().map(|(_, nanos, _)| nanos / 1_000_000).max();
        let mut cost_s = 0.0;
        for &at_s in &early {
            cost_s += case.lost.claim(at_s - longest_ms.unwrap_or(0) as f64 / 1e3, at_s + AFTER_S, f64::MAX);
        }
        found.push(Found {
            kind: "spurious_timeouts",
            subflow: Some(subflow),
            from_s: first,
            to_s: last + AFTER_S,
            cost: Cost::Seconds(cost_s),
            confidence: 0.9,
            message: format!(
                "{}: {} retransmission time-out{} for packets that were not lost, only held up for up to {} ms",
                case.name(subflow),
                early.len(),
                if early.len() == 1 { "" } else { "s" },
                longest_ms.unwrap_or(0)
            ),
            evidence: "events: timeout; the acknowledgement came in less than half of the least RTT, or the packet arrived twice".to_owned(),
            remedy: "F-RTO and time stamps at the sender (net.ipv4.tcp_frto=2, tcp_timestamps=1)",
        });
    }
    found
}

/// Whether at least a fifth of what was sent again from a time on arrived although it had arrived before.
fn came_twice(case: &Case, subflow: usize, at_s: f64) -> bool {
    let (Some(sender), Some(receiver)) = (case.sender, case.receiver) else { return false };
    let again = |timeline: &Timeline| -> u64 {
        let begin_s = case.seconds(timeline, 0);
        let span = timeline.place(at_s - begin_s)..timeline.place(at_s + AFTER_S - begin_s);
        span.map(|index| u64::from(timeline.of(subflow, index).resent_bytes)).sum()
    };
    let sent = again(sender);
    sent > 0 && again(receiver) * 5 >= sent
}
