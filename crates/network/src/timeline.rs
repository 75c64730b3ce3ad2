//! What happens at given times.

use crate::network::Link;
use scenario::form::Event;
use scenario::{Error, Scenario, starts};
use std::collections::VecDeque;
use std::net::IpAddr;
use wire::Time;

/// What happens.
pub enum Action {
    /// Packets of a path vanish.
    Blackout(usize),
    /// They wait.
    Hold(usize),
    /// They pass again.
    Restore(usize),
    /// The interface goes.
    Detach(usize),
    /// The interface is there.
    Attach(usize),
    /// The public address is this.
    Rebind(usize, IpAddr),
    /// A link is another.
    Profile(usize, Box<Link>),
    /// A flow of the cross traffic of this number starts.
    Start(usize),
    /// It stops.
    Stop(usize),
}

/// Actions in order; of one time in the order in which they were added.
#[derive(Default)]
pub struct Timeline(VecDeque<(Time, Action)>);

impl Timeline {
    /// What happens to the links and paths of a scenario that starts at `start`.
    pub(crate) fn of(scenario: &Scenario, links: &[Link], start: Time) -> Result<Timeline, Error> {
        let mut versions = vec![0; links.len()];
        let mut actions = Vec::new();
        for event in &scenario.timeline {
            let (at_ns, name) = event.place();
            let path = scenario.paths.iter().position(|path| path.name == name);
            let path = path.ok_or_else(|| Error::fault("timeline", format!("there is no path {name}")))?;
            let at = start + at_ns;
            actions.push(match event {
                Event::Blackout { .. } => (at, Action::Blackout(path)),
                Event::Hold { .. } => (at, Action::Hold(path)),
                Event::Restore { .. } => (at, Action::Restore(path)),
                Event::Detach { .. } => (at, Action::Detach(path)),
                Event::Attach { takes_ns, .. } => {
                    let until = at_ns + *takes_ns;
                    if detached_within(scenario, name, at_ns, until) {
                        continue;
                    }
                    (at + *takes_ns, Action::Attach(path))
                }
                Event::Rebind { address, .. } => {
                    let known = scenario.paths[path].addresses().iter().any(|one| one.is_ipv4() == address.is_ipv4());
                    if !known {
                        return Err(Error::fault("timeline", format!("{address} is not of a family that {name} has")));
                    }
                    (at, Action::Rebind(path, *address))
                }
                Event::Profile { link, .. } => {
                    let place = links.iter().position(|one| *one.name == scenario.paths[path].link);
                    let place = place.ok_or_else(|| Error::fault("timeline", format!("{name} has no link")))?;
                    versions[place] += 1;
                    let new = Link::build(&links[place].name, link, (scenario, versions[place]), at)?;
                    (at, Action::Profile(place, Box::new(new)))
                }
            });
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

    /// When the next happens; [`Time::MAX`] for never.
    pub fn deadline(&self) -> Time {
        self.0.front().map_or(Time::MAX, |(at, _)| *at)
    }

    /// The next action whose time has come.
    pub fn next(&mut self, now: Time) -> Option<Action> {
        if self.deadline() <= now { self.0.pop_front().map(|(_, action)| action) } else { None }
    }
}

/// Whether a path loses its interface while it is being attached: then that comes to nothing.
fn detached_within(scenario: &Scenario, path: &str, from_ns: i64, until_ns: i64) -> bool {
    scenario.timeline.iter().any(|event| {
        let (at_ns, name) = event.place();
        matches!(event, Event::Detach { .. }) && name == path && from_ns < at_ns && at_ns < until_ns
    })
}
