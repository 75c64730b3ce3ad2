//! Every local address to every address of the peer, and again when a subflow was lost: what the out-of-tree kernel's
//! `fullmesh` and mptcpd do, with subflows opened anew.

use super::{Closed, LocalEndpoint, PathCommand, PathEvent, PathManager, Settings};
use std::net::{IpAddr, SocketAddr};
use wire::Time;

pub(super) const SUMMARY: &str =
    "every local address to every address of the peer; reopens lost subflows, which Linux's never does";

/// Waits before a pair of addresses is tried again: the first, and the longest that doubling makes of it.
const WAIT_NS: (i64, i64) = (1_000_000_000, 30_000_000_000);

/// How often a pair may be refused: the options are stripped on the way, or the peer does not want it.
const REFUSALS: u32 = 3;

/// The client joins every pair of addresses; the server announces its addresses.
pub struct FullMesh {
    endpoints: Vec<LocalEndpoint>,
    max_subflows: usize,
    max_accepted: usize,
    /// Whether the connection may have subflows, and this end opens them.
    role: Option<Role>,
    locals: Vec<IpAddr>,
    /// Local addresses that the peer knows of.
    known: Vec<IpAddr>,
    remotes: Vec<Remote>,
    subflows: Vec<Subflow>,
    troubles: Vec<Trouble>,
    wake: Option<Time>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Client,
    Server,
}

struct Remote {
    /// As announced; 0 is the one that the connection began with (RFC 8684 §3.4).
    id: u8,
    address: SocketAddr,
}

/// A subflow that is open or being opened.
struct Subflow {
    /// None while it is being opened.
    index: Option<usize>,
    local: IpAddr,
    remote: SocketAddr,
    /// Opened with the connection: it does not count.
    initial: bool,
}

/// A pair of addresses that failed.
struct Trouble {
    local: IpAddr,
    remote: SocketAddr,
    failures: u32,
    refusals: u32,
    /// When it is tried again; never unless one of its addresses comes anew.
    again: Time,
}

impl FullMesh {
    /// Uses all addresses of the host; of the endpoints only whether they are backups matters.
    pub fn new(settings: &Settings) -> FullMesh {
        FullMesh {
            endpoints: settings.endpoints.clone(),
            max_subflows: settings.max_subflows as usize,
            max_accepted: settings.max_add_addr_accepted as usize,
            role: None,
            locals: Vec::new(),
            known: Vec::new(),
            remotes: Vec::new(),
            subflows: Vec::new(),
            troubles: Vec::new(),
            wake: None,
        }
    }

    fn established(&mut self, client: bool, local: SocketAddr, remote: SocketAddr, commands: &mut Vec<PathCommand>) {
        self.remotes.push(Remote { id: 0, address: remote });
        self.opened(0, local.ip(), remote, true);
        self.known.push(local.ip());
        if client {
            self.role = Some(Role::Client);
            if self.backup(local.ip()) {
                commands.push(PathCommand::SetBackup { subflow: 0, backup: true });
            }
            return;
        }
        self.role = Some(Role::Server);
        for address in self.locals.clone() {
            self.announce(address, commands);
        }
    }

    fn announce(&mut self, address: IpAddr, commands: &mut Vec<PathCommand>) {
        if self.role == Some(Role::Server) && !self.known.contains(&address) {
            self.known.push(address);
            commands.push(PathCommand::Announce { address, port: None });
        }
    }

    fn announced(&mut self, id: u8, address: SocketAddr) {
        self.troubles.retain(|trouble| trouble.remote != address);
        if self.remotes.iter().any(|remote| remote.address == address) {
            return;
        }
        self.remotes.retain(|remote| remote.id != id);
        if self.remotes.iter().filter(|remote| remote.id != 0).count() < self.max_accepted {
            self.remotes.push(Remote { id, address });
        }
    }

    /// A subflow is open: one that was being opened, or the peer's.
    fn opened(&mut self, index: usize, local: IpAddr, remote: SocketAddr, initial: bool) {
        self.troubles.retain(|trouble| (trouble.local, trouble.remote) != (local, remote));
        match self.subflows.iter_mut().find(|subflow| subflow.local == local && subflow.remote == remote) {
            Some(subflow) => subflow.index = Some(index),
            None => self.subflows.push(Subflow { index: Some(index), local, remote, initial }),
        }
    }

    fn closed(&mut self, now: Time, local: IpAddr, remote: SocketAddr, reason: Closed) {
        self.subflows.retain(|subflow| subflow.local != local || subflow.remote != remote);
        if reason == Closed::AddressLost {
            // Told before the address is; nothing is to be opened from it in between.
            self.locals.retain(|&other| other != local);
            return;
        }
        if self.role != Some(Role::Client) {
            return;
        }
        let index = match self.troubles.iter().position(|trouble| trouble.local == local && trouble.remote == remote) {
            Some(index) => index,
            None => {
                self.troubles.push(Trouble { local, remote, failures: 0, refusals: 0, again: Time::MAX });
                self.troubles.len() - 1
            }
        };
        let trouble = &mut self.troubles[index];
        let wait = (WAIT_NS.0 << trouble.failures.min(5)).min(WAIT_NS.1);
        trouble.failures += 1;
        trouble.refusals += u32::from(reason == Closed::Refused);
        trouble.again = match reason {
            Closed::TimedOut | Closed::Reset => now + wait,
            Closed::Refused if trouble.refusals < REFUSALS => now + wait,
            _ => Time::MAX,
        };
    }

    fn address_up(&mut self, address: IpAddr, commands: &mut Vec<PathCommand>) {
        self.troubles.retain(|trouble| trouble.local != address);
        if self.locals.contains(&address) {
            return;
        }
        self.locals.push(address);
        self.announce(address, commands);
    }

    fn address_down(&mut self, address: IpAddr, commands: &mut Vec<PathCommand>) {
        self.locals.retain(|&local| local != address);
        if self.known.contains(&address) {
            self.known.retain(|&known| known != address);
            commands.push(PathCommand::Withdraw { address });
        }
        let on_it = self.subflows.iter().filter(|subflow| subflow.local == address);
        commands.extend(on_it.filter_map(|subflow| subflow.index).map(|subflow| PathCommand::Close { subflow }));
    }

    /// Opens what is missing.
    fn join(&mut self, now: Time, commands: &mut Vec<PathCommand>) {
        if self.role != Some(Role::Client) {
            return;
        }
        for remote in &self.remotes {
            for &local in &self.locals {
                let remote = remote.address;
                let used = self.subflows.iter().any(|subflow| subflow.local == local && subflow.remote == remote);
                let barred = self
                    .troubles
                    .iter()
                    .any(|trouble| trouble.local == local && trouble.remote == remote && trouble.again > now);
                let further = self.subflows.iter().filter(|subflow| !subflow.initial).count();
                if used || barred || local.is_ipv4() != remote.is_ipv4() || further >= self.max_subflows {
                    continue;
                }
                self.subflows.push(Subflow { index: None, local, remote, initial: false });
                if !self.known.contains(&local) {
                    self.known.push(local);
                }
                commands.push(PathCommand::Join { local, remote, backup: self.backup(local) });
            }
        }
    }

    /// Asks to be woken when the next pair is to be tried again.
    fn sleep(&mut self, now: Time, commands: &mut Vec<PathCommand>) {
        let waiting = self.troubles.iter().filter(|trouble| self.locals.contains(&trouble.local));
        let next = waiting.map(|trouble| trouble.again).filter(|&again| again > now && again < Time::MAX).min();
        if next != self.wake
            && let Some(next) = next
        {
            commands.push(PathCommand::Wake { after_ns: next - now });
        }
        self.wake = next;
    }

    fn backup(&self, address: IpAddr) -> bool {
        self.endpoints.iter().any(|endpoint| endpoint.address == address && endpoint.backup)
    }
}

impl PathManager for FullMesh {
    fn on(&mut self, now: Time, event: &PathEvent, commands: &mut Vec<PathCommand>) {
        match *event {
            PathEvent::Established { client, local, remote } => self.established(client, local, remote, commands),
            PathEvent::Announced { id, remote } => self.announced(id, remote),
            PathEvent::Withdrawn { id } => self.remotes.retain(|remote| remote.id != id),
            PathEvent::SubflowEstablished { subflow, local, remote } => self.opened(subflow, local.ip(), remote, false),
            PathEvent::SubflowClosed { local, remote, reason, .. } => self.closed(now, local.ip(), remote, reason),
            PathEvent::AddressUp { address } => self.address_up(address, commands),
            PathEvent::AddressDown { address } => self.address_down(address, commands),
            PathEvent::Timer => self.wake = None,
            _ => {}
        }
        self.join(now, commands);
        self.sleep(now, commands);
    }
}
