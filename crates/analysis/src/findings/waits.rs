//! Times in which a request or a response, lost with nothing after it to show that, waited for time-outs.

use super::case::{self, Case};
use super::idle;
use tables::{Direction, Event};

/// What was sent again brought something where data came in order so many round trips later at most, and so soon in any case.
const ROUND_TRIPS: f64 = 1.0;
const SOON_S: f64 = 0.05;
/// A time-out whose silence begins no later after the one before goes on with it.
const AT_ONCE_S: f64 = 0.001;

/// From when it was lost until it was sent again for the time that brought it.
pub(super) struct Wait {
    pub(super) from_s: f64,
    pub(super) to_s: f64,
    /// Time-outs that passed until then, by subflow: it may have been sent over several.
    pub(super) timeouts: Vec<(usize, usize)>,
    pub(super) direction: Direction,
    /// Of this time, how long all that was sent had come.
    pub(super) paused_s: f64,
}

impl Wait {
    pub(super) fn seconds(&self) -> f64 {
        self.to_s - self.from_s
    }

    /// The most time-outs on a subflow: they doubled.
    pub(super) fn most(&self) -> usize {
        self.timeouts.iter().map(|&(_, count)| count).max().unwrap_or(0)
    }

    pub(super) fn is_on(&self, subflow: usize) -> bool {
        self.timeouts.iter().any(|&(other, _)| other == subflow)
    }

    /// Whether it and another time have a part in common, or it ends as that begins: a request comes, and its answer is lost.
    pub(super) fn meets(&self, from_s: f64, to_s: f64) -> bool {
        self.from_s < to_s && from_s < self.to_s + case::AT_ONCE_S
    }

    /// How much of it lies in another time.
    pub(super) fn within_s(&self, from_s: f64, to_s: f64) -> f64 {
        (self.to_s.min(to_s) - self.from_s.max(from_s)).max(0.0)
    }

    /// Claims what was lost in it.
    pub(super) fn claim(&self, case: &mut Case) -> f64 {
        case.lost.claim(self.from_s, self.to_s, self.seconds() - self.paused_s)
    }
}

/// Time-outs of a subflow, each after the one before.
struct Chain<'a> {
    direction: Direction,
    subflow: usize,
    from_s: f64,
    events: Vec<&'a Event>,
}

pub(super) fn waits(case: &Case) -> Vec<Wait> {
    // A sender that has more to send does not wait for the end of a message; what goes the other way asks for it.
    let idle_s = case.sender.map_or_else(Vec::new, |sender| idle::of_application(case, sender));
    let pauses = idle_s.iter().any(|&idle_s| idle_s > 0.0);
    // While all that was sent had come, a dead path holds up nobody; a pause in which the other end's request is lost is not one.
    let paused_s = |wait: &Wait| -> f64 {
        let Some(sender) = case.sender.filter(|_| wait.direction == case.direction) else { return 0.0 };
        let begin_s = case.seconds(sender, 0);
        idle_s[sender.index_at(wait.from_s - begin_s)..sender.index_at(wait.to_s - begin_s)].iter().sum()
    };
    let mut waits: Vec<Wait> = chains(case, pauses).iter().filter_map(|chain| until_it_came(case, chain)).collect();
    waits.iter_mut().for_each(|wait| wait.paused_s = paused_s(wait));
    waits.sort_by(|a, b| a.from_s.total_cmp(&b.from_s));
    // What was sent over several paths waited once.
    waits.dedup_by(|later, wait| {
        let is_same = later.from_s < wait.to_s && later.direction == wait.direction;
        if is_same {
            wait.to_s = wait.to_s.max(later.to_s);
            wait.timeouts.append(&mut later.timeouts);
        }
        is_same
    });
    waits
}

fn chains<'a>(case: &Case<'a>, pauses: bool) -> Vec<Chain<'a>> {
    let is_due = |event: &&Event| {
        event.event == "timeout" && (event.direction != Some(case.direction) || pauses) && event.at_s <= case.end_s()
    };
    let mut events: Vec<&Event> = case.report.events.iter().filter(is_due).collect();
    events.sort_by_key(|event| event.at_ns);
    let mut chains: Vec<Chain> = Vec::new();
    for event in events {
        let (direction, subflow) = (event.direction.unwrap_or(case.direction), event.subflow.unwrap_or(0) as usize);
        let from_s = event.at_s - event.duration_ms.unwrap_or(0.0) / 1e3;
        let goes_on = |chain: &&mut Chain| {
            (chain.direction, chain.subflow) == (direction, subflow)
                && chain.events.last().is_some_and(|last| from_s <= last.at_s + AT_ONCE_S)
        };
        match chains.iter_mut().rev().find(goes_on) {
            Some(chain) => chain.events.push(event),
            None => chains.push(Chain { direction, subflow, from_s, events: vec![event] }),
        }
    }
    chains
}

/// Until what was sent again came that the receiver waited for, as far as its capture tells: where only the acknowledgement was lost,
/// it had come before.
fn until_it_came(case: &Case, chain: &Chain) -> Option<Wait> {
    let wait = |timeouts: usize| Wait {
        from_s: chain.from_s,
        to_s: chain.events[timeouts - 1].at_s,
        timeouts: vec![(chain.subflow, timeouts)],
        direction: chain.direction,
        paused_s: 0.0,
    };
    // Where its receiver was not captured, the answer to it shows that it came.
    let receivers =
        [chain.direction, chain.direction.reverse()].map(|direction| &case.report.receivers[direction as usize]);
    let Some(receiver) = receivers.into_iter().find_map(|receiver| receiver.as_deref()) else {
        return Some(wait(chain.events.len()));
    };
    let rtt_ms = case.report.subflows.get(chain.subflow).and_then(|row| row.handshake_rtt_ms).unwrap_or(0.0);
    let index_at = |at_s: f64| receiver.index_at(at_s - case.seconds(receiver, 0));
    let (first, last) = (chain.events[0], chain.events[chain.events.len() - 1]);
    let until = index_at(last.at_s + (ROUND_TRIPS * rtt_ms / 1e3).max(SOON_S));
    let came = |index: &usize| receiver.came(*index) > 0.0;
    if (index_at(chain.from_s + rtt_ms / 1e3) + 1..index_at(first.at_s)).any(|index| came(&index)) {
        return None;
    }
    let came = (index_at(first.at_s)..=until).find(came)?;
    Some(wait(chain.events.iter().filter(|event| index_at(event.at_s) <= came).count()))
}
