//! What a path manager orders of paths, done with their endpoints.

use super::{Ordered, Path, Policy};
use crate::endpoints::Endpoint;
use crate::kept::Taken;
use crate::kernel::Kernel;
use std::io::ErrorKind;
use transport::path_manager::{Budgeted, PathCommand};
use wire::Time;

const BYTES_PER_MB: f64 = 1e6;

impl<K: Kernel> Policy<K> {
    /// Does what was ordered, as far as endpoints can.
    pub(super) fn act(&mut self, now: Time, commands: Vec<PathCommand>) {
        let at = |policy: &Policy<K>, index: usize| policy.subflows.get(index).copied().flatten().map(|one| one.local);
        let closed: Vec<_> = (0..self.paths.len()).filter(|&index| self.paths[index].now.is_none()).collect();
        for command in commands {
            match command {
                PathCommand::Join { local, backup, .. } => {
                    if let Some(index) = self.index_of(local) {
                        self.open(index, backup, "path-opened");
                    }
                }
                PathCommand::Close { subflow } => {
                    if let Some(index) = at(self, subflow).and_then(|local| self.index_of(local)) {
                        // What was closed just now has no subflow any more.
                        if closed.contains(&index) || self.paths[index].now.is_some() {
                            self.leave(index);
                        }
                    }
                }
                PathCommand::Withdraw { address } => {
                    if let Some(index) = self.index_of(address).filter(|&index| self.paths[index].now.is_some()) {
                        self.leave(index);
                    }
                }
                PathCommand::SetBackup { subflow, backup } => {
                    if let Some(index) = at(self, subflow).and_then(|local| self.index_of(local)) {
                        self.open(index, backup, "path-backup");
                    }
                }
                PathCommand::Spent { address, budget } => {
                    if let Some(index) = self.index_of(address) {
                        let what = match budget {
                            Budgeted::Data => "data",
                            Budgeted::Cost => "cost",
                        };
                        self.report(index, "path-spent", Some(what));
                    }
                }
                PathCommand::Wake { after_ns } => self.wake = now + after_ns,
                PathCommand::Announce { .. } | PathCommand::Probe { .. } | PathCommand::Decided { .. } => {}
            }
        }
    }

    /// Brings an endpoint, or makes it a backup or none any more.
    fn open(&mut self, index: usize, is_backup: bool, signal: &'static str) {
        let path = &mut self.paths[index];
        path.is_leaving = false;
        let wanted = path.endpoint(is_backup);
        if path.now.is_some_and(|now| now.is_backup() == is_backup) {
            return;
        }
        self.report(index, signal, None);
        if !self.observes {
            self.set(index, wanted);
            self.keep();
        }
    }

    fn set(&mut self, index: usize, wanted: Endpoint) {
        let is_there = self.paths[index].now.is_some();
        let outcome = if is_there { self.kernel.set_flags(&wanted) } else { self.kernel.add(&wanted) };
        match outcome {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                self.notes.push(format!("{} could not be opened: {error}", wanted.address));
            }
            _ => self.paths[index].now = Some(wanted),
        }
    }

    /// Closes a path, but takes no connection's last subflow.
    pub(super) fn leave(&mut self, index: usize) {
        let address = self.paths[index].found.address;
        let has_other = |token| self.subflows.iter().flatten().any(|one| one.token == token && one.local != address);
        let mut on_it = self.subflows.iter().flatten().filter(|one| one.local == address);
        self.paths[index].is_leaving = !on_it.all(|one| has_other(one.token));
        if self.paths[index].is_leaving {
            return;
        }
        if self.paths[index].now.is_some() { self.close(index) } else { self.close_first(index) }
    }

    /// Takes an endpoint away: its subflows end here, and REMOVE_ADDR tells peers.
    fn close(&mut self, index: usize) {
        let path = &mut self.paths[index];
        let Some(endpoint) = path.now.take() else { return };
        let address = endpoint.address;
        self.report(index, "path-closed", None);
        if self.observes {
            self.paths[index].now = Some(endpoint);
            return;
        }
        // On file before it is done: whoever is killed in between has left nothing that nobody knows of.
        self.keep();
        if let Err(error) = self.kernel.delete(&endpoint) {
            self.paths[index].now = Some(endpoint);
            self.keep();
            self.notes.push(format!("{address} could not be closed: {error}"));
        }
    }

    /// Closes the first subflow of a connection that began from a path that is closed: it needs no endpoint, and its address has the identifier 0.
    fn close_first(&mut self, index: usize) {
        let endpoint = Endpoint { id: 0, ..self.paths[index].found };
        if !self.observes
            && let Err(error) = self.kernel.delete(&endpoint)
        {
            self.notes.push(format!("a connection from {} could not leave it: {error}", endpoint.address));
        }
    }

    fn report(&mut self, index: usize, signal: &'static str, spent: Option<&str>) {
        let name = &self.settings.name;
        let all: u64 = self.paths.iter().map(|path| path.bytes).sum();
        let mb = |bytes: u64| bytes as f64 / BYTES_PER_MB;
        let path = &self.paths[index];
        let spent = spent.map(|what| format!(", its budget of {what} is used up")).unwrap_or_default();
        let evidence = format!("{name}: {:.2} of {:.2} MB went over it{spent}", mb(path.bytes), mb(all));
        let (address, interface) = (path.found.address, path.interface.clone());
        self.ordered.push(Ordered { address, interface, signal, evidence });
    }

    /// Writes down what is not as it was found.
    pub(super) fn keep(&mut self) {
        let changed = self.paths.iter().filter(|path| path.now.is_none());
        let taken: Vec<_> =
            changed.map(|path| Taken { endpoint: path.found, interface: path.interface.clone() }).collect();
        if let Some(Err(error)) = self.kept.as_ref().map(|kept| kept.write(&taken)) {
            self.notes.push(format!("what is closed cannot be kept on file: {error}"));
        }
    }

    /// Makes endpoints as they were found; gives those that could not be.
    pub fn restore(&mut self) -> Vec<String> {
        for index in 0..self.paths.len() {
            let path = &mut self.paths[index];
            path.is_leaving = false;
            let found = path.endpoint(path.found.is_backup());
            if path.now.is_none_or(|now| now.flags != found.flags) {
                self.set(index, found);
            }
        }
        self.keep();
        let is_missing = |path: &&Path| path.now.is_none_or(|now| now.flags != path.found.flags);
        self.paths.iter().filter(is_missing).map(|path| path.found.address.to_string()).collect()
    }
}
