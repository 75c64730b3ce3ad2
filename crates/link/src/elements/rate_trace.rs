use super::Context;
use crate::Element;
use crate::parameter::{Duration, RateTrace};
use crate::queue::Queue;
use crate::recorded::Recorded;
use crate::server::{Server, Stepped, Steps};
use parameters::{Fault, parameters};
use wire::Time;

parameters! {
    /// A recorded rate, with a queue in front of it: each row of the trace holds until the next. It goes by time alone, so
    /// that links whose traces are of one clock fade together. Where a second is one row, what the radio did within it is
    /// not there; `trace` has single packets.
    "rate-trace"
    struct Settings {
        /// Milliseconds from the start, the first of them 0, and the Mbit/s from then on.
        trace: RateTrace,
        /// Time after which the trace begins again; if left out, its last row holds on.
        period: Option<Duration> = None,
        /// Where packets wait.
        queue: Queue = Queue::standard(),
    }
}

pub(super) fn make(settings: Settings, context: &Context) -> Result<Box<dyn Element>, Fault> {
    let period = settings.period.map(Duration::nanos);
    let rates = Rates(Recorded::new(settings.trace.rates(), period, context.start)?);
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
