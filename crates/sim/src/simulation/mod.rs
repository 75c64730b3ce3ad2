//! The event loop.

mod actions;
mod ending;
mod passage;
mod sampling;

use crate::Observer;
use crate::cross::Cross;
use crate::inbox::Inbox;
use crate::observer::Site;
use crate::outcome::Outcome;
use crate::records::Records;
use crate::sink::Sink;
use host::Host;
use network::{CLIENT, Network};
use scenario::form::Transfer;
use scenario::{Scenario, transfer_start};
use std::collections::VecDeque;
use std::hint::select_unpredictable;
use std::sync::Arc;
use transport::Nic;
use wire::{Packet, Time};

/// So much at one instant means that time stands still: a link that takes no time.
const MOST_AT_ONCE: u64 = 1 << 19;

/// So long a run waits for connections to close once all is transferred: subflows that nobody answers take minutes.
const LINGER_NS: i64 = 10_000_000_000;

/// The node that is no host.
const NETWORK: usize = usize::MAX;

/// A host and what joins it to the network.
pub(crate) struct Node {
    pub name: Arc<str>,
    pub host: Host,
    /// For those that are observed.
    pub site: Option<Site>,
    /// The link that it is at the client's end of, for neighbours.
    pub uplink: Option<usize>,
    /// Of a converter and of who is behind it: the interface between them, and the other's node and interface.
    pub lan: Option<(Nic, usize, Nic)>,
    /// What came and has not been looked at yet.
    pub inbox: Inbox,
}

impl Node {
    pub fn new(name: &str, host: Host, site: Option<Site>, uplink: Option<usize>, scenario: &Scenario) -> Node {
        let inbox = Inbox::new(scenario.seed, name, scenario.settings.processing_ns);
        Node { name: name.into(), host, site, uplink, lan: None, inbox }
    }
}

/// A scenario on its way.
pub struct Simulation {
    scenario: Scenario,
    now: Time,
    start: Time,
    begun: bool,
    nodes: Vec<Node>,
    /// Those of the transfer's client and server: behind converters, where there are any.
    ends: [usize; 2],
    network: Network,
    /// On their way between a converter and who is behind it, which takes no time.
    between: VecDeque<(usize, Nic, Box<Packet>)>,
    crosses: Vec<Cross>,
    /// Of hosts. There are few: looking through them is quicker than keeping them in order.
    deadlines: Vec<Time>,
    sink: Sink,
    packets: u64,
    /// Events and packets of this instant.
    at_once: u64,
    /// When it ends at the latest.
    stop: Time,
    lingers: bool,
    /// The same transfer earlier, until it is over.
    earlier: Option<Box<Simulation>>,
}

impl Simulation {
    pub(crate) fn assemble(
        scenario: Scenario,
        (nodes, ends): (Vec<Node>, [usize; 2]),
        network: Network,
        crosses: Vec<Cross>,
        records: Records,
    ) -> Simulation {
        let start = Time::from_nanos(scenario.epoch_ns);
        let stop = scenario.stop();
        Simulation {
            deadlines: vec![Time::MAX; nodes.len()],
            scenario,
            now: start,
            start,
            begun: false,
            nodes,
            ends,
            network,
            between: VecDeque::new(),
            crosses,
            sink: Sink::new(records),
            packets: 0,
            at_once: 0,
            stop,
            lingers: false,
            earlier: None,
        }
    }

    pub(crate) fn node(&self, index: usize) -> &Node {
        &self.nodes[index]
    }

    /// Virtual time that passed, in nanoseconds.
    pub fn virtual_ns(&self) -> i64 {
        self.now - self.start
    }

    /// Packets that hosts received so far.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    pub(crate) fn network(&self) -> &Network {
        &self.network
    }

    /// The client and the server of the transfer.
    pub fn ends(&self) -> [&Host; 2] {
        self.ends.map(|index| &self.nodes[index].host)
    }

    /// All hosts.
    pub fn hosts(&self) -> impl Iterator<Item = &Host> {
        self.nodes.iter().map(|node| &node.host)
    }

    /// What only the simulation knows.
    pub fn into_records(self) -> Records {
        let decided = self.nodes[CLIENT].host.decided().to_vec();
        let mut records = self.sink.records;
        records.is_unasked =
            self.scenario.converters.is_some() && matches!(self.scenario.transfer, Transfer::Bulk { .. });
        records.decisions("client", decided);
        records
    }

    /// The same transfer comes before.
    pub(crate) fn after(self, earlier: Option<Simulation>) -> Simulation {
        Simulation { earlier: earlier.map(Box::new), ..self }
    }

    /// Goes on for so many events, or until the end: then says how it ended.
    pub fn run(&mut self, observer: &mut impl Observer, events: u64) -> Option<Outcome> {
        if let Some(earlier) = &mut self.earlier {
            if earlier.run(&mut (), events).is_some() {
                for (node, before) in self.nodes.iter_mut().zip(&earlier.nodes) {
                    node.host.recall(&before.host);
                }
                self.earlier = None;
            }
            return None;
        }
        if !std::mem::replace(&mut self.begun, true) {
            self.begin(observer);
        }
        let outcome = (0..events).find_map(|_| self.step(observer));
        if outcome.is_some() {
            self.network.catch_up(self.now, &mut self.sink);
        }
        outcome
    }

    fn begin(&mut self, observer: &mut impl Observer) {
        for (number, _) in self.scenario.paths.iter().enumerate().filter(|(_, path)| path.attached) {
            self.nodes[CLIENT].host.attach(self.now, Nic(number as u32));
        }
        // What happens at the very start happens before anybody speaks.
        while let Some(event) = self.network.act(self.now, &mut self.sink) {
            self.carry_out(event, observer);
        }
        if transfer_start(&self.scenario) == 0 {
            self.open();
        }
        for host in 0..self.nodes.len() {
            self.pump(host, observer);
        }
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
        let due = self.network.next();
        let (at, node) = self.first(due.at);
        let stop = self.stop;
        if self.sink.records.deadline() < at.min(stop) && at < Time::MAX {
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
        if node == NETWORK {
            while let Some(event) = self.network.wake(self.now, due, &mut self.sink) {
                self.carry_out(event, observer);
            }
        } else {
            self.look(node, observer);
            if self.nodes[node].host.deadline() <= self.now {
                self.nodes[node].host.timeout(self.now);
            }
            self.pump(node, observer);
        }
        self.work_off(observer);
        if self.at_once > MOST_AT_ONCE {
            return Some(self.end(Some("time stands still: a link has neither rate nor delay".into())));
        }
        None
    }

    /// The earliest deadline and whose it is, with that of the network; of equal ones the first.
    #[inline]
    fn first(&self, network: Time) -> (Time, usize) {
        let mut first = (network, NETWORK);
        for (node, &at) in self.deadlines.iter().enumerate() {
            // Nobody can tell whose turn it is: a branch would often be guessed wrong.
            first = select_unpredictable(at < first.0, (at, node), first);
        }
        first
    }
}
