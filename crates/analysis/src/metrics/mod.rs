//! What is measured: one metric, one file. A metric is fed the flow events of one connection at one end and fills its
//! columns when the connection is finished. To add one, write its file and name it in [`all`].

mod delivery;
mod events;
mod gaps;
mod reordering;
mod rtt;
mod throughput;
mod volume;
mod window;

use crate::Options;
use crate::event::FlowEvent;
use crate::report::{Closing, Report};

/// A metric of one connection at one end.
pub(crate) trait Metric: Send {
    /// Something happened.
    fn on(&mut self, event: &FlowEvent);

    /// The connection is finished: fill the rows. Called for each end; [`Closing`] says what this end may tell.
    fn finish(&mut self, closing: &Closing, report: &mut Report);
}

/// Every metric, fresh.
pub(crate) fn all(options: &Options, start: wire::Time) -> Vec<Box<dyn Metric>> {
    vec![
        Box::new(volume::Volume::default()),
        Box::new(delivery::Delivery::default()),
        Box::new(rtt::Rtt::new(options.samples)),
        Box::new(reordering::Reordering::new(options.samples)),
        Box::new(window::Window::new(options.samples)),
        Box::new(throughput::Throughput::new(options.bin_ns, start)),
        Box::new(gaps::Gaps::default()),
        Box::new(events::Events::default()),
    ]
}

/// State per subflow and direction, made when first touched.
#[derive(Debug, Default)]
pub(crate) struct PerFlow<T>(Vec<[T; 2]>);

impl<T: Default> PerFlow<T> {
    pub(crate) fn of(&mut self, event: &FlowEvent) -> &mut T {
        self.at(event.subflow, event.direction)
    }

    pub(crate) fn at(&mut self, subflow: usize, direction: tables::Direction) -> &mut T {
        if subflow >= self.0.len() {
            self.0.resize_with(subflow + 1, Default::default);
        }
        &mut self.0[subflow][direction as usize]
    }
}
