//! The event loop.

use crate::Observer;
use crate::cross::Cross;
use crate::observer::{Site, Tap};
use crate::outcome::{self, Outcome};
use crate::pool::Pool;
use crate::records::Records;
use host::{Host, Reception};
use link::{Change, Direction, Dropped, Element, Out, Reason};
use scenario::applications::{self, End};
use scenario::{Action, CLIENT, Network, Owner, SERVER, Scenario, Timeline};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use transport::Nic;
use wire::{Packet, Time};

/// So much at one instant means that time stands still: a link that takes no time.
const MOST_AT_ONCE: u64 = 1 << 19;

/// So long a run waits for connections to close once all is transferred: subflows that nobody answers take minutes.
const LINGER_NS: i64 = 10_000_000_000;

/// A host and where it stands.
pub(crate) struct Node {
    pub name: Arc<str>,
    pub host: Host,
    /// For those that are observed.
    pub site: Option<Site>,
    /// The link that it is at the client's end of, for neighbours.
    pub uplink: Option<usize>,
}

/// Where a packet goes next.
#[derive(Clone, Copy, Debug)]
enum To {
    Link(u32, Direction),
    /// One that has a chain.
    Path(u32, Direction),
    Host(u32, Nic),
}

/// Where a packet ended.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// A link, and which element of it, if any.
    Link(usize, u32),
    Path(usize),
    Host(usize),
}

/// A scenario on its way.
pub struct Simulation {
    scenario: Scenario,
    now: Time,
    start: Time,
    begun: bool,
    nodes: Vec<Node>,
    network: Network,
    crosses: Vec<Cross>,
    timeline: Timeline,
    /// Of the timeline, links and hosts. There are few: looking through them is quicker than keeping them in order.
    deadlines: Vec<Time>,
    work: VecDeque<(To, Box<Packet>)>,
    /// Reused: what an element gives back.
    out: Out,
    pool: Pool,
    records: Records,
    packets: u64,
    /// Events and packets of this instant.
    at_once: u64,
    /// When it ends at the latest.
    stop: Time,
    lingers: bool,
}

impl Simulation {
    pub(crate) fn assemble(
        scenario: Scenario,
        nodes: Vec<Node>,
        network: Network,
        crosses: Vec<Cross>,
        timeline: Timeline,
        records: Records,
    ) -> Simulation {
        let start = Time::from_nanos(scenario.epoch_ns);
        let stop = start + scenario.stop_ns;
        Simulation {
            deadlines: vec![Time::MAX; 1 + network.links.len() + nodes.len()],
            scenario,
            now: start,
            start,
            begun: false,
            nodes,
            network,
            crosses,
            timeline,
            work: VecDeque::new(),
            out: Out::default(),
            pool: Pool::default(),
            records,
            packets: 0,
            at_once: 0,
            stop,
            lingers: false,
        }
    }

    pub(crate) fn node(&self, place: usize) -> &Node {
        &self.nodes[place]
    }

    /// Virtual time that passed, in nanoseconds.
    pub fn virtual_ns(&self) -> i64 {
        self.now - self.start
    }

    /// Packets that hosts received so far.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// The client and the server.
    pub fn ends(&self) -> [&Host; 2] {
        [CLIENT, SERVER].map(|place| &self.nodes[place].host)
    }

    /// What only the simulation knows.
    pub fn into_records(self) -> Records {
        self.records
    }

    /// Goes on for so many events, or until the end: then says how it ended.
    pub fn run(&mut self, observer: &mut impl Observer, events: u64) -> Option<Outcome> {
        if !std::mem::replace(&mut self.begun, true) {
            self.begin(observer);
        }
        let outcome = (0..events).find_map(|_| self.step(observer));
        if outcome.is_some() {
            self.catch_up(self.now);
        }
        outcome
    }

    fn begin(&mut self, observer: &mut impl Observer) {
        for path in 0..self.network.paths.len() {
            if self.scenario.paths[path].attached {
                self.nodes[CLIENT].host.attach(self.now, Nic(path as u32));
            } else {
                self.change(path, Change::Detach);
            }
        }
        // What happens at the very start happens before anybody speaks.
        self.act(observer);
        self.open();
        for link in 0..self.network.links.len() {
            self.set_link(link);
        }
        for node in 0..self.nodes.len() {
            self.pump(node, observer);
        }
        self.deadlines[0] = self.timeline.deadline();
        self.work_off(observer);
    }

    fn step(&mut self, observer: &mut impl Observer) -> Option<Outcome> {
        if self.is_over() {
            return Some(self.end(None));
        }
        if !self.lingers && self.is_done() {
            self.lingers = true;
            self.stop = self.stop.min(self.now + LINGER_NS);
        }
        let (at, node) = self.first();
        let stop = self.stop;
        if self.records.deadline() < at.min(stop) && at < Time::MAX {
            self.sample();
            return None;
        }
        if at == Time::MAX {
            return Some(self.end(Some("nothing more can happen".into())));
        }
        if at > stop {
            self.now = stop;
            return Some(self.end(Some(format!("stopped after {} s", self.virtual_ns() as f64 / 1e9))));
        }
        if at > self.now {
            (self.now, self.at_once) = (at, 0);
        }
        self.at_once += 1;
        match node.checked_sub(1) {
            None => self.act(observer),
            Some(link) if link < self.network.links.len() => {
                self.network.links[link].chain.wake(self.now, &mut self.out);
                self.leave(link);
            }
            Some(other) => {
                let node = other - self.network.links.len();
                self.nodes[node].host.timeout(self.now);
                self.pump(node, observer);
            }
        }
        self.work_off(observer);
        if self.at_once > MOST_AT_ONCE {
            return Some(self.end(Some("time stands still: a link has neither rate nor delay".into())));
        }
        None
    }

    /// The earliest deadline and whose it is; of equal ones the first.
    #[inline]
    fn first(&self) -> (Time, usize) {
        let mut first = (Time::MAX, 0);
        for (node, &at) in self.deadlines.iter().enumerate() {
            if at < first.0 {
                first = (at, node);
            }
        }
        first
    }

    /// Hands over what is on its way at this instant, in the order in which it came.
    #[inline]
    fn work_off(&mut self, observer: &mut impl Observer) {
        while let Some((to, packet)) = self.work.pop_front() {
            self.at_once += 1;
            match to {
                To::Link(link, direction) => self.enter(link as usize, direction, packet),
                To::Path(path, direction) => self.pass(path as usize, direction, packet),
                To::Host(node, nic) => self.arrive(node as usize, nic, packet, observer),
            }
            if self.at_once > MOST_AT_ONCE {
                self.work.clear();
            }
        }
    }

    #[inline]
    fn enter(&mut self, link: usize, direction: Direction, packet: Box<Packet>) {
        self.network.links[link].chain.push(self.now, direction, packet, &mut self.out);
        self.leave(link);
    }

    /// What left a link goes on.
    #[inline]
    fn leave(&mut self, link: usize) {
        if !self.out.sent.is_empty() {
            self.forward();
        }
        if !self.out.dropped.is_empty() {
            self.bury(|element| Place::Link(link, element));
        }
        self.set_link(link);
    }

    fn forward(&mut self) {
        for (direction, packet) in self.out.sent.drain(..) {
            let owner = self.network.routes.find(packet.frame.ip.destination);
            let to = match (direction, owner) {
                (Direction::Up, Some(Owner::Server(node))) => To::Host(node as u32, Nic(0)),
                (Direction::Down, Some(Owner::Path(path))) if self.network.paths[path].chain.is_none() => {
                    To::Host(CLIENT as u32, Nic(path as u32))
                }
                (Direction::Down, Some(Owner::Path(path))) => To::Path(path as u32, direction),
                (Direction::Down, Some(Owner::Neighbour { host, .. })) => To::Host(host as u32, Nic(0)),
                _ => {
                    let (reason, element) = (Reason::Unreachable, u32::MAX);
                    self.out.dropped.push(Dropped { packet, direction, reason, at: self.now, element });
                    continue;
                }
            };
            self.work.push_back((to, packet));
        }
    }

    /// What ended in an element is recorded.
    #[cold]
    fn bury(&mut self, place: impl Fn(u32) -> Place) {
        let mut dropped = std::mem::take(&mut self.out.dropped);
        for Dropped { packet, direction, reason, at, element } in dropped.drain(..) {
            self.drop(at, place(element), direction, packet, reason);
        }
        self.out.dropped = dropped;
    }

    /// A packet meets a path's gate and translator.
    fn pass(&mut self, path: usize, direction: Direction, packet: Box<Packet>) {
        if let Some(chain) = &mut self.network.paths[path].chain {
            chain.push(self.now, direction, packet, &mut self.out);
            self.leave_path(path);
        }
    }

    fn leave_path(&mut self, path: usize) {
        for (direction, packet) in self.out.sent.drain(..) {
            let to = match direction {
                Direction::Up => To::Link(self.network.paths[path].link as u32, direction),
                Direction::Down => To::Host(CLIENT as u32, Nic(path as u32)),
            };
            self.work.push_back((to, packet));
        }
        if !self.out.dropped.is_empty() {
            self.bury(|_| Place::Path(path));
        }
    }

    fn arrive(&mut self, place: usize, nic: Nic, packet: Box<Packet>, observer: &mut impl Observer) {
        let node = &mut self.nodes[place];
        let reception = match &mut node.site {
            Some(site) => node.host.handle(self.now, nic, &packet, &mut Tap { observer, site }),
            None => node.host.handle(self.now, nic, &packet, &mut ()),
        };
        let reason = match reception {
            Reception::Taken => {
                self.packets += 1;
                self.pool.give(packet);
                return self.pump(place, observer);
            }
            Reception::Down => Reason::Detached,
            Reception::Stranger => Reason::Unreachable,
        };
        let direction = if self.is_client_side(place) { Direction::Down } else { Direction::Up };
        self.drop(self.now, Place::Host(place), direction, packet, reason);
    }

    /// Takes what a host has to send now.
    fn pump(&mut self, place: usize, observer: &mut impl Observer) {
        loop {
            let mut packet = self.pool.take();
            let node = &mut self.nodes[place];
            let nic = match &mut node.site {
                Some(site) => node.host.transmit(self.now, &mut packet, &mut Tap { observer, site }),
                None => node.host.transmit(self.now, &mut packet, &mut ()),
            };
            let Some(nic) = nic else {
                self.pool.give(packet);
                break;
            };
            match self.first_hop(place, nic, &packet) {
                Some(To::Link(link, direction)) => self.enter(link as usize, direction, packet),
                Some(to) => self.work.push_back((to, packet)),
                None => self.drop(self.now, Place::Host(place), Direction::Down, packet, Reason::Unreachable),
            }
        }
        let deadline = self.nodes[place].host.deadline();
        self.deadlines[1 + self.network.links.len() + place] = deadline;
    }

    #[inline]
    fn first_hop(&self, place: usize, nic: Nic, packet: &Packet) -> Option<To> {
        let (link, direction) = if place == CLIENT {
            let path = &self.network.paths[nic.0 as usize];
            if path.chain.is_some() {
                return Some(To::Path(nic.0, Direction::Up));
            }
            (path.link, Direction::Up)
        } else if let Some(link) = self.nodes[place].uplink {
            (link, Direction::Up)
        } else {
            let link = match self.network.routes.find(packet.frame.ip.destination)? {
                Owner::Path(path) => self.network.paths[path].link,
                Owner::Neighbour { link, .. } => link,
                Owner::Server(_) => return None,
            };
            (link, Direction::Down)
        };
        Some(To::Link(link as u32, direction))
    }

    /// A packet ends here.
    #[cold]
    fn drop(&mut self, at: Time, place: Place, direction: Direction, packet: Box<Packet>, reason: Reason) {
        let network = &self.network;
        let (kind, name, element) = match place {
            Place::Link(link, element) => {
                let link = &network.links[link];
                let element = link.elements.get(element as usize);
                ("link", &link.name, element.map(|(_, _, short)| short.clone()))
            }
            Place::Path(path) => ("path", &network.paths[path].name, None),
            Place::Host(place) => ("host", &self.nodes[place].name, None),
        };
        self.records.drop(at, (kind, name, element), direction, &packet, reason);
        self.pool.give(packet);
    }

    fn is_client_side(&self, place: usize) -> bool {
        place == CLIENT || self.nodes[place].uplink.is_some()
    }

    #[inline]
    fn set_link(&mut self, link: usize) {
        self.deadlines[1 + link] = self.network.links[link].chain.deadline();
    }

    /// What the timeline says.
    fn act(&mut self, observer: &mut impl Observer) {
        while let Some(action) = self.timeline.next(self.now) {
            match action {
                Action::Blackout(path) => self.change(path, Change::Blackout),
                Action::Hold(path) => self.change(path, Change::Hold),
                Action::Restore(path) => self.change(path, Change::Restore),
                Action::Rebind(path, address) => {
                    // An address that another has already stays that other's: what is sent to it goes there.
                    let _ = self.network.routes.add(address, Owner::Path(path));
                    self.change(path, Change::Rebind(address));
                }
                Action::Detach(path) => {
                    self.nodes[CLIENT].host.detach(self.now, Nic(path as u32));
                    self.change(path, Change::Detach);
                    self.pump(CLIENT, observer);
                }
                Action::Attach(path) => {
                    self.change(path, Change::Attach);
                    self.nodes[CLIENT].host.attach(self.now, Nic(path as u32));
                    self.open();
                    self.pump(CLIENT, observer);
                }
                Action::Profile(link, new) => {
                    let old = &mut self.network.links[link];
                    let change = Change::Profile(Box::new(new.chain));
                    old.chain.change(self.now, change, &mut self.out).expect("chains take profiles");
                    old.elements = new.elements;
                    self.leave(link);
                }
                Action::Start(number) => {
                    let cross = &self.crosses[number];
                    let neighbour = cross.neighbour;
                    cross.start(number, &mut self.nodes[neighbour].host, self.now);
                    self.pump(neighbour, observer);
                }
                Action::Stop(number) => {
                    let neighbour = self.crosses[number].neighbour;
                    for place in [neighbour, neighbour + 1] {
                        self.nodes[place].host.abort_all(self.now);
                        self.pump(place, observer);
                    }
                }
            }
        }
        self.deadlines[0] = self.timeline.deadline();
    }

    fn change(&mut self, path: usize, change: Change) {
        if let Some(chain) = &mut self.network.paths[path].chain {
            chain.change(self.now, change, &mut self.out).expect("paths have a gate and a translator");
            self.leave_path(path);
        }
    }

    /// Opens the connections over the first path that is there, backups last, unless they are open.
    fn open(&mut self) {
        let client = &mut self.nodes[CLIENT].host;
        if client.progress().len() > 0 {
            return;
        }
        let there = |backup: bool| {
            let paths = self.scenario.paths.iter().zip(client.interfaces());
            paths.filter(|(_, interface)| interface.is_up()).map(|(path, _)| path).find(|path| path.backup == backup)
        };
        let Some(path) = there(false).or_else(|| there(true)) else { return };
        let addresses = path.addresses();
        let server = &self.scenario.server;
        let ends = server.addresses.iter().find_map(|remote| {
            let local = addresses.iter().find(|local| local.is_ipv4() == remote.is_ipv4())?;
            Some((SocketAddr::new(*local, 0), SocketAddr::new(*remote, server.port)))
        });
        let (local, remote) = ends.expect("checked: the server has an address of each path's family");
        for _ in 0..self.scenario.transfer.connections() {
            let application = applications::at(End::Client, &self.scenario.transfer);
            client.connect(self.now, local, remote, application);
        }
    }

    /// Links do what is to be done within them up to a time at which nothing leaves them.
    fn catch_up(&mut self, at: Time) {
        for link in 0..self.network.links.len() {
            self.network.links[link].chain.wake(at, &mut self.out);
            self.leave(link);
        }
    }

    fn sample(&mut self) {
        let at = self.records.deadline();
        self.catch_up(at);
        let network = &self.network;
        let interfaces = self.nodes[CLIENT].host.interfaces();
        // What the server knows by its public address is known to the client by its own.
        let private = |public: SocketAddr| {
            let Some(Owner::Path(path)) = network.routes.find(public.ip()) else { return public };
            let addresses = interfaces[path].addresses.iter();
            let own = addresses.copied().find(|own| own.is_ipv4() == public.is_ipv4());
            own.map_or(public, |own| SocketAddr::new(own, public.port()))
        };
        for (place, name) in [(CLIENT, "client"), (SERVER, "server")] {
            if self.records.samples(place) {
                self.records.sample_host(at, name, &self.nodes[place].host, private);
            }
        }
        self.records.sample_queues(at, &network.links);
        self.records.sampled();
    }

    fn is_over(&self) -> bool {
        let [client, server] = self.ends();
        let opened = client.progress().len();
        opened > 0 && client.closed() == opened && server.closed() == server.progress().len()
    }

    /// Whether nothing is left to do for the applications.
    fn is_done(&self) -> bool {
        let [client, server] = self.ends();
        let opened = client.progress().len();
        opened > 0 && client.done() == opened && server.done() == server.progress().len()
    }

    fn end(&self, cut: Option<String>) -> Outcome {
        let [client, server] = self.ends();
        let failed = |closed| closed != transport::Outcome::Complete;
        let complete = |host: &Host| !host.progress().any(|(_, progress)| progress.closed.is_some_and(failed));
        let written = |host: &Host| host.progress().map(|(_, progress)| progress.written).sum::<u64>();
        let (bytes_up, bytes_down) = (outcome::read(server), outcome::read(client));
        let all = written(client) == bytes_up && written(server) == bytes_down;
        let finished = self.is_done() && complete(client) && complete(server) && all;
        let waiting = || outcome::waiting(client, server, self.scenario.transfer.direction());
        let reason = match cut {
            _ if finished && self.is_over() => "complete".into(),
            _ if finished => "complete, but for subflows that nobody answers".into(),
            None => waiting(),
            Some(cut) => format!("{cut}: {}", waiting()),
        };
        let virtual_ns = self.virtual_ns();
        let hosts = |cross: &Cross| [0, 1].map(|end| &self.nodes[cross.neighbour + end].host);
        let cross_traffic = self.crosses.iter().map(|cross| cross.crossed(hosts(cross), virtual_ns)).collect();
        Outcome { finished, reason, virtual_ns, packets: self.packets, bytes_up, bytes_down, cross_traffic }
    }
}
