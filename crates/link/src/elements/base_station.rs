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
    /// A base station whose queue drains after a loss: it lets a device's packets queue up to a delay and serves them at
    /// `rate`; when one finds no room it serves at `drain_rate` until none waits, but not for ever, nor too often, lest
    /// senders take that for the rate. Chen et al. saw it at a carrier's LTE, where round trips grew from 40 to 200 ms
    /// and fell back at every loss (UM-CS-2012-022, figure 5); that the scheduler speeds up meanwhile is a reading of it.
    "base-station"
    struct Settings {
        /// The rate at which IP packets leave; 0: none does.
        rate: Rate,
        /// The rate while the queue is drained.
        drain_rate: Rate,
        /// Longest that a packet waits at `rate`; one that would wait longer is dropped.
        delay: Duration = Duration(160_000_000),
        /// Longest time of a drain.
        drain_time: Duration = Duration(400_000_000),
        /// Shortest time from a drain to the next.
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
        rests_until: context.start,
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
    rests_until: Time,
    mean: u64,
}

impl Capacity for Draining {
    fn work(&mut self, from: Time, busy: bool, need: &mut u64) -> Time {
        if std::mem::take(&mut self.lost) && from >= self.rests_until {
            self.drains_until = from + self.drain_time;
            self.rests_until = self.drains_until + self.rest;
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
