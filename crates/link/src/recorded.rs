//! What was recorded over time: a value holds until the next, and after a period all begins again.

use crate::parameter::{Duration, step};
use parameters::{Fault, fault};
use wire::Time;

/// Values over time, and where they are.
#[derive(Debug)]
pub(crate) struct Recorded<T> {
    /// Nanoseconds from the start of a round at which each value begins; the first is 0, none is as late as the period.
    rows: Vec<(i64, T)>,
    period_ns: Option<i64>,
    /// When the present round began.
    round: Time,
    index: usize,
}

impl<T> Recorded<T> {
    /// Begins at `start`. Without a period the last value holds on.
    ///
    /// # Errors
    /// The period is shorter than 100 µs, or not longer than the rows are.
    pub fn new(rows: Vec<(i64, T)>, period: Option<Duration>, start: Time) -> Result<Self, Fault> {
        let period_ns = period.map(|period| step("period", period)).transpose()?;
        let last = rows.last().map_or(0, |(at, _)| *at);
        if period_ns.is_some_and(|period| period <= last) {
            return Err(fault("period", "is not after the last row of the trace"));
        }
        Ok(Recorded { rows, period_ns, round: start, index: 0 })
    }

    /// The present value.
    pub fn value(&self) -> &T {
        &self.rows[self.index].1
    }

    /// When it ends.
    pub fn until(&self) -> Time {
        match (self.rows.get(self.index + 1), self.period_ns) {
            (Some((next, _)), _) => self.round + *next,
            (None, Some(period)) => self.round + period,
            (None, None) => Time::MAX,
        }
    }

    /// Goes on to the next.
    pub fn advance(&mut self) {
        if self.index + 1 < self.rows.len() {
            self.index += 1;
        } else if let Some(period) = self.period_ns {
            (self.round, self.index) = (self.round + period, 0);
        }
    }

    /// Each value with the nanoseconds for which it holds within a round; of a last one that holds on they are 1.
    pub fn spans(&self) -> impl Iterator<Item = (i64, &T)> {
        let last = self.rows.last().map_or(0, |(at, _)| *at);
        let ends = self.rows.iter().skip(1).map(|(at, _)| *at).chain([self.period_ns.unwrap_or(last + 1)]);
        self.rows.iter().zip(ends).map(|((at, value), end)| (end - at, value))
    }
}
