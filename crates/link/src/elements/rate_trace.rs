use super::Context;
use crate::Element;
use crate::parameter::{Duration, RateTrace};
use crate::queue::Queue;
use crate::recorded::Recorded;
use crate::server::{Server, Stepped, Steps};
use parameters::{Fault, parameters};
use wire::Time;

parameters! {
    /// A recorded rate, with a queue in front of it: each row of the trace holds until the next one. The rate depends
    /// on time alone, so links whose traces were recorded with the same clock fade together. A trace with one row per
    /// second cannot show what the radio did within the second; `trace` records single packets.
    "rate-trace"
    struct Settings {
        /// Rows of milliseconds from the start and the rate in Mbit/s from then on. The first row is at 0.
        trace: RateTrace,
        /// Time after which the trace repeats, at least 100 µs. If left out, its last row holds for ever.
        period: Option<Duration> = None,
        /// Queue in front of it.
        queue: Queue = Queue::standard(),
    }
}

pub(super) fn make(settings: Settings, context: &Context) -> Result<Box<dyn Element>, Fault> {
    let rates = Rates(Recorded::new(settings.trace.rates(), settings.period, context.start)?);
    Ok(Server::new(context, Stepped::new(rates), &settings.queue))
}

struct Rates(Recorded<u64>);

impl Steps for Rates {
    fn rate(&self) -> u64 {
        *self.0.value()
    }

    fn until(&self) -> Time {
        self.0.until()
    }

    fn advance(&mut self) {
        self.0.advance();
    }

    fn mean(&self) -> u64 {
        let (bits, nanos) = self.0.spans().fold((0, 0), |(bits, nanos), (span, &rate)| {
            (bits + u128::from(rate) * span as u128, nanos + span as u128)
        });
        (bits / nanos) as u64
    }
}
