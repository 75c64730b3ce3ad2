//! One path at a time, make before break: the next subflow is opened while the current one still stands, which is closed
//! once the new one has carried something (RFC 6897 §2.1 and Paasch et al., "Exploring mobile/WiFi handover with Multipath TCP", CellNet
//! 2012, call it the single-path and the backup mode; Apple's interactive and handover service types do likewise).

use super::{Closed, PathCommand, PathEvent, PathManager, Settings};
use parameters::{Duration, Fault, Number, fault, parameters};
use std::net::{IpAddr, SocketAddr};
use wire::Time;

pub(super) const SUMMARY: &str = "one path at a time: the next one is opened when the current one degrades, which is then closed; Linux opens all at once";

parameters! {
    struct Parameters {
        /// Retransmission time-outs in a row after which the current path counts as degraded; from 1 to 100.
        timeouts: Number = Number(2.0),
        /// The current path also counts as degraded if it has received data before, but nothing for this long. This is
        /// for hosts that only receive and so have no time-outs. If pauses are normal in the transfer, set it longer
        /// than they last.
        silence: Duration = Duration(1_000_000_000),
    }
}

/// How often silence is looked for.
const TICK_NS: i64 = 200_000_000;

/// Before a path that could not be opened, or was lost, is tried again.
const WAIT_NS: i64 = 1_000_000_000;

/// The client keeps one subflow, and moves it.
pub struct Handover {
    timeouts: u32,
    silence_ns: i64,
    backups: Vec<IpAddr>,
    max_subflows: usize,
    remote: Option<SocketAddr>,
    /// Addresses of the host.
    locals: Vec<IpAddr>,
    /// Those that failed since they came, in that order.
    failed: Vec<IpAddr>,
    /// Local addresses that the peer knows of.
    known: Vec<IpAddr>,
    current: Option<Current>,
    /// The one before, until the current one has carried something.
    leaving: Option<Current>,
    /// From where the next subflow is being opened.
    next: Option<IpAddr>,
    /// None is opened before.
    again: Option<Time>,
}

/// The subflow in use.
struct Current {
    index: usize,
    local: IpAddr,
    degraded: bool,
    received_bytes: u64,
    /// When the last of them came; none before the first.
    heard: Option<Time>,
}

impl Handover {
    /// Prefers addresses that are no backups.
    pub(crate) fn new(settings: &Settings, Parameters { timeouts, silence }: Parameters) -> Result<Handover, Fault> {
        if !(1.0..=100.0).contains(&timeouts.0) || timeouts.0.fract() != 0.0 {
            return Err(fault("timeouts", "is not a whole number from 1 to 100"));
        }
        let backups = settings.endpoints.iter().filter(|endpoint| endpoint.backup);
        Ok(Handover {
            timeouts: timeouts.0 as u32,
            silence_ns: silence.0 as i64,
            backups: backups.map(|endpoint| endpoint.address).collect(),
            max_subflows: settings.max_subflows as usize,
            remote: None,
            locals: Vec::new(),
            failed: Vec::new(),
            known: Vec::new(),
            current: None,
            leaving: None,
            next: None,
            again: None,
        })
    }

    fn opened(&mut self, index: usize, local: IpAddr) {
        let new = Current { index, local, degraded: false, received_bytes: 0, heard: None };
        self.next = self.next.filter(|&next| next != local);
        self.leaving = self.current.replace(new);
    }

    fn closed(&mut self, now: Time, index: usize, local: IpAddr, reason: Closed) {
        if self.current.as_ref().is_some_and(|current| current.index == index) {
            self.current = self.leaving.take();
        } else if self.leaving.as_ref().is_some_and(|leaving| leaving.index == index) {
            self.leaving = None;
        } else if self.next == Some(local) {
            self.next = None;
            self.again = Some(now + WAIT_NS);
        } else {
            return; // what a handover closed
        }
        if reason == Closed::AddressLost {
            // Told before the address is; nothing is to be opened from it in between.
            self.locals.retain(|&other| other != local);
        }
        self.fail(local);
    }

    fn fail(&mut self, local: IpAddr) {
        self.failed.retain(|&other| other != local);
        self.failed.push(local);
    }

    fn carried(
        &mut self,
        now: Time,
        index: usize,
        sent_bytes: u64,
        received_bytes: u64,
        commands: &mut Vec<PathCommand>,
    ) {
        let Some(current) = self.current.as_mut().filter(|current| current.index == index) else { return };
        if received_bytes > current.received_bytes {
            (current.received_bytes, current.heard) = (received_bytes, Some(now));
        }
        if current.heard.is_some_and(|heard| now - heard >= self.silence_ns) {
            self.degrade(index);
        }
        if sent_bytes + received_bytes > 0
            && let Some(old) = self.leaving.take()
        {
            commands.push(PathCommand::Close { subflow: old.index });
        }
    }

    fn degrade(&mut self, index: usize) {
        let current = self.current.as_mut().filter(|current| current.index == index && !current.degraded);
        if let Some(current) = current {
            current.degraded = true;
            let local = current.local;
            self.fail(local);
        }
    }

    /// Opens the next subflow where one is wanted: there is none, it is degraded, or a better path is there.
    fn open(&mut self, now: Time, commands: &mut Vec<PathCommand>) {
        let further = usize::from(self.current.as_ref().is_some_and(|current| current.index != 0));
        let may = further < self.max_subflows
            && self.leaving.is_none()
            && self.next.is_none()
            && self.again.is_none_or(|again| now >= again);
        let Some(remote) = self.remote.filter(|_| may) else { return };
        let here = self.current.as_ref().map(|current| current.local);
        let usable = |local: &&IpAddr| Some(**local) != here && local.is_ipv4() == remote.is_ipv4();
        let failed = |local: &IpAddr| self.failed.iter().position(|failed| failed == local);
        let backup = |local: &IpAddr| self.backups.contains(local);
        // Never failed comes first, failed long ago before failed just now.
        let best = self.locals.iter().filter(usable).min_by_key(|local| (failed(local), backup(local)));
        let Some(&local) = best else { return };
        let better = |current: &Current| backup(&current.local) && !backup(&local) && failed(&local).is_none();
        if self.current.as_ref().is_some_and(|current| !current.degraded && !better(current)) {
            return;
        }
        self.next = Some(local);
        if !self.known.contains(&local) {
            self.known.push(local);
        }
        commands.push(PathCommand::Join { local, remote, backup: false });
    }
}

impl PathManager for Handover {
    fn on(&mut self, now: Time, event: &PathEvent, commands: &mut Vec<PathCommand>) {
        match *event {
            PathEvent::Established { client: true, local, remote } => {
                self.remote = Some(remote);
                self.known.push(local.ip());
                self.opened(0, local.ip());
                commands.push(PathCommand::Wake { after_ns: TICK_NS });
            }
            PathEvent::AddressUp { address } => {
                self.failed.retain(|&failed| failed != address);
                self.locals.retain(|&local| local != address);
                self.locals.push(address);
            }
            PathEvent::AddressDown { address } => {
                self.locals.retain(|&local| local != address);
                let both = self.current.iter().chain(&self.leaving);
                let on_it = both.filter(|subflow| subflow.local == address);
                commands.extend(on_it.map(|current| PathCommand::Close { subflow: current.index }));
                if self.known.contains(&address) {
                    self.known.retain(|&known| known != address);
                    commands.push(PathCommand::Withdraw { address });
                }
            }
            PathEvent::SubflowEstablished { subflow, local, .. } if self.remote.is_some() => {
                self.opened(subflow, local.ip());
            }
            PathEvent::SubflowClosed { subflow, local, reason, .. } => self.closed(now, subflow, local.ip(), reason),
            PathEvent::SubflowTimeout { subflow, timeouts } if timeouts >= self.timeouts => self.degrade(subflow),
            PathEvent::SubflowPriority { subflow, backup: true } => self.degrade(subflow),
            PathEvent::Carried { subflow, sent_bytes, received_bytes } => {
                self.carried(now, subflow, sent_bytes, received_bytes, commands);
            }
            PathEvent::Timer => commands.push(PathCommand::Wake { after_ns: TICK_NS }),
            _ => {}
        }
        self.open(now, commands);
    }
}
