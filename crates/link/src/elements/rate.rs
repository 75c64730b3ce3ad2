use super::Context;
use crate::Element;
use crate::parameter::Rate;
use crate::queue::Queue;
use crate::server::{Server, Stepped, Steps};
use parameters::{Fault, parameters};
use wire::Time;

parameters! {
    /// A constant rate with a queue in front of it.
    "rate"
    struct Settings {
        /// Rate at which IP packets leave; 0: none leaves.
        rate: Rate,
        /// Queue in front of it.
        queue: Queue = Queue::standard(),
    }
}

pub(super) fn make(settings: Settings, context: &Context) -> Result<Box<dyn Element>, Fault> {
    Ok(Server::new(context, Stepped::new(Constant(settings.rate.0)), &settings.queue))
}

pub(super) struct Constant(pub u64);

impl Steps for Constant {
    fn rate(&self) -> u64 {
        self.0
    }

    fn until(&self) -> Time {
        Time::MAX
    }

    fn advance(&mut self) {}

    fn mean(&self) -> u64 {
        self.0
    }
}
