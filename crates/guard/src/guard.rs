//! All paths of a host: the evidence of one is weighed by another's.

use crate::path::Path;
use crate::{Decision, Seen, Settings, State};
use wire::Time;

/// What the guard orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Send a probe over a path, something that the peer's host answers at once.
    Probe {
        /// The path.
        path: usize,
        /// What the answer is known by.
        number: u16,
    },
    /// A path is not to be used, or may be again, if the verdict says so; else it is only told.
    Decided {
        /// The path.
        path: usize,
        /// What was found, on what evidence.
        decision: Decision,
    },
}

/// Watches the paths of a host, which it knows by their places.
pub struct Guard {
    settings: Settings,
    paths: Vec<Path>,
    number: u16,
}

/// How often [`Guard::tick`] should be called while data moves: a fifth of what a decision takes.
pub const TICK_NS: i64 = 20_000_000;

impl Guard {
    /// Of a host without paths.
    pub fn new(settings: Settings) -> Guard {
        Guard { settings, paths: Vec::new(), number: 0 }
    }

    /// A path came; gives its place.
    pub fn add(&mut self, now: Time) -> usize {
        self.paths.push(Path::new(now));
        self.paths.len() - 1
    }

    /// A path that had gone came again.
    pub fn up(&mut self, now: Time, path: usize) {
        self.paths[path].came(now);
    }

    /// The host has a path no more.
    pub fn down(&mut self, path: usize) {
        self.paths[path].up = false;
    }

    /// What a path is taken for.
    pub fn state(&self, path: usize) -> State {
        self.paths[path].state
    }

    /// Whether a path may be used.
    pub fn may_use(&self, path: usize) -> bool {
        matches!(self.paths[path].state, State::Good | State::Probed)
    }

    /// What is known of a path at this time.
    pub fn seen(&mut self, now: Time, path: usize, seen: Seen, orders: &mut Vec<Order>) {
        let one = &mut self.paths[path];
        if one.see(now, seen) && one.state == State::Probed {
            let decision = one.clear(now, true);
            orders.push(Order::Decided { path, decision });
        }
    }

    /// The answer to a probe came over a path.
    pub fn answered(&mut self, now: Time, path: usize, number: u16, orders: &mut Vec<Order>) {
        let one = &mut self.paths[path];
        one.answer(now, number);
        if one.state == State::Probed && one.has_answered() {
            let decision = one.clear(now, false);
            orders.push(Order::Decided { path, decision });
        }
    }

    /// Time has passed: decides what is due.
    pub fn tick(&mut self, now: Time, orders: &mut Vec<Order>) {
        for path in 0..self.paths.len() {
            if !self.paths[path].up {
                continue;
            }
            match self.paths[path].state {
                State::Good => self.look(now, path, orders),
                State::Probed => self.judge(now, path, orders),
                State::Suspended | State::OnTrial => self.try_again(now, path, orders),
            }
            if self.paths[path].wants_probe(now, &self.settings) {
                self.probe(now, path, orders);
            }
        }
    }

    /// Others that data could go over.
    fn others(&self, path: usize) -> impl Iterator<Item = (usize, &Path)> {
        self.paths.iter().enumerate().filter(move |&(other, one)| {
            other != path && one.up && one.seen.carries && matches!(one.state, State::Good | State::Probed)
        })
    }

    fn look(&mut self, now: Time, path: usize, orders: &mut Vec<Order>) {
        let other = self.others(path).filter_map(|(_, one)| one.received()).max();
        let has_other = self.others(path).next().is_some();
        let one = &mut self.paths[path];
        one.calm(now);
        // Who has never answered cannot be told from who does not answer any more.
        if !one.is_good() || !has_other || one.answered.is_none() {
            return;
        }
        let Some(suspicion) = one.suspicion(now, &self.settings, other) else { return };
        let decision = one.suspect(now, &self.settings, suspicion);
        orders.push(Order::Decided { path, decision });
    }

    fn probe(&mut self, now: Time, path: usize, orders: &mut Vec<Order>) {
        self.send(now, path, orders);
        if self.paths[path].state == State::Probed {
            let witnesses: Vec<_> =
                self.others(path).filter(|(_, one)| one.state == State::Good).map(|(other, _)| other).collect();
            for other in witnesses {
                self.send(now, other, orders);
            }
        }
    }

    fn send(&mut self, now: Time, path: usize, orders: &mut Vec<Order>) {
        self.number = self.number.wrapping_add(1);
        self.paths[path].sent(now, self.number);
        orders.push(Order::Probe { path, number: self.number });
    }

    /// Of a path that is probed.
    fn judge(&mut self, now: Time, path: usize, orders: &mut Vec<Order>) {
        let since = self.paths[path].since();
        let witnessed =
            self.others(path).any(|(_, one)| one.state == State::Good && one.answered.is_some_and(|at| at > since));
        let one = &mut self.paths[path];
        if !one.is_overdue(now) || !witnessed {
            return;
        }
        let decision = one.suspend(now, &self.settings);
        orders.push(Order::Decided { path, decision });
    }

    /// Of a path that is suspended or on trial.
    fn try_again(&mut self, now: Time, path: usize, orders: &mut Vec<Order>) {
        let alone = !self.others(path).any(|(_, one)| one.state == State::Good);
        let gone = self.others(path).next().is_none();
        let one = &mut self.paths[path];
        let decision = if gone {
            // A bad path is better than none.
            Some(one.resume(now, &self.settings, true))
        } else if one.state == State::OnTrial {
            one.judge_trial(now, &self.settings, alone)
        } else {
            None
        };
        orders.extend(decision.map(|decision| Order::Decided { path, decision }));
    }
}
