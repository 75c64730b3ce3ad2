use super::Context;
use crate::parameter::Packets;
use crate::{Direction, Element, Out, Reason};
use parameters::{Fault, parameters};
use wire::{Packet, Time};

parameters! {
    /// Every n-th packet with payload is lost, counted in each direction separately. Simple throughput laws of TCP
    /// assume such losses.
    "periodic-loss"
    struct Settings {
        /// The n: one packet with payload in this many is lost; 0: none.
        every: Packets,
    }
}

pub(super) fn make(settings: Settings, _: &Context) -> Result<Box<dyn Element>, Fault> {
    Ok(Box::new(PeriodicLoss { every: settings.every.0, seen: [0; 2] }))
}

struct PeriodicLoss {
    every: u64,
    /// Since the last loss, by direction.
    seen: [u64; 2],
}

impl Element for PeriodicLoss {
    #[inline]
    fn push(&mut self, _now: Time, direction: Direction, packet: Box<Packet>, out: &mut Out) {
        let seen = &mut self.seen[direction as usize];
        *seen += u64::from(packet.frame.payload.len > 0);
        if packet.frame.payload.len > 0 && *seen == self.every {
            *seen = 0;
            out.drop(direction, packet, Reason::Loss);
        } else {
            out.send(direction, packet);
        }
    }
}
