//! What happens at given times.

use crate::network::Link;
use std::collections::VecDeque;
use std::net::IpAddr;
use wire::Time;

/// What happens.
pub(crate) enum Action {
    Blackout(usize),
    Hold(usize),
    Restore(usize),
    Detach(usize),
    /// The interface is there.
    Attach(usize),
    Rebind(usize, IpAddr),
    /// A link is another.
    Profile(usize, Box<Link>),
    /// Cross traffic, by its number.
    Start(usize),
    Stop(usize),
}

/// Actions in order; of one time in the order in which they were added.
#[derive(Default)]
pub(crate) struct Timeline(VecDeque<(Time, Action)>);

impl Timeline {
    pub fn new(mut actions: Vec<(Time, Action)>) -> Timeline {
        actions.sort_by_key(|(at, _)| *at);
        Timeline(actions.into())
    }

    pub fn deadline(&self) -> Time {
        self.0.front().map_or(Time::MAX, |(at, _)| *at)
    }

    /// The next action whose time has come.
    pub fn next(&mut self, now: Time) -> Option<Action> {
        if self.deadline() <= now { self.0.pop_front().map(|(_, action)| action) } else { None }
    }
}
