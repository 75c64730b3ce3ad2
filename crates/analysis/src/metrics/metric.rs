//! What a metric is, and what most of them are made of.

use crate::Options;
use crate::closing::Closing;
use crate::event::FlowEvent;
use crate::report::Report;
use wire::Time;

/// A metric of one connection at one end.
pub(crate) trait Metric {
    /// A fresh one, for a connection whose first packet passed at `start`.
    fn new(options: &Options, start: Time) -> Self;

    /// Something happened.
    fn on(&mut self, event: &FlowEvent);

    /// The connection is finished: fill the rows. Called for each end; [`Closing`] says what this end may tell.
    fn finish(&mut self, closing: &Closing, report: &mut Report);
}

/// State per subflow and direction, made when first touched.
#[derive(Debug, Default)]
pub(crate) struct PerFlow<T>(Vec<[T; 2]>);

impl<T: Default> PerFlow<T> {
    #[inline(always)]
    pub(crate) fn of(&mut self, event: &FlowEvent) -> &mut T {
        self.at(event.subflow, event.direction)
    }

    #[inline(always)]
    pub(crate) fn at(&mut self, subflow: usize, direction: tables::Direction) -> &mut T {
        if subflow >= self.0.len() {
            return self.grow(subflow, direction);
        }
        &mut self.0[subflow][direction as usize]
    }

    /// Of every subflow that was touched, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[T; 2]> {
        self.0.iter()
    }

    #[cold]
    fn grow(&mut self, subflow: usize, direction: tables::Direction) -> &mut T {
        let subflows = subflow + 1;
        // Most connections have few subflows, and there are many connections; but growth stays geometric.
        if subflows <= 8 {
            self.0.reserve_exact(subflows - self.0.len());
        }
        self.0.resize_with(subflows, Default::default);
        &mut self.0[subflow][direction as usize]
    }
}
