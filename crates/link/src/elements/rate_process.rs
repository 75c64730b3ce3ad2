use super::Context;
use crate::parameter::{Duration, Rate};
use crate::queue::Queue;
use crate::random::Normal;
use crate::server::{Server, Stepped, Steps};
use crate::{Element, parameter};
use parameters::{Fault, fault, parameters};
use wire::Time;

parameters! {
    /// A rate that varies around a mean, with a queue in front of it: an Ornstein–Uhlenbeck process, constant during
    /// each step. The rate in step k is max(floor, mean + deviation · Xₖ), rounded to bit/s, where X₀ is normal with
    /// mean 0 and variance 1, and Xₖ₊₁ = a·Xₖ + √(1−a²)·Nₖ₊₁ with a = exp(−step/correlation). It evolves with time, not
    /// with packets. If the floor clips the rate often, the mean rate is higher than `mean`.
    "rate-process"
    struct Settings {
        /// Mean rate at which IP packets leave.
        mean: Rate,
        /// Standard deviation of the rate.
        deviation: Rate,
        /// Time after which the correlation has fallen to 1/e.
        correlation: Duration,
        /// Time during which the rate is constant, at least 100 µs.
        step: Duration = Duration(10_000_000),
        /// Lowest rate.
        floor: Rate = Rate(0),
        /// Queue in front of it.
        queue: Queue = Queue::standard(),
    }
}

pub(super) fn make(settings: Settings, context: &Context) -> Result<Box<dyn Element>, Fault> {
    let Settings { mean, deviation, correlation, step, floor, queue } = settings;
    let step = parameter::step("step", step)?;
    if floor > mean {
        return Err(fault("floor", "is more than `mean`"));
    }
    let process = Process {
        normal: Normal::new(context.stream("rate"), step, correlation.nanos()),
        mean: mean.0,
        centre: mean.0 as f64,
        deviation: deviation.0 as f64,
        floor: floor.0,
        step,
        until: context.start + step,
    };
    Ok(Server::new(context, Stepped::new(process), &queue))
}

struct Process {
    normal: Normal,
    mean: u64,
    centre: f64,
    deviation: f64,
    floor: u64,
    step: i64,
    until: Time,
}

impl Steps for Process {
    fn rate(&self) -> u64 {
        // Half up; negative ones become 0.
        let rate = (self.centre + self.deviation * self.normal.value() + 0.5) as u64;
        rate.max(self.floor)
    }

    fn until(&self) -> Time {
        self.until
    }

    fn advance(&mut self) {
        self.normal.step();
        self.until = self.until + self.step;
    }

    fn mean(&self) -> u64 {
        self.mean
    }
}
