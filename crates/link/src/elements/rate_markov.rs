use super::Context;
use crate::parameter::{Duration, Rate};
use crate::queue::Queue;
use crate::random::Stream;
use crate::server::{Server, Stepped, Steps};
use crate::{Element, parameter};
use parameters::{Fault, fault, parameters};
use wire::Time;

parameters! {
    /// A rate that switches between two values, with a queue in front of it: a two-state Markov process with
    /// exponential holding times. The initial state is drawn from the stationary distribution. It evolves with time,
    /// not with packets.
    "rate-markov"
    struct Settings {
        /// Rate at which IP packets leave in the first state.
        high: Rate,
        /// Rate in the second state.
        low: Rate = Rate(0),
        /// Mean time in the first state, at least 100 µs.
        high_time: Duration,
        /// Mean time in the second state, at least 100 µs.
        low_time: Duration,
        /// Queue in front of it.
        queue: Queue = Queue::standard(),
    }
}

pub(super) fn make(settings: Settings, context: &Context) -> Result<Box<dyn Element>, Fault> {
    let Settings { high, low, high_time, low_time, queue } = settings;
    if low > high {
        return Err(fault("low", "is more than `high`"));
    }
    let states = TwoStates::new(context, "rate", [("high_time", high_time), ("low_time", low_time)])?;
    let share = high_time.0 as f64 / (high_time.0 + low_time.0) as f64;
    let mean = (low.0 as f64 + (high.0 as f64 - low.0 as f64) * share) as u64;
    Ok(Server::new(context, Stepped::new(Switching { states, rates: [high.0, low.0], mean }), &queue))
}

struct Switching {
    states: TwoStates,
    rates: [u64; 2],
    mean: u64,
}

impl Steps for Switching {
    fn rate(&self) -> u64 {
        self.rates[self.states.state]
    }

    fn until(&self) -> Time {
        self.states.until
    }

    fn advance(&mut self) {
        self.states.advance();
    }

    fn mean(&self) -> u64 {
        self.mean
    }
}

/// A Markov process in continuous time with two states.
pub(super) struct TwoStates {
    stream: Stream,
    mean_times: [i64; 2],
    /// 0 or 1.
    pub state: usize,
    /// When the state ends.
    pub until: Time,
}

impl TwoStates {
    /// With the names and values of the parameters that hold the mean times.
    pub fn new(context: &Context, purpose: &str, times: [(&str, Duration); 2]) -> Result<TwoStates, Fault> {
        let [first, second] = times.map(|(name, time)| parameter::step(name, time));
        let mean_times = [first?, second?];
        let mut stream = context.stream(purpose);
        let share = mean_times[0] as f64 / (mean_times[0] + mean_times[1]) as f64;
        let state = usize::from(!stream.chance(share));
        // What is left of an exponential time is again exponential.
        let until = context.start + stream.exponential(mean_times[state]);
        Ok(TwoStates { stream, mean_times, state, until })
    }

    pub fn advance(&mut self) {
        self.state ^= 1;
        self.until = self.until + self.stream.exponential(self.mean_times[self.state]);
    }
}
