use super::Context;
use crate::options::{MAXIMUM_SEGMENT_SIZE, revise};
use crate::parameter::Bytes;
use crate::{Direction, Element, Out};
use parameters::{Fault, parameters};
use wire::{Flags, L4, Packet, Time};

parameters! {
    /// The maximum segment size announced in SYNs is reduced. Routers in front of tunnels do this, so that no packet is
    /// too big for the rest of the path (RFC 4459; TCPMSS target of Linux).
    "clamp-mss"
    struct Settings {
        /// Largest value that a SYN announces.
        bytes: Bytes = Bytes(1400),
    }
}

pub(super) fn make(settings: Settings, _: &Context) -> Result<Box<dyn Element>, Fault> {
    Ok(Box::new(ClampMss { bytes: settings.bytes.0.min(u64::from(u16::MAX)) as u16 }))
}

struct ClampMss {
    bytes: u16,
}

impl Element for ClampMss {
    fn push(&mut self, _now: Time, direction: Direction, mut packet: Box<Packet>, out: &mut Out) {
        if let L4::Tcp(tcp) = &mut packet.frame.l4
            && tcp.flags.has(Flags::SYN)
        {
            revise(tcp, |option| match option {
                [MAXIMUM_SEGMENT_SIZE, 4, high, low] if u16::from_be_bytes([*high, *low]) > self.bytes => {
                    [*high, *low] = self.bytes.to_be_bytes();
                    true
                }
                _ => false,
            });
        }
        out.send(direction, packet);
    }
}
