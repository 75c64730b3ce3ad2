//! When an application had nothing to send. That nothing is on its way does not show it: Linux keeps what it has queued for a
//! subflow that is dead. It shows where a request ends the pause, or an answer begins it.

use super::case::Case;
use crate::timeline::Timeline;

/// What comes so long before an answer asked for it, and what comes so long after a request answers it.
const ASKS_S: f64 = 0.5;

/// Of each short time at the sender, how long the application had nothing to send, seconds.
pub(super) fn of_application(case: &Case, timeline: &Timeline) -> Vec<f64> {
    let mut idle_s = vec![0.0; timeline.whole.len()];
    let back = 1 - case.direction as usize;
    let Some(requests) = case.report.receivers[back].as_deref().or(case.report.senders[back].as_deref()) else {
        return idle_s;
    };
    let asked = |from: usize, until: usize| {
        let [from_s, until_s] = [from, until].map(|index| case.seconds(timeline, index) - case.seconds(requests, 0));
        let begins = requests.index_at(from_s)..=requests.index_at(until_s.min(from_s + ASKS_S));
        let ends = requests.index_at(until_s - ASKS_S)..=requests.index_at(until_s);
        begins.chain(ends).any(|index| requests.came(index) > 0.0)
    };
    let is_idle = |index: usize| timeline.whole.get(index).is_some_and(|bin| bin.idle_us > 0);
    let mut from = 0;
    while from < idle_s.len() {
        let until = (from..).find(|&index| !is_idle(index)).unwrap_or(from);
        if until > from && asked(from, until) {
            (from..until).for_each(|index| idle_s[index] = f64::from(timeline.whole[index].idle_us) / 1e6);
        }
        from = until + 1;
    }
    idle_s
}
