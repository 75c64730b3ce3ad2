//! Queues in front of servers. One discipline is one file; to add one: a file here and a line in `disciplines!`.

mod codel;
mod drop_head;
mod drop_tail;

use crate::describe::Kind;
use crate::describe::{Described, Fault, Parameters, named};
use crate::parameter::{Bytes, Duration, Packets};
use crate::{Description, Direction, Error, Out, Reason};
use serde_json::{Value, json};
use std::collections::VecDeque;
use wire::{Packet, Time};

/// A packet that waits.
#[derive(Debug)]
pub(crate) struct Item {
    pub packet: Box<Packet>,
    /// When it came.
    pub at: Time,
    pub bytes: u32,
    pub direction: Direction,
}

/// Who may wait, and who goes first. It may drop what it likes.
pub(crate) trait Discipline: Send {
    /// A packet comes.
    fn enqueue(&mut self, store: &mut Store, item: Item, out: &mut Out);

    /// The server is free. A queue that is not empty may give nothing only by dropping all it has.
    fn dequeue(&mut self, now: Time, store: &mut Store, out: &mut Out) -> Option<Item>;
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

/// Packets that may wait where no limit is given: Linux's usual transmission queue.
const DEFAULT_PACKETS: u64 = 1000;

impl Store {
    /// `mean_rate` in bit/s turns a delay into bytes.
    pub fn new(limits: &Limits, mean_rate: u64) -> Store {
        let of_delay = |Duration(ns): Duration| {
            (u128::from(ns) * u128::from(mean_rate) / 8_000_000_000).min(u128::from(u64::MAX)) as u64
        };
        let unlimited = limits.bytes.is_none() && limits.packets.is_none() && limits.delay.is_none();
        Store {
            items: VecDeque::new(),
            bytes: 0,
            max_bytes: limits.bytes.map_or(u64::MAX, |Bytes(n)| n).min(limits.delay.map_or(u64::MAX, of_delay)),
            max_packets: limits.packets.map_or(if unlimited { DEFAULT_PACKETS } else { u64::MAX }, |Packets(n)| n),
        }
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

    pub fn len(&self) -> usize {
        self.items.len()
    }
}

impl Item {
    /// It ends here.
    pub fn drop(self, reason: Reason, out: &mut Out) {
        out.drop(self.direction, self.packet, reason);
    }
}

/// A queue as a scenario describes it.
#[derive(Clone, Debug)]
pub(crate) struct Queue(Value);

impl Queue {
    /// Packets wait first come first served, and those for which there is no room are dropped.
    pub fn standard() -> Queue {
        Queue(json!({"queue": "drop-tail"}))
    }

    /// The queue, empty, in front of a server with this mean rate in bit/s.
    pub fn make(&self, mean_rate: u64) -> (Box<dyn Discipline>, Store) {
        let (discipline, limits) = make(&self.0).expect("checked when it was read");
        (discipline, Store::new(&limits, mean_rate))
    }
}

impl Kind for Queue {
    const KIND: &'static str = "queue";

    fn read(value: &Value) -> Result<Self, String> {
        make(value).map_err(|error| match error {
            Error::Parameter { fault: Fault { parameter, message }, .. } => format!("`{parameter}` {message}"),
            error => error.to_string(),
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

        fn make(value: &Value) -> Result<(Box<dyn Discipline>, Limits), Error> {
            let (table, name) = named(value, "queue")?;
            let wrong = |fault: Fault| Error::Parameter { what: "queue", name: name.into(), fault };
            $(if name == $module::Settings::NAME {
                return $module::Settings::read(table, Some("queue")).and_then($module::make).map_err(wrong);
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
}
