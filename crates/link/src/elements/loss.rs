use super::Context;
use crate::parameter::Ratio;
use crate::random::Stream;
use crate::{Direction, Element, Out, Reason};
use parameters::{Fault, parameters};
use wire::{Packet, Time};

parameters! {
    /// Packets are lost at random, independently of each other.
    "loss"
    struct Settings {
        /// Share of packets that are lost.
        ratio: Ratio,
    }
}

pub(super) fn make(settings: Settings, context: &Context) -> Result<Box<dyn Element>, Fault> {
    Ok(Box::new(Loss { ratio: settings.ratio.0, streams: context.streams() }))
}

struct Loss {
    ratio: f64,
    streams: [Stream; 2],
}

impl Element for Loss {
    #[inline]
    fn push(&mut self, _now: Time, direction: Direction, packet: Box<Packet>, out: &mut Out) {
        if self.streams[direction as usize].chance(self.ratio) {
            out.drop(direction, packet, Reason::Loss);
        } else {
            out.send(direction, packet);
        }
    }
}
