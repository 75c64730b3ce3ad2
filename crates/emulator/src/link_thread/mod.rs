//! A thread that moves the packets of a network between what stands at its ends.

mod ends;
mod local_host;
mod pace;
mod port;
mod schedule;
mod wait;
mod watch;

use crate::port_name::PortName;
use crate::{Clock, Error};
pub(crate) use ends::PortMap;
pub(crate) use local_host::LocalHost;
pub use local_host::{Connection, HostStatus};
use network::{Link, Network};
pub(crate) use pace::Pace;
pub(crate) use port::Port;
pub use port::PortCounts;
use std::sync::Arc;
pub(crate) use wait::{Stop, Wait};
pub use watch::LinkCounts;
pub(crate) use watch::Watch;
use wire::Time;

/// Packets that are taken from a device before others have their turn.
const BATCH: u64 = 32;
/// Times that a device has its turn when all ends: for more than its queue holds, and an end though somebody goes on.
const LAST_TURNS: usize = 512;

/// A network and what stands at its ends.
pub(crate) struct LinkThread {
    pub clock: Clock,
    pub wait: Wait,
    pub pace: Pace,
    pub network: Network,
    pub ports: Vec<Port>,
    pub port_map: PortMap,
    /// Hosts of ours: the client, the server.
    pub local_hosts: [Option<LocalHost>; 2],
    pub watch: Watch,
    /// When what moves now was due to: while wake-ups are coalesced, things move together that were due one after another.
    pub due: Time,
    /// What the clock last showed.
    pub woken: Time,
    /// When packets began to move.
    pub begun: Time,
}

/// What passed ports, and what happened on links.
pub(crate) type Counts = (Vec<(PortName, PortCounts)>, Vec<(Arc<str>, LinkCounts)>);

impl LinkThread {
    /// Runs until it is told to stop.
    pub fn run(&mut self) -> Result<(), Error> {
        schedule::sharpen();
        let mut readable: Vec<usize> = (0..self.ports.len()).collect();
        self.begin();
        // The last wait began then: nothing that follows may be recorded as earlier.
        let mut before = self.watch.now;
        loop {
            self.woken = self.clock.now();
            let now = self.pace.arrive(self.woken, readable.is_empty());
            self.watch.feed.limit(if self.pace.is_coalescing() { self.woken } else { now });
            // What came during a coalescing pause came at its beginning, as answers to what was handed over do.
            self.pass_to(if self.pace.is_coalescing() { before } else { now });
            let may_be_more = self.receive(&readable)?;
            self.pass_to(now);
            self.hand_over()?;
            self.local_hosts.iter_mut().flatten().for_each(LocalHost::report);
            before = self.clock.now();
            self.watch.feed.tick(before);
            let at = self.pace.aim(self.deadline(), !may_be_more);
            let until = if self.pace.is_coalescing() {
                schedule::sleep(at - before);
                before
            } else {
                at.min(self.watch.feed.deadline())
            };
            let stopped = self.wait.wait(until - before, &mut readable)?;
            self.watch.feed.wake(before);
            if stopped {
                return self.finish();
            }
        }
    }

    /// Takes what hosts have sent so far, and hands over what is due: captures show how connections ended.
    fn finish(&mut self) -> Result<(), Error> {
        self.woken = self.clock.now();
        self.watch.feed.limit(self.woken);
        self.pass_to(self.woken);
        for port in 0..self.ports.len() {
            for _ in 0..LAST_TURNS {
                if !self.receive_from(port)? {
                    break;
                }
            }
        }
        self.hand_over()
    }

    /// Has time go on, and what is due happen.
    fn pass_to(&mut self, now: Time) {
        self.watch.now = now.max(self.watch.now);
        self.wake();
        self.due = self.watch.now;
        self.wake_local_hosts();
    }

    /// What passed its ports and links.
    pub fn into_counts(self) -> Counts {
        let ports = self.ports.into_iter().map(Port::into_counts);
        let names = self.network.links().iter().map(|link| link.name.clone());
        (ports.collect(), names.zip(self.watch.counts).collect())
    }

    fn deadline(&self) -> Time {
        let local_hosts = self.local_hosts.iter().flatten().map(LocalHost::deadline);
        local_hosts.fold(self.network.next().at, Time::min)
    }

    /// What happens at the very start happens before hosts of ours speak.
    fn begin(&mut self) {
        self.woken = self.clock.now();
        (self.watch.now, self.begun) = (self.woken, self.woken);
        self.watch.feed.limit(self.woken);
        self.keep_pace();
        self.local_hosts.iter_mut().flatten().for_each(|local_host| local_host.begin(self.woken));
        while let Some(event) = self.network.act(self.woken, &mut self.watch) {
            self.carry_out(event);
        }
        for host in 0..self.local_hosts.len() {
            if let Some(local_host) = &mut self.local_hosts[host] {
                local_host.open(self.woken);
                self.pump(host);
            }
        }
        self.deliver_all();
    }

    /// To be called when links have changed.
    fn keep_pace(&mut self) {
        let links = self.network.links().iter().map(Link::shortest_ns);
        self.pace.fit(links.min().unwrap_or(0));
    }

    fn wake_local_hosts(&mut self) {
        for host in 0..self.local_hosts.len() {
            if let Some(local_host) = &mut self.local_hosts[host]
                && local_host.deadline() <= self.watch.now
            {
                local_host.timeout(self.watch.now);
                self.pump(host);
                self.deliver_all();
            }
        }
    }

    /// Has all happen that is due, in steps: what is due at one time may be merged.
    fn wake(&mut self) {
        self.note_lateness();
        let mut last = None;
        loop {
            let due = self.network.next();
            if due.at > self.watch.now {
                return;
            }
            // What is still due then has to see the time go on.
            self.due = if last == Some(due) { self.watch.now } else { due.at };
            last = Some(due);
            while let Some(event) = self.network.wake(self.due, due, &mut self.watch) {
                self.carry_out(event);
            }
            self.deliver_all();
        }
    }

    fn note_lateness(&mut self) {
        for (link, counts) in self.network.links().iter().zip(&mut self.watch.counts) {
            let deadline = link.deadline();
            // What was due before anything moved is not late.
            if deadline <= self.watch.now && deadline > self.begun {
                counts.lateness.add(self.woken - deadline);
            }
        }
    }
}
