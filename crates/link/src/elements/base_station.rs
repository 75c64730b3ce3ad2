use super::Context;
use super::rate::Constant;
use crate::Element;
use crate::parameter::{Duration, Rate};
use crate::queue::Queue;
use crate::server::{Capacity, Server, Stepped};
use parameters::{Fault, fault, parameters};
use serde_json::json;
use wire::Time;

parameters! {
    /// A base station that drains its queue after a loss. It queues a device's packets up to a maximum delay and serves
    /// them at `rate`. When the queue overflows, it serves them at `drain_rate` until the queue is empty. Drains are
    /// limited in length and frequency, so that senders do not take the drain rate for the capacity. Chen et al.
    /// observed this in a carrier's LTE network, where round-trip times grew from 40 to 200 ms and fell back after
    /// every loss (UM-CS-2012-022, figure 5). That the base station's scheduler speeds up after a loss is an
    /// interpretation of that figure.
    "base-station"
    struct Settings {
        /// Rate at which IP packets leave; 0: none leaves.
        rate: Rate,
        /// Rate while the queue is drained.
        drain_rate: Rate,
        /// Longest time that a packet waits at `rate`. A packet that would wait longer is dropped.
        delay: Duration = Duration(160_000_000),
        /// Maximum length of a drain.
        drain_time: Duration = Duration(400_000_000),
        /// Minimum time between two drains.
        rest: Duration = Duration(1_000_000_000),
    }
}

pub(super) fn make(settings: Settings, context: &Context) -> Result<Box<dyn Element>, Fault> {
    let Settings { rate, drain_rate, delay, drain_time, rest } = settings;
    if drain_rate < rate {
        return Err(fault("drain_rate", "is less than `rate`: nothing would drain"));
    }
    let draining = Draining {
        rates: [rate, drain_rate].map(|Rate(rate)| Stepped::new(Constant(rate))),
        drain_time: drain_time.nanos(),
        rest: rest.nanos(),
        lost: false,
        drains_until: context.start,
        idle_until: context.start,
        mean: rate.0,
    };
    let queue = Queue::of(json!({"queue": "drop-tail", "delay": delay.0}));
    Ok(Server::new(context, draining, &queue))
}

struct Draining {
    /// Usually, and while it drains.
    rates: [Stepped<Constant>; 2],
    drain_time: i64,
    rest: i64,
    /// Whether a packet was lost since the last one that was served.
    lost: bool,
    drains_until: Time,
    idle_until: Time,
    mean: u64,
}

impl Capacity for Draining {
    fn work(&mut self, from: Time, busy: bool, need: &mut u64) -> Time {
        if std::mem::take(&mut self.lost) && from >= self.idle_until {
            self.drains_until = from + self.drain_time;
            self.idle_until = self.drains_until + self.rest;
        }
        self.rates[usize::from(from < self.drains_until)].work(from, busy, need)
    }

    fn mean(&self) -> u64 {
        self.mean
    }

    fn overflowed(&mut self) {
        self.lost = true;
    }

    fn emptied(&mut self) {
        (self.lost, self.drains_until) = (false, Time::from_nanos(i64::MIN));
    }
}
