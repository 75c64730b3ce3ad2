//! A lane: links that share something, and what stands at their ends, on one thread.

mod line;
mod pace;
mod port;
mod resident;
mod route;
mod schedule;
mod timeline;
mod wait;

use crate::place::Place;
use crate::recorder::Feed;
use crate::{Clock, Error};
pub(crate) use line::Line;
pub use line::LinkCounts;
use link::{Direction, Element, Out};
use network::{Action, Path, Routes};
pub(crate) use pace::Pace;
pub use port::PortCounts;
use port::Received;
pub(crate) use port::{Entry, Port};
pub(crate) use resident::Resident;
pub use resident::{Connection, Standing};
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::Arc;
pub(crate) use wait::{Stop, Wait};
use wire::{Packet, Time};

/// Packets that are taken from a device before others have their turn.
const BATCH: u64 = 32;
/// Times that a device has its turn when all ends: for more than its queue holds, and an end though somebody goes on.
const LAST_TURNS: usize = 512;

/// Links and paths have their numbers in the whole network; those of other lanes are none.
pub(crate) struct Lane {
    pub clock: Clock,
    pub wait: Wait,
    pub pace: Pace,
    pub lines: Vec<Option<Line>>,
    pub paths: Vec<Option<Path>>,
    pub routes: Routes,
    pub ports: Vec<Port>,
    pub doors: Doors,
    /// Hosts of ours: the client, the server.
    pub residents: [Option<Resident>; 2],
    pub timeline: VecDeque<(Time, Action)>,
    pub feed: Feed,
    /// Reused: what a chain gives back.
    pub out: Out,
    pub work: VecDeque<(To, Box<Packet>)>,
    /// The time up to which everything has happened: after a rest a little ahead of the clock.
    pub now: Time,
    /// When what moves now was due to: during a rest things move together that were due one after another.
    pub due: Time,
    /// What the clock last showed.
    pub woken: Time,
    /// When packets began to move.
    pub begun: Time,
}

/// Which port leads to whom.
#[derive(Debug)]
pub(crate) struct Doors {
    /// By path: the client's port.
    pub client: Vec<Option<usize>>,
    /// By path: the server's.
    pub server: Vec<Option<usize>>,
    /// By host, from the first of cross traffic on.
    pub others: Vec<Option<usize>>,
}

/// What passed ports, and what happened on links.
pub(crate) type Counts = (Vec<(Place, PortCounts)>, Vec<(Arc<str>, LinkCounts)>);

/// Where a packet goes next.
#[derive(Clone, Copy, Debug)]
pub(crate) enum To {
    Link(usize, Direction),
    Path(usize, Direction),
    Port(usize),
    /// The client of ours, or the server, over a path.
    Resident(usize, usize),
    /// To the link behind which its destination is.
    Router,
}

impl Lane {
    /// Runs until it is told to stop.
    pub fn run(&mut self) -> Result<(), Error> {
        schedule::sharpen();
        let mut readable: Vec<usize> = (0..self.ports.len()).collect();
        self.begin();
        // The last wait began then: nothing that follows may be recorded as earlier.
        let mut before = self.now;
        loop {
            self.woken = self.clock.now();
            let now = self.pace.arrive(self.woken, readable.is_empty());
            self.feed.limit(if self.pace.rests() { self.woken } else { now });
            // What came during a rest came at its beginning, as answers to what was handed over do.
            self.pass_to(if self.pace.rests() { before } else { now });
            let may_be_more = self.receive(&readable)?;
            self.pass_to(now);
            self.hand_over()?;
            self.residents.iter_mut().flatten().for_each(Resident::report);
            before = self.clock.now();
            self.feed.tick(before);
            let at = self.pace.aim(self.deadline(), !may_be_more);
            let until = if self.pace.rests() {
                schedule::sleep(at - before);
                before
            } else {
                at.min(self.feed.deadline())
            };
            let stopped = self.wait.wait(until - before, &mut readable)?;
            self.feed.wake(before);
            if stopped {
                return self.finish();
            }
        }
    }

    /// Takes what hosts have sent so far, and hands over what is due: captures show how connections ended.
    fn finish(&mut self) -> Result<(), Error> {
        self.woken = self.clock.now();
        self.feed.limit(self.woken);
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
        self.now = now.max(self.now);
        self.act();
        self.wake();
        self.due = self.now;
        self.wake_residents();
    }

    /// What passed its ports and links.
    pub fn into_counts(self) -> Counts {
        let ports = self.ports.into_iter().map(Port::into_counts);
        let links = self.lines.into_iter().flatten().map(|line| (line.link.name, line.counts));
        (ports.collect(), links.collect())
    }

    fn deadline(&self) -> Time {
        let links = self.lines.iter().flatten().map(|line| line.link.chain.deadline());
        let timeline = self.timeline.front().map_or(Time::MAX, |(at, _)| *at);
        let residents = self.residents.iter().flatten().map(Resident::deadline);
        links.chain(residents).fold(timeline, Time::min)
    }

    /// What happens at the very start happens before hosts of ours speak.
    fn begin(&mut self) {
        self.woken = self.clock.now();
        (self.now, self.begun) = (self.woken, self.woken);
        self.feed.limit(self.now);
        self.keep_pace();
        self.residents.iter_mut().flatten().for_each(|resident| resident.begin(self.now));
        self.act();
        for place in 0..self.residents.len() {
            if let Some(resident) = &mut self.residents[place] {
                resident.open(self.now);
                self.pump(place);
            }
        }
        self.work_off();
    }

    /// To be called when links have changed.
    fn keep_pace(&mut self) {
        let links = self.lines.iter().flatten().map(|line| line.link.chain.shortest_ns());
        self.pace.fit(links.min().unwrap_or(0));
    }

    fn wake_residents(&mut self) {
        for place in 0..self.residents.len() {
            if let Some(resident) = &mut self.residents[place]
                && resident.deadline() <= self.now
            {
                resident.timeout(self.now);
                self.pump(place);
                self.work_off();
            }
        }
    }

    /// Wakes links whose time has come.
    fn wake(&mut self) {
        for place in 0..self.lines.len() {
            let Some(line) = &mut self.lines[place] else { continue };
            let deadline = line.link.chain.deadline();
            // What was due before anything moved is not late.
            if deadline <= self.now && deadline > self.begun {
                line.counts.lateness.add(self.woken - deadline);
            }
            self.wake_line(place);
        }
    }

    /// Has all leave a link that is due, in steps: what is due at one time may be merged.
    fn wake_line(&mut self, place: usize) {
        while let Some(line) = &mut self.lines[place]
            && line.link.chain.deadline() <= self.now
        {
            let due = line.link.chain.deadline();
            // One that is still due then has to see the time go on.
            self.due = if due == self.due { self.now } else { due };
            line.link.chain.wake(self.due, &mut self.out);
            self.leave(place);
            self.work_off();
        }
    }

    /// Takes a batch from each device; says whether there may be more.
    fn receive(&mut self, readable: &[usize]) -> Result<bool, Error> {
        let mut more = false;
        for &port in readable {
            more |= self.receive_from(port)?;
        }
        Ok(more)
    }

    fn receive_from(&mut self, place: usize) -> Result<bool, Error> {
        let Lane { ports, work, feed, now, wait, .. } = self;
        let port = &mut ports[place];
        let (entry, point) = (port.entry, port.point);
        let (received, mut local) = (Cell::new(0), 0);
        let mut each = |packet: Box<Packet>| {
            received.set(received.get() + 1);
            if route::is_local(packet.frame.ip.destination) {
                local += 1;
                return;
            }
            if let Some(point) = point {
                feed.passed(*now, point, wire::Direction::Outbound, &packet);
            }
            let to = match entry {
                Entry::Path(path) => To::Path(path, Direction::Up),
                Entry::Link(link) => To::Link(link, Direction::Up),
                Entry::Router => To::Router,
            };
            work.push_back((to, packet));
        };
        while received.get() < BATCH {
            match port.receive(&mut each)? {
                Received::Frame => {}
                Received::Nothing => break,
                Received::Gone => {
                    wait.remove(&port.device);
                    break;
                }
            }
        }
        port.counts.received += received.get();
        port.counts.local += local;
        self.work_off();
        Ok(received.get() >= BATCH)
    }
}
