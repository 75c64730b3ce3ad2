//! What happens at given times.

use crate::network::Link;
use link::Change;
use scenario::form::Event;
use scenario::{Error, Scenario, starts, transfer_start};
use std::collections::VecDeque;
use wire::Time;

/// What happens.
pub(crate) enum Action {
    /// A path changes.
    Path(usize, Change),
    /// The client's interface on a path hears this, in dBm.
    Heard(usize, i32),
    /// A link is another.
    Profile(usize, Box<Link>),
    /// The transfer starts, later than the run.
    StartTransfer,
    /// A flow of the cross traffic with this index starts.
    Start(usize),
    /// It stops.
    Stop(usize),
}

/// Actions in order; of one time in the order in which they were added.
#[derive(Default)]
pub(crate) struct Timeline(VecDeque<(Time, Action)>);

impl Timeline {
    /// What happens to the links and paths of a scenario that starts at `start`.
    pub fn of(scenario: &Scenario, links: &[Link], start: Time) -> Result<Timeline, Error> {
        let mut versions = vec![0; links.len()];
        let mut actions = Vec::new();
        for event in &scenario.timeline {
            let (at_ns, name) = event.time_and_path();
            let path = scenario.paths.iter().position(|path| path.name == name);
            let path = path.ok_or_else(|| Error::fault("timeline", format!("there is no path {name}")))?;
            let at = start + at_ns;
            actions.push(match event {
                Event::Blackout { .. } => (at, Action::Path(path, Change::Blackout)),
                Event::Hold { .. } => (at, Action::Path(path, Change::Hold)),
                Event::Restore { .. } => (at, Action::Path(path, Change::Restore)),
                Event::Detach { .. } => (at, Action::Path(path, Change::Detach)),
                Event::Attach { takes_ns, .. } => {
                    let Some(there_ns) = attached_ns(scenario, name, at_ns, *takes_ns) else { continue };
                    (start + there_ns, Action::Path(path, Change::Attach))
                }
                Event::Rebind { address, .. } => {
                    let known = scenario.paths[path].addresses().iter().any(|one| one.is_ipv4() == address.is_ipv4());
                    if !known {
                        return Err(Error::fault("timeline", format!("{address} is not of a family that {name} has")));
                    }
                    (at, Action::Path(path, Change::Rebind(*address)))
                }
                Event::Signal { dbm, .. } => {
                    if !(-200.0..=0.0).contains(dbm) {
                        return Err(Error::fault("timeline", format!("{dbm} dBm is outside -200 to 0")));
                    }
                    (at, Action::Heard(path, dbm.round() as i32))
                }
                Event::Profile { link, .. } => {
                    let found = links.iter().position(|one| *one.name == scenario.paths[path].link);
                    let index = found.ok_or_else(|| Error::fault("timeline", format!("{name} has no link")))?;
                    versions[index] += 1;
                    let new = Link::build(&links[index].name, link, (scenario, versions[index]), at)?;
                    (at, Action::Profile(index, Box::new(new)))
                }
            });
        }
        let late_ns = transfer_start(scenario);
        if late_ns > 0 {
            actions.push((start + late_ns, Action::StartTransfer));
        }
        for (number, traffic) in scenario.cross_traffic.iter().enumerate() {
            let (_, to) = traffic.times();
            actions.extend(starts(scenario, traffic).map(|from| (start + from, Action::Start(number))));
            actions.extend(to.map(|to| (start + to, Action::Stop(number))));
        }
        Ok(Timeline::new(actions))
    }

    fn new(mut actions: Vec<(Time, Action)>) -> Timeline {
        actions.sort_by_key(|(at, _)| *at);
        Timeline(actions.into())
    }

    /// Adds what happens behind all others.
    pub fn add(&mut self, at: Time, action: Action) {
        self.0.push_back((at, action));
    }

    /// All that is to happen.
    pub fn into_actions(self) -> impl Iterator<Item = (Time, Action)> {
        self.0.into_iter()
    }

    /// When the next happens; [`Time::MAX`] for never.
    pub fn deadline(&self) -> Time {
        self.0.front().map_or(Time::MAX, |(at, _)| *at)
    }

    /// The next action whose time has come.
    pub fn next(&mut self, now: Time) -> Option<Action> {
        if self.deadline() <= now { self.0.pop_front().map(|(_, action)| action) } else { None }
    }
}

/// When paths of the client come and go, in order: nanoseconds, index of the path, whether it is there from then on. At 0
/// come those that are there from the start. What changes nothing is left out.
pub fn presence(scenario: &Scenario) -> Vec<(i64, usize, bool)> {
    let path = |name: &str| scenario.paths.iter().position(|path| path.name == name);
    let mut all: Vec<_> = scenario.paths.iter().enumerate().map(|(path, one)| (0, path, one.attached)).collect();
    all.extend(scenario.timeline.iter().filter_map(|event| {
        let (at_ns, name) = event.time_and_path();
        match event {
            Event::Detach { .. } => Some((at_ns, path(name)?, false)),
            Event::Attach { takes_ns, .. } => Some((attached_ns(scenario, name, at_ns, *takes_ns)?, path(name)?, true)),
            _ => None,
        }
    }));
    all.sort_by_key(|(at_ns, _, _)| *at_ns);
    let mut there = vec![false; scenario.paths.len()];
    all.retain(|(_, path, comes)| std::mem::replace(&mut there[*path], *comes) != *comes);
    all
}

/// When an interface is there that begins to come at `at_ns`. One that goes again meanwhile does not come.
fn attached_ns(scenario: &Scenario, path: &str, at_ns: i64, takes_ns: i64) -> Option<i64> {
    let until_ns = at_ns + takes_ns;
    let goes = |event: &Event| {
        let (goes_ns, name) = event.time_and_path();
        matches!(event, Event::Detach { .. }) && name == path && at_ns < goes_ns && goes_ns < until_ns
    };
    if scenario.timeline.iter().any(goes) { None } else { Some(until_ns) }
}
