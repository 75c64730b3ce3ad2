//! The in-kernel path manager of upstream Linux (`net/mptcp/pm_kernel.c`, before 6.16 `pm_netlink.c`; ip-mptcp(8)).
//!
//! A local address opens subflows or is announced once: what timed out or was reset is not opened again, as in the
//! kernel. An address that goes takes its endpoint with it, as when NetworkManager or mptcpd keeps them.

use super::{Closed, LocalEndpoint, PathCommand, PathEvent, PathManager, Settings};
use std::net::{IpAddr, SocketAddr};
use wire::Time;

pub(super) const SUMMARY: &str = "upstream Linux: endpoints with the flags subflow, signal, backup and fullmesh";

/// Linux's endpoints and limits.
pub struct Linux {
    endpoints: Vec<LocalEndpoint>,
    max_subflows: usize,
    max_accepted: usize,
    connection: Option<Connection>,
    up: Vec<IpAddr>,
    /// Endpoints that had their turn (id_avail_bitmap).
    used: Vec<IpAddr>,
    /// Local addresses that the peer knows of.
    known: Vec<IpAddr>,
    /// Announced addresses that were joined.
    accepted: Vec<(u8, SocketAddr)>,
    subflows: Vec<Subflow>,
}

#[derive(Clone, Copy)]
struct Connection {
    client: bool,
    local: IpAddr,
    remote: SocketAddr,
}

/// A subflow that is open or being opened.
struct Subflow {
    index: Option<usize>,
    local: IpAddr,
    remote: SocketAddr,
    /// Opened with the connection: it does not count.
    initial: bool,
}

impl Linux {
    /// With these endpoints and limits.
    pub fn new(settings: &Settings) -> Linux {
        Linux {
            endpoints: settings.endpoints.clone(),
            max_subflows: settings.max_subflows as usize,
            max_accepted: settings.max_add_addr_accepted as usize,
            connection: None,
            up: Vec::new(),
            used: Vec::new(),
            known: Vec::new(),
            accepted: Vec::new(),
            subflows: Vec::new(),
        }
    }

    fn established(&mut self, client: bool, local: SocketAddr, remote: SocketAddr, commands: &mut Vec<PathCommand>) {
        self.connection = Some(Connection { client, local: local.ip(), remote });
        self.opened(0, local.ip(), remote, true);
        // MPTCP_PM_MPC_ENDPOINT_ACCOUNTED: the initial subflow's endpoint had its turn.
        self.used.push(local.ip());
        self.known.push(local.ip());
        if self.endpoint(local.ip()).is_some_and(|endpoint| endpoint.backup) {
            commands.push(PathCommand::SetBackup { subflow: 0, backup: true });
        }
    }

    fn opened(&mut self, index: usize, local: IpAddr, remote: SocketAddr, initial: bool) {
        match self.subflows.iter_mut().find(|subflow| subflow.local == local && subflow.remote == remote) {
            Some(subflow) => subflow.index = Some(index),
            None => self.subflows.push(Subflow { index: Some(index), local, remote, initial }),
        }
    }

    /// mptcp_pm_create_subflow_or_signal_addr
    fn next(&mut self, commands: &mut Vec<PathCommand>) {
        let Some(connection) = self.connection else { return };
        for endpoint in self.endpoints.clone() {
            let address = endpoint.address;
            if self.used.contains(&address) || !self.up.contains(&address) {
                continue;
            }
            if endpoint.signal {
                self.used.push(address);
                self.known.push(address);
                commands.push(PathCommand::Announce { address, port: None });
            }
            // The kernel's server would try too, at a port where no client listens.
            if !endpoint.subflow || !connection.client || self.further() >= self.max_subflows {
                continue;
            }
            if !endpoint.signal {
                self.used.push(address);
            }
            // fill_remote_addresses_vec
            let mut remotes = vec![connection.remote];
            if endpoint.fullmesh {
                remotes.extend(self.subflows.iter().map(|subflow| subflow.remote));
            }
            for remote in remotes {
                self.join(address, remote, commands);
            }
        }
    }

    /// mptcp_pm_nl_add_addr_received
    fn announced(&mut self, id: u8, remote: SocketAddr, commands: &mut Vec<PathCommand>) {
        let Some(connection) = self.connection else { return };
        let known = self.subflows.iter().any(|subflow| subflow.remote == remote);
        if known || self.accepted.len() >= self.max_accepted {
            return;
        }
        // fill_local_addresses_vec: without such endpoints one address, by the routes.
        let usable = |address: &IpAddr| self.up.contains(address) && address.is_ipv4() == remote.is_ipv4();
        let meshed = self.endpoints.iter().filter(|endpoint| endpoint.fullmesh).map(|endpoint| endpoint.address);
        let mut locals: Vec<_> = meshed.filter(usable).collect();
        if locals.is_empty() {
            locals.extend([connection.local].iter().chain(&self.up).copied().find(usable));
        }
        let before = self.subflows.len();
        for local in locals {
            self.join(local, remote, commands);
        }
        if self.subflows.len() > before {
            self.accepted.push((id, remote));
        }
    }

    fn join(&mut self, local: IpAddr, remote: SocketAddr, commands: &mut Vec<PathCommand>) {
        let exists = self.subflows.iter().any(|subflow| subflow.local == local && subflow.remote == remote);
        if exists || local.is_ipv4() != remote.is_ipv4() || self.further() >= self.max_subflows {
            return;
        }
        let backup = self.endpoint(local).is_some_and(|endpoint| endpoint.backup);
        self.subflows.push(Subflow { index: None, local, remote, initial: false });
        self.known.push(local);
        commands.push(PathCommand::Join { local, remote, backup });
    }

    fn closed(&mut self, local: IpAddr, remote: SocketAddr, reason: Closed) {
        self.subflows.retain(|subflow| subflow.local != local || subflow.remote != remote);
        if reason == Closed::AddressLost {
            // Told before the address is; nothing is to be opened from it in between.
            self.up.retain(|&up| up != local);
        }
    }

    fn address_up(&mut self, address: IpAddr) {
        if !self.up.contains(&address) {
            self.up.push(address);
        }
    }

    fn address_down(&mut self, address: IpAddr, commands: &mut Vec<PathCommand>) {
        self.up.retain(|&up| up != address);
        self.used.retain(|&used| used != address);
        if self.known.contains(&address) {
            self.known.retain(|&known| known != address);
            commands.push(PathCommand::Withdraw { address });
        }
        let on_it = self.subflows.iter().filter(|subflow| subflow.local == address);
        commands.extend(on_it.filter_map(|subflow| subflow.index).map(|subflow| PathCommand::Close { subflow }));
    }

    fn further(&self) -> usize {
        self.subflows.iter().filter(|subflow| !subflow.initial).count()
    }

    fn endpoint(&self, address: IpAddr) -> Option<&LocalEndpoint> {
        self.endpoints.iter().find(|endpoint| endpoint.address == address)
    }
}

impl PathManager for Linux {
    fn joins_to_the_end(&self) -> bool {
        false
    }

    fn on(&mut self, _: Time, event: &PathEvent, commands: &mut Vec<PathCommand>) {
        match *event {
            PathEvent::Established { client, local, remote } => self.established(client, local, remote, commands),
            PathEvent::Announced { id, remote } => self.announced(id, remote, commands),
            PathEvent::Withdrawn { id } => self.accepted.retain(|&(accepted, _)| accepted != id),
            PathEvent::SubflowEstablished { subflow, local, remote } => self.opened(subflow, local.ip(), remote, false),
            PathEvent::SubflowClosed { local, remote, reason, .. } => self.closed(local.ip(), remote, reason),
            PathEvent::AddressUp { address } => self.address_up(address),
            PathEvent::AddressDown { address } => self.address_down(address, commands),
            _ => {}
        }
        self.next(commands);
    }
}
