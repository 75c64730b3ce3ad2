//! A server: it sends one packet at a time, and the others wait in its queue.

use crate::elements::Context;
use crate::flight::Flight;
use crate::queue::{Discipline, Item, Queue, Site};
use crate::{Direction, Element, Out, QueueState};
use wire::{Packet, Time};

/// How fast a server works. Work is counted in nanobits (10⁻⁹ bit), so that a rate in bit/s times nanoseconds is whole
/// and nothing is lost to rounding.
pub(crate) trait Capacity: Send {
    /// Works off `need` nanobits from `from` on; says when that is done. Where `need` is not 0 afterwards, it is to be
    /// called again at that time. What an earlier call left over of its last moment counts only if `busy`: this work
    /// goes on where that ended.
    fn work(&mut self, from: Time, busy: bool, need: &mut u64) -> Time;

    /// Mean rate in bit/s.
    fn mean(&self) -> u64;

    /// A packet that came was dropped.
    fn overflowed(&mut self) {}

    /// No packet is left.
    fn emptied(&mut self) {}
}

/// A rate that changes in steps.
pub(crate) trait Steps: Send {
    /// Present rate in bit/s.
    fn rate(&self) -> u64;

    /// When it ends.
    fn until(&self) -> Time;

    /// Goes on to the next.
    fn advance(&mut self);

    /// Mean rate in bit/s.
    fn mean(&self) -> u64;
}

/// Nanobits of a byte.
pub(crate) const BYTE: u64 = 8_000_000_000;

/// Works at the rates of `steps`.
pub(crate) struct Stepped<S> {
    steps: S,
    /// Nanobits left over of the last nanosecond.
    spare: u64,
}

/// Steps that one call looks ahead at most.
const AHEAD: u32 = 10_000;

impl<S> Stepped<S> {
    pub fn new(steps: S) -> Self {
        Stepped { steps, spare: 0 }
    }
}

impl<S: Steps> Capacity for Stepped<S> {
    fn work(&mut self, from: Time, busy: bool, need: &mut u64) -> Time {
        while self.steps.until() <= from {
            self.steps.advance();
        }
        let spare = if busy { self.spare.min(*need) } else { 0 };
        *need -= spare;
        self.spare = if busy { self.spare - spare } else { 0 };
        if *need == 0 {
            return from;
        }
        let mut at = from;
        for _ in 0..AHEAD {
            let (rate, until) = (self.steps.rate(), self.steps.until());
            let nanos = (until - at) as u64;
            if rate > 0 && need.div_ceil(rate) <= nanos {
                let took = need.div_ceil(rate);
                self.spare = took * rate - *need;
                *need = 0;
                return at + took as i64;
            }
            *need -= rate * nanos;
            if until == Time::MAX {
                return until;
            }
            at = until;
            self.steps.advance();
        }
        at
    }

    fn mean(&self) -> u64 {
        self.steps.mean()
    }
}

/// An element that serves packets one by one.
pub(crate) struct Server<C> {
    name: Box<str>,
    capacity: C,
    queue: Box<dyn Discipline>,
    sending: Option<Item>,
    /// Nanobits of it that `capacity` has still to be asked about.
    need: u64,
    /// When it will have been sent, or there is more to ask.
    served: Time,
    /// How long what was sent is held, in the place of an element behind.
    holds_ns: Option<i64>,
    held: Flight<(Direction, Box<Packet>)>,
    /// When the last one had been sent.
    free: Time,
    waited_ns: i64,
    marked: u64,
}

impl<C: Capacity> Server<C> {
    pub fn new(context: &Context, capacity: C, queue: &Queue) -> Box<Self> {
        let queue = queue.make(&Site { context, mean_rate: capacity.mean() });
        Box::new(Server {
            name: context.name.into(),
            capacity,
            queue,
            sending: None,
            need: 0,
            served: Time::MAX,
            holds_ns: None,
            held: Flight::default(),
            free: Time::from_nanos(i64::MIN),
            waited_ns: 0,
            marked: 0,
        })
    }

    #[inline(always)] // every packet passes here
    fn begin(&mut self, now: Time, item: Item) {
        self.waited_ns = now - item.at;
        self.marked += u64::from(item.marked);
        self.need = u64::from(item.bytes) * BYTE;
        self.served = self.capacity.work(now, self.free == now, &mut self.need);
        self.sending = Some(item);
    }

    /// Does what is to be done up to `now`, each thing at its time.
    #[inline]
    fn serve(&mut self, now: Time, out: &mut Out) {
        while self.served <= now && self.served < Time::MAX {
            let at = self.served;
            if self.need > 0 {
                self.served = self.capacity.work(at, true, &mut self.need);
                continue;
            }
            if let Some(sent) = self.sending.take() {
                match self.holds_ns {
                    Some(ns) => self.held.add(at + ns, (sent.direction, sent.packet)),
                    None => out.send(sent.direction, sent.packet),
                }
            }
            (self.free, self.served) = (at, Time::MAX);
            match self.queue.dequeue(at, out) {
                Some(item) => self.begin(at, item),
                None => self.capacity.emptied(),
            }
        }
    }
}

impl<C: Capacity> Element for Server<C> {
    #[inline]
    fn push(&mut self, now: Time, direction: Direction, packet: Box<Packet>, out: &mut Out) {
        if self.served <= now || self.held.deadline() <= now {
            self.wake(now, out);
        }
        let item = Item::new(now, direction, packet);
        if self.sending.is_none() {
            self.begin(now, item);
        } else {
            let dropped = out.dropped.len();
            self.queue.enqueue(item, out);
            if out.dropped.len() > dropped {
                self.capacity.overflowed();
            }
        }
    }

    #[inline]
    fn wake(&mut self, now: Time, out: &mut Out) {
        self.serve(now, out);
        while let Some((direction, packet)) = self.held.next(now) {
            out.send(direction, packet);
        }
    }

    #[inline]
    fn deadline(&self) -> Time {
        match self.holds_ns {
            Some(ns) => self.held.deadline().min(self.served + ns),
            None => self.served,
        }
    }

    fn least_ns(&self) -> i64 {
        self.holds_ns.unwrap_or(0)
    }

    fn hold(&mut self, ns: i64) -> bool {
        // What is dropped late would be reported later still.
        let holds = self.holds_ns.is_none() && !self.queue.drops_late();
        if holds {
            self.holds_ns = Some(ns);
        }
        holds
    }

    fn take(&mut self, packets: &mut Vec<(Time, Direction, Box<Packet>)>) {
        packets.extend(self.held.drain().map(|(at, (direction, packet))| (at, direction, packet)));
        let mut items: Vec<_> = self.sending.take().into_iter().collect();
        self.queue.take(&mut items);
        packets.extend(items.into_iter().map(|item| (Time::MAX, item.direction, item.packet)));
        self.served = Time::MAX;
    }

    fn queues<'a>(&'a self, states: &mut Vec<QueueState<'a>>) {
        states.push(QueueState {
            element: &self.name,
            bytes: self.queue.bytes(),
            packets: self.queue.packets(),
            delay_ns: self.waited_ns,
            marked: self.marked,
        });
    }

    fn is_server(&self) -> bool {
        true
    }
}
