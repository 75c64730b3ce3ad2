//! All paths of a host: the evidence of one is weighed by another's.

use crate::path::Path;
use crate::{Cause, Decision, Seen, Settings, State};
use wire::Time;

/// What the guard orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Send a probe over a path, something that the peer's host answers at once, and tell [`Guard::sent`] if that could be done.
    Probe {
        /// The path.
        path: usize,
        /// What the answer is known by.
        number: u16,
        /// The path that it is to tell of: this one, or one that is suspect.
        about: usize,
    },
    /// A path is not to be used, or may be again, if the verdict says so; else it is only reported.
    Decided {
        /// The path.
        path: usize,
        /// What was found, on what evidence.
        decision: Decision,
    },
}

/// Watches the paths of a host, which it knows by their indices.
pub struct Guard {
    settings: Settings,
    paths: Vec<Path>,
    number: u16,
    /// Whether there is a connection, be it one that has no subflow left.
    is_connected: bool,
}

/// How often [`Guard::tick`] should be called while data moves: silence is known no better than that.
pub const TICK_NS: i64 = 10_000_000;
/// And while probes are under way: they follow each other by little more.
const PROBING_TICK_NS: i64 = 5_000_000;
/// And never more often than this.
const LEAST_NS: i64 = 1_000_000;

impl Guard {
    /// Of a host without paths.
    pub fn new(settings: Settings) -> Guard {
        Guard { settings, paths: Vec::new(), number: 0, is_connected: true }
    }

    /// A path came; gives its index.
    pub fn add(&mut self, now: Time) -> usize {
        self.paths.push(Path::new(now));
        self.paths.len() - 1
    }

    /// A path that had gone came again.
    pub fn up(&mut self, now: Time, path: usize) {
        self.paths[path].came(now);
    }

    /// A path that an earlier guard had left: it is not used until it answers.
    pub fn add_left(&mut self, now: Time) -> usize {
        let path = self.add(now);
        self.paths[path].leave(now, &self.settings, Cause::Found);
        path
    }

    /// The host lost a path's address, or its interface the carrier, but not what uses it: it is not to be used until it answers.
    pub fn lost(&mut self, now: Time, path: usize, cause: Cause, orders: &mut Vec<Order>) {
        if self.may_use(path) && self.others(path).next().is_some() {
            let decision = self.paths[path].leave(now, &self.settings, cause);
            orders.push(Order::Decided { path, decision });
        }
    }

    /// The radio of a path hears this now, in dBm; none: nobody knows.
    pub fn heard(&mut self, path: usize, dbm: Option<i32>) {
        self.paths[path].signal.hear(dbm);
    }

    /// There is a connection now, or none; as long as nobody says, there is one.
    pub fn connected(&mut self, is_connected: bool) {
        if is_connected && !self.is_connected {
            self.paths.iter_mut().for_each(Path::forget_order);
        }
        self.is_connected = is_connected;
    }

    /// Nobody is left to ask, and no connection would suffer: paths that were left may be used again.
    pub fn unasked(&mut self, now: Time, orders: &mut Vec<Order>) {
        for path in 0..self.paths.len() {
            if !self.may_use(path) {
                let decision = self.paths[path].resume(now, &self.settings, Some(Cause::Unasked));
                orders.push(Order::Decided { path, decision });
            }
        }
    }

    /// Another host is asked from now on.
    pub fn ask_anew(&mut self) {
        self.paths.iter_mut().for_each(Path::ask_anew);
    }

    /// A probe that was ordered went out.
    pub fn sent(&mut self, now: Time, path: usize, number: u16, about: usize) {
        self.paths[path].sent(now, number, about);
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

    /// How long to wait before the next [`Guard::tick`] while data moves: no longer than until the next probe is due.
    pub fn pause_ns(&self, now: Time) -> i64 {
        let probed = self.paths.iter().filter(|path| path.up && path.state == State::Probed);
        let until = probed.filter_map(|path| path.probe_due(&self.settings)).map(|due| (due - now).max(LEAST_NS)).min();
        until.map_or(TICK_NS, |until| until.min(PROBING_TICK_NS))
    }

    /// Whether probes tell of a path that may have gone bad.
    pub fn is_probing(&self) -> bool {
        self.paths.iter().any(|path| path.up && path.state == State::Probed && !path.is_undecided(&self.settings))
    }

    /// Whether a path is left now unless it moves: it is time to look.
    pub fn is_deciding(&self, now: Time) -> bool {
        let is_overdue = |path: &Path| path.state == State::Probed && path.is_overdue(now, &self.settings);
        self.paths.iter().any(|path| path.up && is_overdue(path))
    }

    /// Whether a path is good, and nothing of it is under way.
    pub fn is_at_rest(&self, path: usize) -> bool {
        let one = &self.paths[path];
        one.state == State::Good && (one.answered.is_some() || !one.seen.carries)
    }

    /// What is known of a path at this time.
    pub fn seen(&mut self, now: Time, path: usize, seen: Seen, orders: &mut Vec<Order>) {
        let one = &mut self.paths[path];
        if let Some(still_ns) = one.see(now, seen)
            && one.state == State::Probed
        {
            let cleared = one.clear(now, Some(still_ns));
            orders.extend(cleared.map(|decision| Order::Decided { path, decision }));
        }
    }

    /// The answer to a probe came over a path.
    pub fn answered(&mut self, now: Time, path: usize, number: u16, orders: &mut Vec<Order>) {
        let one = &mut self.paths[path];
        let usual_ns = one.rtt_ns();
        let Some((about, sent)) = one.answer(now, number) else { return };
        if one.state == State::Probed && one.has_answered() {
            let cleared = one.clear(now, None);
            orders.extend(cleared.map(|decision| Order::Decided { path, decision }));
        }
        if about != path {
            self.paths[about].witness(now, sent, usual_ns);
        }
    }

    /// Time has passed: decides what is due.
    pub fn tick(&mut self, now: Time, orders: &mut Vec<Order>) {
        self.paths.iter_mut().for_each(|path| path.signal.tick(now, &self.settings));
        for path in 0..self.paths.len() {
            if !self.paths[path].up {
                continue;
            }
            if self.is_weak(path) {
                let decision = self.paths[path].leave(now, &self.settings, Cause::Weak);
                orders.push(Order::Decided { path, decision });
            }
            match self.paths[path].state {
                State::Good if self.is_ahead(now, path) => {
                    let decision = self.paths[path].step_behind(now, &self.settings);
                    orders.push(Order::Decided { path, decision });
                }
                State::Good => self.look(now, path),
                State::Probed => self.judge(now, path, orders),
                State::Suspended | State::OnTrial => self.try_again(now, path, orders),
            }
            let due = self.paths[path].probes_due(now, &self.settings);
            if due > 0 {
                self.probe(path, due, orders);
            }
        }
    }

    /// Others that data could go over.
    fn others(&self, path: usize) -> impl Iterator<Item = (usize, &Path)> {
        self.paths.iter().enumerate().filter(move |&(other, one)| {
            other != path && one.up && one.seen.carries && matches!(one.state, State::Good | State::Probed)
        })
    }

    /// Of a path that is good, or probed before it is suspect.
    fn suspicion(&self, now: Time, path: usize, early: bool) -> Option<Decision> {
        let other = self.others(path).filter_map(|(_, one)| one.received()).max();
        self.paths[path].suspicion(now, &self.settings, other, early)
    }

    /// Whether a path that may be used is to be left for its signal: another is good, and hears enough.
    fn is_weak(&self, path: usize) -> bool {
        let hears = |one: &Path| one.state == State::Good && !one.signal.is_weak();
        self.may_use(path) && self.paths[path].signal.is_weak() && self.others(path).any(|(_, one)| hears(one))
    }

    /// Whether a path stands before a quicker one that is good again.
    fn is_ahead(&self, now: Time, path: usize) -> bool {
        let one = &self.paths[path];
        let answers = |one: &Path| one.is_good() && one.answered.is_some();
        // A backup keeps its subflows, and with them its position; whose radio hears too little would not come back; a connection that has
        // no other subflow would stand still, or end, and it may have them on another path that is away for the same.
        let is_away = |other: usize| self.paths[other].up && self.paths[other].has_stepped() && !self.may_use(other);
        let may_step = !self.settings.makes_backups() && !one.signal.is_weak() && !one.seen.is_only;
        let may_step = may_step && !(0..self.paths.len()).any(is_away);
        may_step && answers(one) && self.others(path).any(|(_, other)| answers(other) && one.is_ahead_of(now, other))
    }

    fn look(&mut self, now: Time, path: usize) {
        // One on trial, or that only stepped behind, is returned to at once if this one proves bad.
        let may_return =
            |one: &Path| one.up && (one.state == State::OnTrial || one.state == State::Suspended && one.has_stepped());
        let has_other = self.others(path).next().is_some() || self.paths.iter().any(may_return);
        let one = &mut self.paths[path];
        one.calm(now);
        // Who has never answered cannot be told from who does not answer any more.
        if !one.is_good() || !has_other || one.answered.is_none() {
            return;
        }
        if let Some(suspicion) = self.suspicion(now, path, true) {
            self.paths[path].ask(now, &self.settings, suspicion);
        }
    }

    fn probe(&mut self, path: usize, due: u32, orders: &mut Vec<Order>) {
        (0..due).for_each(|_| self.send(path, path, orders));
        if self.paths[path].state == State::Probed && !self.paths[path].is_witnessed() {
            let witnesses: Vec<_> = self.others(path).map(|(other, _)| other).collect();
            for other in witnesses {
                self.send(other, path, orders);
            }
        }
    }

    fn send(&mut self, path: usize, about: usize, orders: &mut Vec<Order>) {
        self.number = self.number.wrapping_add(1);
        orders.push(Order::Probe { path, number: self.number, about });
    }

    /// Of a path that is probed.
    fn judge(&mut self, now: Time, path: usize, orders: &mut Vec<Order>) {
        if self.paths[path].is_early() {
            if self.suspicion(now, path, true).is_none() {
                // What it waited for is over: a subflow has ended, for example.
                self.paths[path].clear(now, None);
                return;
            }
            let suspicion = self.suspicion(now, path, false);
            let Some(decision) = self.paths[path].suspect(now, &self.settings, suspicion) else { return };
            orders.push(Order::Decided { path, decision });
        }
        // One that is looked at, but not suspect yet, is still taken for good.
        let is_good = |one: &Path| one.state == State::Good || one.is_early();
        let witnessed = self.paths[path].is_witnessed() && self.others(path).any(|(_, one)| is_good(one));
        let one = &mut self.paths[path];
        if !one.is_overdue(now, &self.settings) || !witnessed {
            return;
        }
        let decision = one.suspend(now, &self.settings);
        orders.push(Order::Decided { path, decision });
    }

    /// Of a path that is suspended or on trial.
    fn try_again(&mut self, now: Time, path: usize, orders: &mut Vec<Order>) {
        let may_answer = |one: &Path| one.state == State::Good || !one.is_overdue(now, &self.settings);
        let is_good = |one: &Path| one.state == State::Good || one.is_early();
        let alone = !self.others(path).any(|(_, one)| may_answer(one));
        // Of a path that is not known to be bad, a suspicion of the others is enough.
        let is_needed = self.paths[path].has_stepped() && !self.others(path).any(|(_, one)| is_good(one));
        // Where no connection is, nothing is carried: another path may be good all the same.
        let gone = if self.is_connected {
            self.others(path).next().is_none()
        } else {
            !(0..self.paths.len()).any(|other| other != path && self.paths[other].up && self.may_use(other))
        };
        let one = &mut self.paths[path];
        let decision = if gone || is_needed {
            // A bad path is better than none.
            Some(one.resume(now, &self.settings, Some(Cause::Alone)))
        } else if one.state == State::OnTrial {
            one.judge_trial(now, &self.settings, alone && self.is_connected)
        } else {
            None
        };
        orders.extend(decision.map(|decision| Order::Decided { path, decision }));
    }
}
