use super::Place;
use super::rate::Constant;
use crate::Element;
use crate::describe::{Fault, parameters};
use crate::parameter::{Duration, Rate};
use crate::queue::Queue;
use crate::server::{Capacity, Server, Stepped};
use serde_json::json;
use wire::Time;

parameters! {
    /// A base station that lets a device's packets queue up to a delay, and after the loss that this comes to drains its
    /// queue: it serves at `rate` until a packet finds no room, then at `drain_rate` until none waits. Chen et al.
    /// saw it at a carrier's LTE, where round trips grew from 40 to 200 ms and fell back at every loss (UM-CS-2012-022,
    /// figure 5); that the scheduler speeds up meanwhile is a reading of it.
    "base-station"
    struct Settings {
        /// The rate at which IP packets leave; 0: none does.
        rate: Rate,
        /// The rate while the queue is drained.
        drain_rate: Rate,
        /// Longest that a packet waits at `rate`; one that would wait longer is dropped.
        delay: Duration = Duration(160_000_000),
    }
}

pub(super) fn make(settings: Settings, place: &Place) -> Result<Box<dyn Element>, Fault> {
    let Settings { rate, drain_rate, delay } = settings;
    let rates = [rate, drain_rate].map(|Rate(rate)| Stepped::new(Constant(rate)));
    let queue = Queue::of(json!({"queue": "drop-tail", "delay": delay.0}));
    Ok(Server::new(place, Draining { rates, is_draining: false, mean: rate.0 }, &queue))
}

struct Draining {
    /// Usually, and while it drains.
    rates: [Stepped<Constant>; 2],
    is_draining: bool,
    mean: u64,
}

impl Capacity for Draining {
    fn work(&mut self, from: Time, busy: bool, need: &mut u64) -> Time {
        self.rates[usize::from(self.is_draining)].work(from, busy, need)
    }

    fn mean(&self) -> u64 {
        self.mean
    }

    fn overflowed(&mut self) {
        self.is_draining = true;
    }

    fn emptied(&mut self) {
        self.is_draining = false;
    }
}
