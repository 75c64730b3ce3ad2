//! A host of ours at the end of links, instead of devices.

use crate::port_name::Host;
use crate::recorder::Feed;
use host::Reception;
use network::{CLIENT, Routes, SERVER};
use scenario::form::Path;
use scenario::{Scenario, hosts};
use std::sync::{Arc, Mutex, PoisonError};
use transport::{ConnectionId, Nic, Outcome, path_manager::Closed};
use wire::{CaptureDirection, Packet, Time};

/// The host, and what others know of it.
pub(crate) struct LocalHost {
    host: host::Host,
    whose: Host,
    scenario: Arc<Scenario>,
    /// By path: its number among what captures see.
    points: Vec<Option<u32>>,
    status: HostStatus,
    /// What was last seen of each connection while there was one, in the order in which they began.
    seen: Vec<(ConnectionId, Connection)>,
}

/// The state of a host of ours: each of its connections, in the order in which they began.
#[derive(Clone, Debug, Default)]
pub struct HostStatus(Arc<Mutex<Vec<Connection>>>);

/// How far a connection has come at a host of ours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Connection {
    /// Whether it speaks MPTCP, as was last seen.
    pub mptcp: bool,
    /// Most subflows that were established at a time.
    pub subflows: usize,
    /// Bytes that were written.
    pub bytes_written: u64,
    /// Bytes that were read.
    pub bytes_read: u64,
    /// Bytes that came and were not what they should have been.
    pub corrupt_bytes: u64,
    /// Whether nothing is left to do for the application.
    pub done: bool,
    /// How it ended, if it did: `complete`, `aborted`, or why it failed.
    pub end: Option<&'static str>,
}

impl HostStatus {
    /// As it is now.
    pub fn connections(&self) -> Vec<Connection> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl LocalHost {
    /// The scenario's client or server, before time begins.
    ///
    /// # Panics
    /// When `whose` is neither.
    pub fn new(whose: Host, scenario: &Arc<Scenario>, points: Vec<Option<u32>>, status: HostStatus) -> LocalHost {
        let host = match whose {
            Host::Client => hosts::client(scenario),
            Host::Server => hosts::server(scenario),
            Host::Neighbour | Host::Peer => panic!("cross traffic is the kernel's"),
        };
        LocalHost { host, whose, scenario: scenario.clone(), points, status, seen: Vec::new() }
    }

    /// Its index among hosts.
    pub fn index(whose: Host) -> usize {
        if whose == Host::Client { CLIENT } else { SERVER }
    }

    /// Time begins: interfaces that are there come up.
    pub fn begin(&mut self, now: Time) {
        if self.whose == Host::Client {
            let attached = |(_, path): &(usize, &Path)| path.attached;
            for (number, _) in self.scenario.paths.iter().enumerate().filter(attached) {
                self.host.attach(now, Nic(number as u32));
            }
        }
    }

    /// A client opens its connections unless it has.
    pub fn open(&mut self, now: Time) {
        if self.whose == Host::Client {
            hosts::open(&self.scenario, &mut self.host, now);
        }
    }

    pub fn attach(&mut self, now: Time, path: usize) {
        self.host.attach(now, Nic(path as u32));
        self.open(now);
    }

    pub fn detach(&mut self, now: Time, path: usize) {
        self.host.detach(now, Nic(path as u32));
    }

    pub fn heard(&mut self, now: Time, path: usize, dbm: i32) {
        self.host.heard(now, Nic(path as u32), dbm);
    }

    /// A packet arrives over a path.
    pub fn handle(&mut self, now: Time, path: usize, packet: &Packet, feed: &mut Feed, routes: &Routes) -> Reception {
        // The server has one interface behind all paths.
        let nic = if self.whose == Host::Client { Nic(path as u32) } else { Nic(0) };
        let mut tap = Tap { whose: self.whose, points: &self.points, feed, routes };
        self.host.handle(now, nic, packet, &mut tap)
    }

    /// Writes the next packet; says by which interface it leaves, if there is one.
    pub fn transmit(&mut self, now: Time, packet: &mut Packet, feed: &mut Feed, routes: &Routes) -> Option<Nic> {
        let mut tap = Tap { whose: self.whose, points: &self.points, feed, routes };
        self.host.transmit(now, packet, &mut tap)
    }

    pub fn deadline(&self) -> Time {
        self.host.deadline()
    }

    pub fn timeout(&mut self, now: Time) {
        self.host.timeout(now);
    }

    /// Updates what others know of it.
    pub fn report(&mut self) {
        for (index, (id, progress)) in self.host.progress().enumerate() {
            // They are in the order of their ids, whichever was accepted first.
            if self.seen.get(index).is_none_or(|(known, _)| *known != id) {
                self.seen.insert(index, (id, Connection::default()));
            }
            let Connection { mut mptcp, mut subflows, mut corrupt_bytes, .. } = self.seen[index].1;
            if let Some(snapshot) = self.host.endpoint().snapshot(id) {
                (mptcp, corrupt_bytes) = (snapshot.mptcp, snapshot.corrupt_bytes);
                subflows = subflows.max(snapshot.subflows.iter().filter(|one| one.path.is_some()).count());
            }
            self.seen[index].1 = Connection {
                mptcp,
                subflows,
                bytes_written: progress.written,
                bytes_read: progress.read,
                corrupt_bytes,
                done: progress.is_done(),
                end: progress.closed.map(label),
            };
        }
        let mut shown = self.status.0.lock().unwrap_or_else(PoisonError::into_inner);
        shown.clear();
        shown.extend(self.seen.iter().map(|(_, connection)| *connection));
    }
}

/// Where the host's packets are seen: at the path that they take.
struct Tap<'a> {
    whose: Host,
    points: &'a [Option<u32>],
    feed: &'a mut Feed,
    routes: &'a Routes,
}

impl host::Tap for Tap<'_> {
    fn passed(&mut self, at: Time, nic: Nic, direction: CaptureDirection, packet: &Packet) {
        let path = match (self.whose, direction) {
            (Host::Client, _) => Some(nic.0 as usize),
            (_, CaptureDirection::Inbound) => self.routes.path(packet.frame.ip.source),
            (_, CaptureDirection::Outbound) => self.routes.path(packet.frame.ip.destination),
        };
        if let Some(point) = path.and_then(|path| self.points[path]) {
            self.feed.passed(at, point, direction, packet);
        }
    }
}

fn label(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Complete => "complete",
        Outcome::Aborted => "aborted",
        Outcome::Failed(Closed::Finished) => "finished",
        Outcome::Failed(Closed::Reset) => "reset",
        Outcome::Failed(Closed::TimedOut) => "timed-out",
        Outcome::Failed(Closed::AddressLost) => "address-lost",
        Outcome::Failed(Closed::Removed) => "removed",
        Outcome::Failed(Closed::Refused) => "refused",
        Outcome::Failed(Closed::Protocol) => "protocol",
    }
}
