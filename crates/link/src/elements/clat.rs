use super::Context;
use crate::translation::{Prefixes, pass};
use crate::{Direction, Element, Out};
use parameters::{Fault, parameters};
use wire::{Packet, Time};

parameters! {
    /// The client's end of 464XLAT (CLAT, RFC 6877), on a carrier that has IPv6 only: what the client sends by IPv4 becomes IPv6,
    /// 20 bytes longer, and answers become IPv4 again (RFC 7915), what ICMP errors quote included. Packets of IPv6 pass.
    /// Fragments, and ICMP that says nothing in the other family, are dropped. It needs `nat64` on the server's side, and
    /// to see both directions: put it into `middleboxes`, or share it.
    "clat"
    struct Settings {}
}

pub(super) fn make(Settings {}: Settings, _: &Context) -> Result<Box<dyn Element>, Fault> {
    Ok(Box::new(Clat))
}

struct Clat;

impl Element for Clat {
    fn push(&mut self, _now: Time, direction: Direction, mut packet: Box<Packet>, out: &mut Out) {
        let translated = match direction {
            Direction::Up => Prefixes::CARRIER.to_v6(&mut packet, true),
            Direction::Down => Prefixes::CARRIER.to_v4(&mut packet, false),
        };
        pass(translated, direction, packet, out);
    }

    fn sees_both_directions(&self) -> bool {
        true
    }
}
