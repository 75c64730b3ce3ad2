use super::Context;
use crate::Element;
use crate::parameter::Trace;
use crate::queue::Queue;
use crate::server::{BYTE, Capacity, Server};
use parameters::{Fault, parameters};
use wire::Time;

parameters! {
    /// A recorded capacity in Mahimahi's format, with a queue in front of it. Each entry is an opportunity to send 1500
    /// bytes: several small packets, or a part of a large one. Capacity that no packet uses is lost. After its last
    /// entry the trace repeats.
    "trace"
    struct Settings {
        /// Times from the start, in milliseconds, at which 1500 bytes may leave.
        trace: Trace,
        /// Queue in front of it.
        queue: Queue = Queue::standard(),
    }
}

/// Nanobits that leave at once.
const OPPORTUNITY: u64 = 1500 * BYTE;
const MILLISECOND: u64 = 1_000_000;

pub(super) fn make(settings: Settings, context: &Context) -> Result<Box<dyn Element>, Fault> {
    let opportunities = Opportunities { times: settings.trace.0, start: context.start, next: 0, spare: 0 };
    Ok(Server::new(context, opportunities, &settings.queue))
}

struct Opportunities {
    /// In milliseconds; not empty, and the last is not 0.
    times: Vec<u64>,
    start: Time,
    /// Number of the next opportunity, counted through all rounds.
    next: u64,
    /// Nanobits left over of the one before it.
    spare: u64,
}

impl Opportunities {
    fn period_ns(&self) -> u64 {
        self.times.last().map_or(0, |ms| ms * MILLISECOND)
    }

    fn time(&self, number: u64) -> Time {
        let len = self.times.len() as u64;
        let in_round = self.times[(number % len) as usize] * MILLISECOND;
        let nanos = u128::from(number / len) * u128::from(self.period_ns()) + u128::from(in_round);
        self.start + i64::try_from(nanos).unwrap_or(i64::MAX)
    }

    /// The first opportunity after `time`.
    fn after(&self, time: Time) -> u64 {
        let Ok(nanos) = u64::try_from(time - self.start) else { return 0 };
        let (round, in_round) = (nanos / self.period_ns(), nanos % self.period_ns());
        let index = self.times.partition_point(|ms| ms * MILLISECOND <= in_round);
        round * self.times.len() as u64 + index as u64
    }
}

impl Capacity for Opportunities {
    fn work(&mut self, from: Time, busy: bool, need: &mut u64) -> Time {
        if !busy {
            (self.next, self.spare) = (self.after(from), 0);
        }
        let spare = self.spare.min(*need);
        (self.spare, *need) = (self.spare - spare, *need - spare);
        if *need == 0 {
            return from;
        }
        let takes = need.div_ceil(OPPORTUNITY);
        self.spare = takes * OPPORTUNITY - *need;
        self.next += takes;
        *need = 0;
        self.time(self.next - 1)
    }

    fn mean(&self) -> u64 {
        let bits = u128::from(OPPORTUNITY) * self.times.len() as u128;
        (bits / u128::from(self.period_ns())).min(u128::from(u64::MAX)) as u64
    }
}
