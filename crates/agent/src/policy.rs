//! A path manager of simulations beside the kernel's: it hears what the kernel knows of subflows, and what it orders of paths is done with their endpoints.
//!
//! In simulations each connection has its own. Endpoints are the host's, so that here all of its connections together are one, which begins with the first and ends with the last.

use crate::endpoints::Endpoint;
use crate::kept::{Kept, Taken};
use crate::kernel::{Address, Kernel};
use crate::options::Plan;
use crate::subflows::Subflow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::{Error, Result};
use std::net::{IpAddr, SocketAddr};
use transport::path_manager::{Closed, LocalEndpoint, PathCommand, PathEvent, PathManager, Settings, build};
use wire::Time;

mod orders;
#[cfg(test)]
mod tests;

/// How often endpoints and addresses are asked for: the kernel does not tell when others change endpoints.
const LOOK_NS: i64 = 500_000_000;
/// How often subflows are listed, beside when the kernel tells of one: path managers look as often.
const LIST_NS: i64 = 100_000_000;
/// How often it is looked whether the kernel has announced one: it opens further subflows a round trip after the first.
pub const TICK_NS: i64 = 5_000_000;
/// For how long the kernel may refuse to say anything.
const FAILING_NS: i64 = 5_000_000_000;

/// What was ordered of a path.
#[derive(Clone, Debug, PartialEq)]
pub struct Ordered {
    /// Its address.
    pub address: IpAddr,
    /// Its interface; empty: unknown.
    pub interface: String,
    /// What, as in the table `signals`.
    pub signal: &'static str,
    /// On what evidence.
    pub evidence: String,
}

/// Opens and closes the paths of this host as a path manager wants them.
pub struct Policy<K: Kernel> {
    kernel: K,
    kept: Option<Kept>,
    settings: Settings,
    /// By interface.
    plans: HashMap<String, Plan>,
    observes: bool,
    /// Of the connections that there are.
    manager: Option<Box<dyn PathManager>>,
    paths: Vec<Path>,
    /// By their indices in the connection.
    subflows: Vec<Option<Subflow>>,
    wake: Time,
    looked: Option<Time>,
    listed: Option<Time>,
    failing: Option<Time>,
    ordered: Vec<Ordered>,
    notes: Vec<String>,
}

struct Path {
    /// As it was found.
    found: Endpoint,
    /// As it is now; none: taken away.
    now: Option<Endpoint>,
    /// None while the host does not have it, or its interface has no carrier.
    address: Option<Address>,
    /// The interface that has it, or had.
    interface: String,
    /// Whether it is to be closed, once every connection over it has another subflow.
    is_leaving: bool,
    /// Of subflows that are over, and of all.
    past_bytes: u64,
    bytes: u64,
}

impl Path {
    fn new(found: Endpoint) -> Path {
        Path {
            found,
            now: Some(found),
            address: None,
            interface: String::new(),
            is_leaving: false,
            past_bytes: 0,
            bytes: 0,
        }
    }

    /// As it is to be: an interface that came back has another index.
    fn endpoint(&self, is_backup: bool) -> Endpoint {
        let found = self.found;
        let index = self.address.as_ref().map(|address| address.index).filter(|_| found.interface != 0);
        let endpoint = if is_backup { found.backed() } else { found.unbacked() };
        Endpoint { interface: index.unwrap_or(found.interface), ..endpoint }
    }
}

impl<K: Kernel> Policy<K> {
    /// Acts; or only reports if it `observes`. What an earlier one had taken away, `left`, is put back.
    ///
    /// # Errors
    /// No path manager has that name, or a parameter is wrong; or the kernel does not say what there is.
    pub fn new(
        kernel: K,
        settings: Settings,
        plans: HashMap<String, Plan>,
        kept: Option<Kept>,
        left: Vec<Taken>,
        observes: bool,
    ) -> std::result::Result<Policy<K>, String> {
        build(&settings).map_err(|error| error.to_string())?;
        let now = Time::default();
        let mut policy = Policy {
            kernel,
            kept,
            settings,
            plans,
            observes,
            manager: None,
            paths: Vec::new(),
            subflows: Vec::new(),
            wake: Time::MAX,
            looked: None,
            listed: None,
            failing: None,
            ordered: Vec::new(),
            notes: Vec::new(),
        };
        for Taken { endpoint, interface } in left {
            policy.paths.push(Path { now: None, interface, ..Path::new(endpoint) });
        }
        policy.look(now).map_err(|error| error.to_string())?;
        policy.restore();
        Ok(policy)
    }

    /// The paths: address and interface of each.
    pub fn paths(&self) -> impl Iterator<Item = (IpAddr, &str)> {
        self.paths.iter().map(|path| (path.found.address, path.interface.as_str()))
    }

    /// Interfaces with a plan over which no path goes.
    pub fn strangers(&self) -> Vec<&str> {
        let is_strange = |name: &&str| self.paths.iter().all(|path| path.interface != *name);
        let mut names: Vec<_> = self.plans.keys().map(String::as_str).filter(is_strange).collect();
        names.sort_unstable();
        names
    }

    /// Addresses of the paths that the host has now.
    pub fn addresses(&self) -> Vec<Address> {
        self.paths.iter().filter_map(|path| path.address.clone()).collect()
    }

    /// What went wrong since this was asked.
    pub fn notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Looks and acts; gives what was ordered. While the kernel refuses to say what there is, nothing is.
    ///
    /// # Errors
    /// It has done so for long.
    pub fn step(&mut self, now: Time) -> Result<Vec<Ordered>> {
        match self.take(now) {
            Ok(()) => self.failing = None,
            Err(error) => {
                let since = *self.failing.get_or_insert(now);
                if now - since >= FAILING_NS {
                    return Err(Error::new(error.kind(), format!("cannot ask the kernel: {error}")));
                }
            }
        }
        Ok(std::mem::take(&mut self.ordered))
    }

    fn take(&mut self, now: Time) -> Result<()> {
        let changed = self.kernel.has_changed();
        if changed || self.looked.is_none_or(|looked| now - looked >= LOOK_NS) {
            self.look(now)?;
        }
        if changed || self.listed.is_none_or(|listed| now - listed >= LIST_NS) {
            self.list(now)?;
        }
        if now >= self.wake && self.manager.is_some() {
            self.wake = Time::MAX;
            let carried: Vec<_> =
                self.subflows.iter().enumerate().filter_map(|(index, one)| Some((index, (*one)?))).collect();
            for (subflow, Subflow { acked_bytes: sent_bytes, received_bytes, .. }) in carried {
                self.tell(now, PathEvent::Carried { subflow, sent_bytes, received_bytes });
            }
            self.tell(now, PathEvent::Timer);
        }
        Ok(())
    }

    fn index_of(&self, address: IpAddr) -> Option<usize> {
        self.paths.iter().position(|path| path.found.address == address)
    }

    /// What has become of endpoints and addresses.
    fn look(&mut self, now: Time) -> Result<()> {
        let found: Vec<_> = self.kernel.endpoints()?.into_iter().filter(Endpoint::is_path).collect();
        let addresses = self.kernel.addresses()?;
        self.looked = Some(now);
        for endpoint in &found {
            match self.index_of(endpoint.address) {
                None => self.paths.push(Path::new(*endpoint)),
                Some(index) if self.paths[index].now == Some(*endpoint) => {}
                // Somebody brought it again, or made it another.
                Some(index) => {
                    (self.paths[index].found, self.paths[index].now) = (*endpoint, Some(*endpoint));
                    self.keep();
                }
            }
        }
        for index in (0..self.paths.len()).rev() {
            let path = &self.paths[index];
            let own = path.found.address;
            if path.now.is_some() && !found.iter().any(|endpoint| endpoint.address == own) {
                // Somebody took it away.
                self.paths.remove(index);
                self.tell(now, PathEvent::AddressDown { address: own });
            }
        }
        for index in 0..self.paths.len() {
            let path = &mut self.paths[index];
            let own = path.found.address;
            let had = path.address.is_some();
            path.address = addresses.iter().find(|one| one.address == own && one.is_running).cloned();
            if let Some(address) = &path.address {
                path.interface.clone_from(&address.interface);
            }
            match (had, path.address.is_some()) {
                (false, true) => self.came(now, own),
                (true, false) => self.tell(now, PathEvent::AddressDown { address: own }),
                _ => {}
            }
        }
        Ok(())
    }

    /// An address is there: its path is taken away if nobody joins it, or the kernel would.
    fn came(&mut self, now: Time, address: IpAddr) {
        let Some(index) = self.index_of(address) else { return };
        let commands = self.commands_after(now, PathEvent::AddressUp { address });
        let is_joined =
            commands.iter().any(|command| matches!(command, PathCommand::Join { local, .. } if *local == address));
        let others: Vec<_> = self.subflows.iter().flatten().collect();
        let is_used = others.iter().any(|subflow| subflow.local == address);
        let is_reachable = others.iter().any(|subflow| subflow.remote.is_ipv4() == address.is_ipv4());
        self.act(now, commands);
        if self.manager.is_some() && is_reachable && !is_joined && !is_used {
            self.leave(index);
        }
    }

    /// Which subflows there are now, and what they have carried.
    fn list(&mut self, now: Time) -> Result<()> {
        let addresses: Vec<_> = self.paths.iter().map(|path| path.found.address).collect();
        let mut listed = if addresses.is_empty() { Vec::new() } else { self.kernel.subflows(&addresses)? };
        self.listed = Some(now);
        let begins = self.manager.is_none() && !listed.is_empty();
        if begins {
            self.look(now)?;
            // Of a connection that is older than this program, what carried most is taken for the first.
            listed.sort_by_key(|subflow| Reverse(subflow.acked_bytes + subflow.received_bytes));
        }
        for index in 0..self.subflows.len() {
            let Some(known) = self.subflows[index] else { continue };
            match listed.iter().find(|subflow| subflow.cookie == known.cookie) {
                Some(subflow) => {
                    self.subflows[index] = Some(*subflow);
                    if subflow.timeouts > known.timeouts {
                        self.tell(now, PathEvent::SubflowTimeout { subflow: index, timeouts: subflow.timeouts });
                    }
                }
                None => self.ended(now, index, &known),
            }
        }
        let is_new = |one: &&Subflow| !self.subflows.iter().flatten().any(|known| known.cookie == one.cookie);
        let new: Vec<_> = listed.iter().filter(is_new).copied().collect();
        // All have an index before the policy hears of one: whoever closes a path looks at the others.
        let indices: Vec<_> = new.iter().map(|subflow| self.enter(subflow)).collect();
        let mut come = indices.into_iter().zip(new);
        if begins && let Some((_, first)) = come.next() {
            self.begin(now, &first);
        }
        for (subflow, one) in come {
            let (local, remote) = (SocketAddr::new(one.local, 0), one.remote);
            self.tell(now, PathEvent::SubflowEstablished { subflow, local, remote });
        }
        self.count();
        for index in 0..self.paths.len() {
            if self.paths[index].is_leaving {
                self.leave(index);
            }
        }
        if self.manager.is_some() && listed.is_empty() && !self.kernel.has_connection().unwrap_or(true) {
            self.manager = None;
            self.subflows.clear();
            self.restore();
        }
        Ok(())
    }

    /// The first connection is there.
    fn begin(&mut self, now: Time, first: &Subflow) {
        self.settings.endpoints = self.paths.iter().map(|path| self.local(path)).collect();
        // It could be built before.
        self.manager = build(&self.settings).ok();
        self.paths.iter_mut().for_each(|path| (path.past_bytes, path.bytes) = (0, 0));
        let (local, remote) = (SocketAddr::new(first.local, 0), first.remote);
        self.tell(now, PathEvent::Established { client: true, local, remote });
        let there: Vec<_> = self.addresses().into_iter().map(|address| address.address).collect();
        there.into_iter().for_each(|address| self.came(now, address));
    }

    fn local(&self, path: &Path) -> LocalEndpoint {
        let Plan { budget_bytes, cost_per_mb } = self.plans.get(&path.interface).copied().unwrap_or_default();
        LocalEndpoint {
            address: path.found.address,
            subflow: true,
            signal: false,
            backup: path.found.is_backup(),
            fullmesh: false,
            budget_bytes,
            cost_per_mb,
        }
    }

    /// Gives a new subflow an index.
    fn enter(&mut self, subflow: &Subflow) -> usize {
        let free = self.subflows.iter().position(Option::is_none);
        let index = free.unwrap_or(self.subflows.len());
        self.subflows.resize(self.subflows.len().max(index + 1), None);
        self.subflows[index] = Some(*subflow);
        index
    }

    fn ended(&mut self, now: Time, index: usize, known: &Subflow) {
        self.subflows[index] = None;
        if let Some(index) = self.index_of(known.local) {
            self.paths[index].past_bytes += known.acked_bytes + known.received_bytes;
        }
        let (local, remote) = (SocketAddr::new(known.local, 0), known.remote);
        // Why is not known; the kernel does not open it again either way.
        self.tell(now, PathEvent::SubflowClosed { subflow: index, local, remote, reason: Closed::Removed });
    }

    fn count(&mut self) {
        for path in &mut self.paths {
            let own = self.subflows.iter().flatten().filter(|subflow| subflow.local == path.found.address);
            path.bytes = path.past_bytes + own.map(|subflow| subflow.acked_bytes + subflow.received_bytes).sum::<u64>();
        }
    }

    fn tell(&mut self, now: Time, event: PathEvent) {
        let commands = self.commands_after(now, event);
        self.act(now, commands);
    }

    fn commands_after(&mut self, now: Time, event: PathEvent) -> Vec<PathCommand> {
        let mut commands = Vec::new();
        if let Some(manager) = &mut self.manager {
            manager.on(now, &event, &mut commands);
        }
        commands
    }
}

/// Also where a fault of ours ends it.
impl<K: Kernel> Drop for Policy<K> {
    fn drop(&mut self) {
        self.restore();
    }
}
