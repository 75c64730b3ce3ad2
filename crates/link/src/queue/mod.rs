//! Queues in front of servers. One discipline is one file; to add one: a file here, its `mod` and a line in `disciplines!`.

mod codel;
mod drop_head;
mod drop_tail;
mod fq_codel;
mod pie;

use crate::elements::Context;
use crate::parameter::{Bytes, Duration, Packets};
use crate::{Description, Direction, Error, Out, Reason};
use parameters::{Described, Fault, Kind, Parameters, fault, named};
use serde_json::{Value, json};
use std::collections::VecDeque;
use wire::{Ecn, Packet, Time};

/// A packet that waits.
#[derive(Debug)]
pub(crate) struct Item {
    pub packet: Box<Packet>,
    /// When it came.
    pub at: Time,
    pub bytes: u32,
    pub direction: Direction,
    /// The queue marked it rather than drop it.
    pub marked: bool,
}

/// Packets that wait: who may, and who goes first. It may drop what it likes.
pub(crate) trait Discipline: Send {
    /// A packet comes.
    fn enqueue(&mut self, item: Item, out: &mut Out);

    /// The server is free. A queue that is not empty may give nothing only by dropping all it has.
    fn dequeue(&mut self, now: Time, out: &mut Out) -> Option<Item>;

    /// Gives up all that waits, in the order in which it is to go on.
    fn take(&mut self, items: &mut Vec<Item>);

    /// Whether it may drop packets when it gives one to the server, and not only when one comes.
    fn drops_late(&self) -> bool {
        true
    }

    /// Bytes that wait.
    fn bytes(&self) -> u64;

    /// Packets that wait.
    fn packets(&self) -> u64;
}

/// What waits, first come first.
#[derive(Debug)]
pub(crate) struct Store {
    items: VecDeque<Item>,
    bytes: u64,
    max_bytes: u64,
    max_packets: u64,
}

/// How much may wait, as a scenario says it.
pub(crate) struct Limits {
    pub bytes: Option<Bytes>,
    pub packets: Option<Packets>,
    pub delay: Option<Duration>,
}

/// The server behind a queue.
pub(crate) struct Site<'a> {
    pub context: &'a Context<'a>,
    /// Of the server, in bit/s.
    pub mean_rate: u64,
}

/// Packets that may wait where no limit is given: Linux's usual transmission queue.
const DEFAULT_PACKETS: u64 = 1000;

impl Limits {
    /// Most bytes and most packets: of these `default_packets` where no limit is given.
    pub fn at(&self, site: &Site, default_packets: u64) -> (u64, u64) {
        let of_delay = |Duration(ns): Duration| {
            (u128::from(ns) * u128::from(site.mean_rate) / 8_000_000_000).min(u128::from(u64::MAX)) as u64
        };
        let unlimited = self.bytes.is_none() && self.packets.is_none() && self.delay.is_none();
        let bytes = self.bytes.map_or(u64::MAX, |Bytes(n)| n).min(self.delay.map_or(u64::MAX, of_delay));
        let packets = self.packets.map_or(if unlimited { default_packets } else { u64::MAX }, |Packets(n)| n);
        (bytes, packets)
    }
}

impl Store {
    pub fn new(limits: &Limits, site: &Site) -> Store {
        let (max_bytes, max_packets) = limits.at(site, DEFAULT_PACKETS);
        Store { items: VecDeque::new(), bytes: 0, max_bytes, max_packets }
    }

    pub fn unlimited() -> Store {
        Store { items: VecDeque::new(), bytes: 0, max_bytes: u64::MAX, max_packets: u64::MAX }
    }

    /// Whether `item` may wait too. An empty queue takes any packet.
    pub fn has_room(&self, item: &Item) -> bool {
        self.items.is_empty()
            || self.bytes + u64::from(item.bytes) <= self.max_bytes && (self.items.len() as u64) < self.max_packets
    }

    pub fn push(&mut self, item: Item) {
        self.bytes += u64::from(item.bytes);
        self.items.push_back(item);
    }

    pub fn pop(&mut self) -> Option<Item> {
        let item = self.items.pop_front()?;
        self.bytes -= u64::from(item.bytes);
        Some(item)
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn packets(&self) -> u64 {
        self.items.len() as u64
    }

    pub fn take(&mut self, items: &mut Vec<Item>) {
        items.extend(self.items.drain(..));
        self.bytes = 0;
    }
}

impl Item {
    /// That comes at `now`.
    pub fn new(now: Time, direction: Direction, packet: Box<Packet>) -> Item {
        Item { at: now, bytes: packet.frame.wire_len(), direction, packet, marked: false }
    }

    /// Says in its header that it met congestion (RFC 3168 §5), if its ends take that for a loss; says whether they do.
    pub fn mark(&mut self) -> bool {
        let ip = &mut self.packet.frame.ip;
        self.marked = ip.ecn() != Ecn::NotCapable;
        if self.marked {
            ip.set_ecn(Ecn::CongestionExperienced);
        }
        self.marked
    }

    /// It ends here.
    pub fn drop(self, reason: Reason, out: &mut Out) {
        out.drop(self.direction, self.packet, reason);
    }
}

/// The part of [`Discipline`] that a discipline with one store leaves to it.
macro_rules! stored {
    () => {
        fn take(&mut self, items: &mut Vec<Item>) {
            self.store.take(items);
        }

        fn bytes(&self) -> u64 {
            self.store.bytes()
        }

        fn packets(&self) -> u64 {
            self.store.packets()
        }
    };
}
use stored;

/// A queue as a scenario describes it.
#[derive(Clone, Debug)]
pub(crate) struct Queue(Value);

impl Queue {
    /// As a scenario would describe it.
    ///
    /// # Panics
    /// When there is no such queue.
    pub fn of(value: Value) -> Queue {
        Queue::read(&value).expect("a queue that is known")
    }

    /// Packets wait first come first served, and those for which there is no room are dropped.
    pub fn standard() -> Queue {
        Queue::of(json!({"queue": "drop-tail"}))
    }

    /// The queue, empty.
    pub fn make(&self, site: &Site) -> Box<dyn Discipline> {
        make(&self.0, site).expect("checked when it was read")
    }
}

impl Kind for Queue {
    const KIND: &'static str = "queue";

    fn read(value: &Value) -> Result<Self, String> {
        Queue::read_as("", value).map_err(|fault| fault.message)
    }

    fn read_as(name: &str, value: &Value) -> Result<Self, Fault> {
        make(value, &Site { context: &Context::NOWHERE, mean_rate: 0 }).map_err(|error| match error {
            Error::Parameter { fault, .. } => {
                Fault { parameter: name.into(), within: Some(fault.parameter), message: fault.message }
            }
            error => fault(name, error.to_string()),
        })?;
        Ok(Queue(value.clone()))
    }

    fn value(&self) -> Value {
        self.0.clone()
    }
}

/// Names every discipline once.
macro_rules! disciplines {
    ($($module:ident,)*) => {
        /// The queues that a server may have in front of it.
        pub fn queues() -> Vec<Description> {
            vec![$($module::Settings::description()),*]
        }

        fn make(value: &Value, site: &Site) -> Result<Box<dyn Discipline>, Error> {
            let (table, name) = named(value, "queue")?;
            let wrong = |fault: Fault| Error::Parameter { what: "queue", name: name.into(), fault };
            $(if name == $module::Settings::NAME {
                let settings = $module::Settings::read(table, Some("queue")).map_err(wrong)?;
                return $module::make(settings, site).map_err(wrong);
            })*
            let known = queues().iter().map(|queue| queue.name).collect::<Vec<_>>().join(", ");
            Err(Error::Unknown { what: "queue", name: name.into(), known })
        }
    };
}

disciplines! {
    drop_tail,
    drop_head,
    codel,
    fq_codel,
    pie,
}
