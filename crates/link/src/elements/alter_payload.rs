use super::Context;
use crate::parameter::Packets;
use crate::segment::payload;
use crate::{Direction, Element, Out};
use parameters::{Fault, fault, parameters};
use wire::{Body, L4, Packet, Payload, Time};

parameters! {
    /// One byte is changed in one of every n segments with data, and the TCP checksum is corrected. Application-level
    /// gateways do this. Lengths stay the same. DSS checksums exist to detect this: without them the application
    /// receives the changed data (RFC 8684 §3.3.1, §3.7).
    "alter-payload"
    struct Settings {
        /// The n: one segment with data in this many is changed, in each direction.
        every: Packets,
    }
}

pub(super) fn make(settings: Settings, _: &Context) -> Result<Box<dyn Element>, Fault> {
    if settings.every.0 == 0 {
        return Err(fault("every", "must be at least 1"));
    }
    Ok(Box::new(AlterPayload { every: settings.every.0, passed: [0; 2] }))
}

struct AlterPayload {
    every: u64,
    passed: [u64; 2],
}

impl Element for AlterPayload {
    fn push(&mut self, _now: Time, direction: Direction, mut packet: Box<Packet>, out: &mut Out) {
        if matches!(packet.frame.l4, L4::Tcp(_)) && packet.frame.payload.len > 0 {
            let passed = &mut self.passed[direction as usize];
            *passed += 1;
            if passed.is_multiple_of(self.every) {
                let mut bytes = payload(&packet);
                bytes[0] ^= 1;
                packet.frame.payload = Payload::unsaid(packet.frame.payload.len);
                packet.body = Some(Body::from(bytes));
            }
        }
        out.send(direction, packet);
    }
}
