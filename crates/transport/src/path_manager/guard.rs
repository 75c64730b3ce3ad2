//! A full mesh whose paths are watched: one that has gone bad is left at once, with REMOVE_ADDR, upon which the peer moves all that was on it, or becomes a backup, and is
//! used again once it answers. What is decided, and on what evidence, the crate `guard` says; this gives it what a connection knows.

use super::chosen::Chosen;
use super::{PathCommand, PathEvent, PathManager, Settings};
use ::guard::{Guard as Brain, Order, Seen, Verdict};
use parameters::Fault;
use std::net::IpAddr;
use wire::Time;

pub(super) use ::guard::Settings as Parameters;

pub(super) const SUMMARY: &str = "full mesh; probes detect that a path has gone bad: it is left, and used again later, within tenths of a second; Linux keeps it";

/// The client leaves bad paths.
pub struct Guard {
    brain: Brain,
    paths: Chosen,
    remote: Option<IpAddr>,
    /// By the guard's index of each.
    locals: Vec<Local>,
    makes_backups: bool,
    /// Endpoints that are backups anyway.
    backups: Vec<IpAddr>,
    /// Established subflows, their local addresses and what was seen of each.
    subflows: Vec<(usize, IpAddr, Seen)>,
}

struct Local {
    address: IpAddr,
    /// Bytes of subflows that are over.
    acked_bytes: u64,
    received_bytes: u64,
}

impl Guard {
    /// With what is set of the guard.
    pub(crate) fn new(settings: &Settings, parameters: Parameters) -> Result<Guard, Fault> {
        let parameters = parameters.check()?;
        let backups = settings.endpoints.iter().filter(|endpoint| endpoint.backup);
        Ok(Guard {
            makes_backups: parameters.makes_backups(),
            backups: backups.map(|endpoint| endpoint.address).collect(),
            brain: Brain::new(parameters),
            paths: Chosen::new(settings),
            remote: None,
            locals: Vec::new(),
            subflows: Vec::new(),
        })
    }

    fn index_of(&self, address: IpAddr) -> Option<usize> {
        self.locals.iter().position(|local| local.address == address)
    }

    fn came(&mut self, now: Time, address: IpAddr) {
        match self.index_of(address) {
            Some(path) => self.brain.up(now, path),
            None => {
                self.brain.add(now);
                self.locals.push(Local { address, acked_bytes: 0, received_bytes: 0 });
            }
        }
    }

    /// A subflow is over; what it carried still counts.
    fn closed(&mut self, index: usize) {
        let Some(at) = self.subflows.iter().position(|&(subflow, ..)| subflow == index) else { return };
        let (_, address, seen) = self.subflows.remove(at);
        if let Some(path) = self.index_of(address) {
            self.locals[path].acked_bytes += seen.acked_bytes;
            self.locals[path].received_bytes += seen.received_bytes;
        }
    }

    /// Of all subflows of a path together.
    fn seen(&self, path: usize) -> Seen {
        let Local { address, acked_bytes, received_bytes } = self.locals[path];
        let is_only = self.subflows.iter().all(|(_, local, _)| *local == address);
        let before = Seen { is_only, acked_bytes, received_bytes, ..Seen::default() };
        let on_it = self.subflows.iter().filter(|(_, local, _)| *local == address);
        on_it.fold(before, |sum, (_, _, seen)| sum.with(seen))
    }

    /// Whether a path that is suspended becomes a backup, rather than losing its subflows.
    fn steps_back(&self, address: IpAddr) -> bool {
        self.makes_backups && !self.backups.contains(&address)
    }

    /// What follows of a decision.
    fn decided(&self, address: IpAddr, verdict: Verdict, commands: &mut Vec<PathCommand>) {
        let backup = match verdict {
            Verdict::Suspended => true,
            Verdict::Resumed => false,
            Verdict::Suspect | Verdict::Cleared => return,
        };
        if self.steps_back(address) {
            let on_it = self.subflows.iter().filter(|(_, local, _)| *local == address);
            commands.extend(on_it.map(|&(subflow, ..)| PathCommand::SetBackup { subflow, backup }));
        }
    }

    fn tick(&mut self, now: Time) -> Vec<Order> {
        let mut orders = Vec::new();
        for path in 0..self.locals.len() {
            let seen = self.seen(path);
            self.brain.seen(now, path, seen, &mut orders);
        }
        self.brain.tick(now, &mut orders);
        orders
    }
}

impl PathManager for Guard {
    fn on(&mut self, now: Time, event: &PathEvent, commands: &mut Vec<PathCommand>) {
        let mut orders = Vec::new();
        match *event {
            PathEvent::Established { client: true, local, remote } => {
                self.remote = Some(remote.ip());
                self.subflows.push((0, local.ip(), Seen { carries: true, ..Seen::default() }));
            }
            PathEvent::AddressUp { address } => self.came(now, address),
            PathEvent::Heard { address, dbm } => {
                if let Some(path) = self.index_of(address) {
                    self.brain.heard(path, Some(dbm));
                }
            }
            PathEvent::AddressDown { address } => {
                if let Some(path) = self.index_of(address) {
                    self.brain.down(path);
                }
            }
            PathEvent::SubflowEstablished { subflow, local, .. } => {
                self.subflows.push((subflow, local.ip(), Seen { carries: true, ..Seen::default() }));
            }
            PathEvent::SubflowClosed { subflow, .. } => self.closed(subflow),
            PathEvent::Carried { subflow, sent_bytes, received_bytes } => {
                if let Some((.., seen)) = self.subflows.iter_mut().find(|(index, ..)| *index == subflow) {
                    (seen.acked_bytes, seen.received_bytes) = (sent_bytes, received_bytes);
                }
            }
            PathEvent::Waits { subflow, outstanding, srtt_ns, rttvar_ns, out_of_order_bytes } => {
                if let Some((.., seen)) = self.subflows.iter_mut().find(|(index, ..)| *index == subflow) {
                    (seen.outstanding, seen.srtt_ns, seen.rttvar_ns) = (outstanding, srtt_ns, rttvar_ns);
                    seen.received_bytes += out_of_order_bytes;
                }
            }
            PathEvent::Answered { local, number } => {
                if let Some(path) = self.index_of(local) {
                    self.brain.answered(now, path, number, &mut orders);
                }
            }
            PathEvent::Timer => orders = self.tick(now),
            _ => {}
        }
        let unwanted: Vec<_> = (0..self.locals.len())
            .filter(|&path| !self.brain.may_use(path))
            .map(|path| self.locals[path].address)
            .filter(|&address| !self.steps_back(address))
            .collect();
        self.paths.on(now, event, |address| !unwanted.contains(&address), commands);
        let Some(remote) = self.remote else { return };
        for order in orders {
            match order {
                Order::Probe { path, number, about } => {
                    let local = self.locals[path].address;
                    if local.is_ipv4() == remote.is_ipv4() {
                        self.brain.sent(now, path, number, about);
                        commands.push(PathCommand::Probe { local, remote, number });
                    }
                }
                Order::Decided { path, decision } => {
                    let address = self.locals[path].address;
                    self.decided(address, decision.verdict, commands);
                    commands.push(PathCommand::Decided { address, decision });
                }
            }
        }
        if self.paths.is_begun() && matches!(event, PathEvent::Established { .. } | PathEvent::Timer) {
            commands.push(PathCommand::Wake { after_ns: self.brain.pause_ns(now) });
        }
    }
}
