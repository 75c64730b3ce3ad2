//! The guard beside the kernel's path manager: what it sees of subflows, and what it makes of endpoints.

use crate::endpoints::Endpoint;
use crate::flows::Flows;
use crate::kept::{Kept, Taken};
use crate::kernel::{Address, Kernel};
use crate::targets::Targets;
use guard::{Cause, Decision, Guard, Order, Settings, TICK_NS, Verdict};
use std::collections::HashSet;
use std::io::{Error, ErrorKind, Result};
use std::net::IpAddr;
use wire::Time;

#[cfg(test)]
mod tests;

/// How often endpoints and addresses are asked for: the kernel does not tell when others change endpoints.
const LOOK_NS: i64 = 500_000_000;
/// How often subflows are listed, beside when the kernel tells of one; and how often it may have us do so.
const LIST_NS: i64 = 5_000_000_000;
const LISTED_NS: i64 = 50_000_000;
/// For how long an address has to be away: tools that renew one take it away and bring it again.
const AWAY_NS: i64 = 200_000_000;
/// After so much time without anything moving it looks less often.
const CALM_NS: i64 = 1_000_000_000;
const CALM_TICK_NS: i64 = 100_000_000;
/// For how long the kernel may refuse to say anything.
const FAILING_NS: i64 = 5_000_000_000;

/// What the guard decided of an address.
pub struct Decided {
    /// The address.
    pub address: IpAddr,
    /// Its interface; empty: unknown.
    pub interface: String,
    /// What, on what evidence.
    pub decision: Decision,
}

/// Watches the paths of this host.
pub struct Watch<K: Kernel> {
    kernel: K,
    kept: Option<Kept>,
    guard: Guard,
    targets: Targets,
    paths: Vec<Path>,
    flows: Flows,
    observes: bool,
    makes_backups: bool,
    looks_at_signals: bool,
    looked: Option<Time>,
    /// None: they are to be, as soon as may be.
    listed: Option<Time>,
    is_outdated: bool,
    asked: Time,
    failing: Option<Time>,
    notes: Vec<String>,
    noted: HashSet<String>,
}

struct Path {
    endpoint: Endpoint,
    /// None while the host does not have it, or its interface has no carrier.
    address: Option<Address>,
    /// The interface that has it, or had.
    interface: String,
    away: Option<Time>,
    /// Whether its endpoint is there.
    is_there: bool,
    /// Whether we took it away, and whether it could not be put back since.
    is_taken: bool,
    is_due: bool,
}

impl Path {
    fn new(endpoint: Endpoint) -> Path {
        Path {
            endpoint,
            address: None,
            interface: String::new(),
            away: None,
            is_there: true,
            is_taken: false,
            is_due: false,
        }
    }

    /// As it is to be put back: an interface that came back has another index.
    fn endpoint(&self) -> Endpoint {
        let index = self.address.as_ref().map(|address| address.index).filter(|_| self.endpoint.interface != 0);
        Endpoint { interface: index.unwrap_or(self.endpoint.interface), ..self.endpoint }
    }
}

impl<K: Kernel> Watch<K> {
    /// Watches and acts; or only reports if it `observes`. `left` is what an earlier guard had taken away.
    ///
    /// # Errors
    /// The kernel does not say what there is.
    pub fn new(
        kernel: K,
        settings: Settings,
        kept: Option<Kept>,
        left: Vec<Taken>,
        observes: bool,
    ) -> Result<Watch<K>> {
        let now = Time::default();
        let mut watch = Watch {
            kernel,
            kept,
            makes_backups: settings.makes_backups(),
            looks_at_signals: settings.leave_below.is_some(),
            guard: Guard::new(settings),
            targets: Targets::default(),
            paths: Vec::new(),
            flows: Flows::default(),
            observes,
            looked: None,
            listed: None,
            is_outdated: false,
            asked: now,
            failing: None,
            notes: Vec::new(),
            noted: HashSet::new(),
        };
        for Taken { endpoint, interface } in left {
            watch.guard.add_left(now);
            watch.paths.push(Path { interface, is_there: false, is_taken: true, ..Path::new(endpoint) });
        }
        watch.look(now, &mut Vec::new())?;
        Ok(watch)
    }

    /// The paths: address and interface of each, and whether it is out of use.
    pub fn paths(&self) -> impl Iterator<Item = (IpAddr, &str, bool)> {
        self.paths.iter().map(|path| (path.endpoint.address, path.interface.as_str(), path.is_taken))
    }

    /// Addresses of the paths that the host has now.
    pub fn addresses(&self) -> Vec<Address> {
        self.paths.iter().filter_map(|path| path.address.clone()).collect()
    }

    /// What went wrong since this was asked, each kind once.
    pub fn notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// How long to wait before the next step.
    pub fn pause_ns(&self, now: Time) -> i64 {
        let is_calm = now - self.flows.moved > CALM_NS && (0..self.paths.len()).all(|path| self.guard.is_at_rest(path));
        if is_calm { CALM_TICK_NS } else { self.guard.pause_ns(now) }
    }

    /// Whether probes are under way that tell whether a path is left.
    pub fn is_probing(&self) -> bool {
        self.guard.is_probing()
    }

    /// Looks and acts; gives what was decided. While the kernel refuses to say what there is, nothing is decided.
    ///
    /// # Errors
    /// It has done so for long.
    pub fn step(&mut self, now: Time) -> Result<Vec<Decided>> {
        let mut orders = Vec::new();
        match self.take(now, &mut orders) {
            Ok(()) => self.failing = None,
            Err(error) => {
                let since = *self.failing.get_or_insert(now);
                if now - since >= FAILING_NS {
                    return Err(Error::new(error.kind(), format!("cannot ask the kernel: {error}")));
                }
                return Ok(Vec::new());
            }
        }
        self.guard.tick(now, &mut orders);
        let mut decided = Vec::new();
        for order in orders {
            match order {
                Order::Probe { path, number, about } => self.probe(now, path, number, about),
                Order::Decided { path, decision } => {
                    let done = self.act(now, path, decision.verdict);
                    if done {
                        let Path { endpoint, interface, .. } = &self.paths[path];
                        decided.push(Decided { address: endpoint.address, interface: interface.clone(), decision });
                    }
                }
            }
        }
        Ok(decided)
    }

    fn take(&mut self, now: Time, orders: &mut Vec<Order>) -> Result<()> {
        let changed = self.kernel.has_changed();
        let is_away = self.paths.iter().any(|path| path.away.is_some() && path.is_there);
        if changed || is_away || self.looked.is_none_or(|looked| now - looked >= LOOK_NS) {
            self.look(now, orders)?;
        }
        for (address, number) in self.kernel.answers() {
            if let Some(index) = self.index_of(address) {
                self.targets.answered(address.is_ipv4());
                self.guard.answered(now, index, number, orders);
            }
        }
        self.is_outdated |= changed;
        let spacing_ns = if self.is_outdated { LISTED_NS } else { LIST_NS };
        if self.listed.is_none_or(|listed| now - listed >= spacing_ns) {
            self.list(now)?;
        } else if now - self.asked >= TICK_NS || self.guard.is_deciding(now) {
            // While probes are under way their answers are looked for more often.
            self.asked = now;
            let was_empty = self.flows.is_empty();
            self.flows.ask(now, &mut self.kernel)?;
            if self.flows.is_empty() && !was_empty {
                // Others may have come meanwhile.
                self.list(now)?;
            }
        }
        self.see(now, orders);
        Ok(())
    }

    fn index_of(&self, address: IpAddr) -> Option<usize> {
        self.paths.iter().position(|path| path.endpoint.address == address)
    }

    /// What has become of endpoints and addresses.
    fn look(&mut self, now: Time, orders: &mut Vec<Order>) -> Result<()> {
        let found: Vec<_> = self.kernel.endpoints()?.into_iter().filter(Endpoint::is_path).collect();
        let addresses = self.kernel.addresses()?;
        let signals = if self.looks_at_signals { self.kernel.signals() } else { Vec::new() };
        self.looked = Some(now);
        let mut is_changed = false;
        for endpoint in &found {
            let Some(index) = self.index_of(endpoint.address) else {
                self.guard.add(now);
                self.paths.push(Path::new(*endpoint));
                continue;
            };
            let path = &mut self.paths[index];
            if path.is_taken && *endpoint == path.endpoint.backed() && !path.endpoint.is_backup() {
                // A backup for as long as it is bad, perhaps by an earlier guard.
                path.is_there = true;
                continue;
            }
            path.endpoint = *endpoint;
            if !path.is_there || path.is_taken {
                // Somebody brought it again, perhaps while we had taken it away.
                is_changed |= path.is_taken;
                (path.is_there, path.is_taken, path.is_due) = (true, false, false);
                self.guard.up(now, index);
            }
        }
        for index in 0..self.paths.len() {
            let path = &mut self.paths[index];
            let own = path.endpoint.address;
            let address = addresses.iter().find(|address| address.address == own);
            if let Some(address) = address {
                path.interface.clone_from(&address.interface);
            }
            let heard = signals.iter().find(|(interface, _)| *interface == path.interface);
            self.guard.heard(index, heard.map(|&(_, dbm)| dbm));
            path.address = address.filter(|address| address.is_running).cloned();
            path.away = if path.address.is_some() { None } else { path.away.or(Some(now)) };
            if path.is_there && !found.iter().any(|endpoint| endpoint.address == own) {
                is_changed |= path.is_taken;
                (path.is_there, path.is_taken) = (false, false);
                self.guard.down(index);
            }
            if path.is_there && !path.is_taken && path.away.is_some_and(|away| now - away >= AWAY_NS) {
                let cause = if address.is_some() { Cause::NoCarrier } else { Cause::Lost };
                self.guard.lost(now, index, cause, orders);
            }
            if self.paths[index].is_due {
                self.put_back(index);
            }
        }
        if is_changed {
            self.keep();
        }
        self.warn(&signals);
        Ok(())
    }

    /// Says what keeps this guard from doing what it is for.
    fn warn(&mut self, signals: &[(String, i32)]) {
        let is_known = |path: &Path| signals.iter().any(|(interface, _)| *interface == path.interface);
        if self.looks_at_signals && !self.paths.is_empty() && !self.paths.iter().any(is_known) {
            self.note("no signal of any path is known, so none is left for it; see --signals".to_owned());
        }
        // Who had the first subflow needs a further one.
        let of = |ipv4| {
            let used = self.paths.iter().filter(|path| path.is_there || path.is_taken);
            used.filter(|path| path.endpoint.address.is_ipv4() == ipv4).count()
        };
        let most = of(true).max(of(false));
        if most > 1
            && let Ok(limit) = self.kernel.limit()
            && (limit as usize) < most
        {
            self.note(format!(
                "a connection may have {limit} subflows beside its first, too few for {most} paths: once its first path was left, it cannot use that again; ip mptcp limits set subflows {most}"
            ));
        }
    }

    /// Which subflows there are now.
    fn list(&mut self, now: Time) -> Result<()> {
        let addresses: Vec<_> = self.paths.iter().map(|path| path.endpoint.address).collect();
        let subflows = if addresses.is_empty() { Vec::new() } else { self.kernel.subflows(&addresses)? };
        let index = |local: IpAddr| addresses.iter().position(|&address| address == local);
        let found = subflows.into_iter().filter_map(|subflow| Some((index(subflow.local)?, subflow)));
        self.flows.list(now, addresses.len(), found);
        (self.listed, self.is_outdated) = (Some(now), false);
        Ok(())
    }

    /// What subflows carry now.
    fn see(&mut self, now: Time, orders: &mut Vec<Order>) {
        let is_taken = self.paths.iter().any(|path| path.is_taken);
        if std::mem::take(&mut self.flows.is_changed) || self.flows.is_empty() || self.listed == Some(now) {
            if self.targets.see(now, &self.flows.remotes()) {
                self.guard.ask_anew();
            }
            let is_connected = !self.flows.is_empty() || is_taken && self.kernel.has_connection().unwrap_or(false);
            self.guard.connected(is_connected);
            if is_taken && !is_connected && !self.targets.has_any() {
                self.guard.unasked(now, orders);
            }
        }
        for index in 0..self.paths.len() {
            self.guard.seen(now, index, self.flows.seen(index), orders);
        }
    }

    fn probe(&mut self, now: Time, index: usize, number: u16, about: usize) {
        let is_ipv4 = self.paths[index].endpoint.address.is_ipv4();
        // Another host would be no witness.
        if self.paths[about].endpoint.address.is_ipv4() != is_ipv4 {
            return;
        }
        let (Some(address), Some((to, means))) = (&self.paths[index].address, self.targets.of(is_ipv4)) else { return };
        match self.kernel.probe(address, to, means, number) {
            Ok(()) => {
                self.targets.sent(is_ipv4);
                self.guard.sent(now, index, number, about);
            }
            Err(error) => {
                if error.kind() == ErrorKind::PermissionDenied {
                    // By other means it may be allowed.
                    self.targets.sent(is_ipv4);
                    let protocol = format!("{:?}", means).to_lowercase();
                    let remedy = "run it with CAP_NET_RAW, or widen net.ipv4.ping_group_range";
                    self.note(format!("no {protocol} may be sent: {error}; {remedy}"));
                }
            }
        }
    }

    /// Does what was decided; says whether it could be done.
    fn act(&mut self, now: Time, index: usize, verdict: Verdict) -> bool {
        if self.observes {
            return true;
        }
        match verdict {
            Verdict::Suspended => {
                let address = self.paths[index].endpoint.address;
                self.paths[index].is_taken = true;
                // On file before it is done: whoever is killed in between has left nothing that nobody knows of.
                let done = self.keep() && {
                    self.take_away(index)
                        .map_err(|error| self.note(format!("{address} could not be taken out of use: {error}")))
                        .is_ok()
                };
                if !done {
                    self.paths[index].is_taken = false;
                    self.keep();
                    self.guard.up(now, index);
                }
                done
            }
            Verdict::Resumed => {
                if self.paths[index].is_taken {
                    self.put_back(index);
                    self.keep();
                }
                true
            }
            Verdict::Suspect | Verdict::Cleared => true,
        }
    }

    fn take_away(&mut self, index: usize) -> Result<()> {
        let path = &mut self.paths[index];
        // Without an address there is no subflow to send the flag on.
        if self.makes_backups && !path.endpoint.is_backup() && path.address.is_some() {
            return self.kernel.set_flags(&path.endpoint.backed());
        }
        self.kernel.delete(&path.endpoint)?;
        path.is_there = false;
        Ok(())
    }

    /// Puts back what was taken away, or makes it what it was; what fails is tried again.
    fn put_back(&mut self, index: usize) {
        let endpoint = self.paths[index].endpoint();
        let outcome =
            if self.paths[index].is_there { self.kernel.set_flags(&endpoint) } else { self.kernel.add(&endpoint) };
        match outcome {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                self.paths[index].is_due = true;
                self.note(format!("{} could not be put back, and will be tried again: {error}", endpoint.address));
            }
            _ => {
                let path = &mut self.paths[index];
                (path.is_there, path.is_taken, path.is_due, path.endpoint) = (true, false, false, endpoint);
            }
        }
    }

    /// Writes down what is taken away now; says whether that could be done.
    fn keep(&mut self) -> bool {
        let taken: Vec<_> = self
            .paths
            .iter()
            .filter(|path| path.is_taken)
            .map(|path| Taken { endpoint: path.endpoint, interface: path.interface.clone() })
            .collect();
        let outcome = self.kept.as_ref().map_or(Ok(()), |kept| kept.write(&taken));
        outcome.map_err(|error| self.note(format!("what is taken out of use cannot be kept on file: {error}"))).is_ok()
    }

    fn note(&mut self, note: String) {
        if self.noted.insert(note.clone()) {
            self.notes.push(note);
        }
    }

    /// Brings back what was taken away; gives what could not be brought, and why.
    pub fn restore(&mut self) -> Vec<String> {
        let mut failed = Vec::new();
        for index in 0..self.paths.len() {
            if self.paths[index].is_taken {
                self.put_back(index);
            }
        }
        for path in self.paths.iter().filter(|path| path.is_taken) {
            failed.push(path.endpoint.address.to_string());
        }
        self.keep();
        failed
    }
}

/// Also where a fault of ours ends it.
impl<K: Kernel> Drop for Watch<K> {
    fn drop(&mut self) {
        self.restore();
    }
}
