use super::{Context, nat};
use crate::parameter::{Duration, Text};
use crate::translation::{Prefixes, pass};
use crate::{Direction, Element, Out};
use parameters::{Fault, parameters};
use wire::{Packet, Time};

parameters! {
    /// The carrier's translator to IPv4 (NAT64, RFC 6146), which 464XLAT calls PLAT: what comes by IPv6 from `clat`, or from a path
    /// with `ip = "nat64"`, becomes IPv4 (RFC 7915), with a public port for each connection as with `nat`, and answers
    /// become IPv6. Each path has a public address of its own, which `rebind` in the timeline changes. Packets to
    /// addresses of IPv6 that stand for none of IPv4 pass. It needs to see both directions: put it into `middleboxes`, or
    /// share it.
    "nat64"
    struct Settings {
        /// Idle time after which a mapping is forgotten. RFC 5382 §5 (REQ-5), which RFC 6146 §4 follows, allows no less
        /// than 2 h 4 min.
        idle: Duration = Duration(7_440_000_000_000),
        /// What happens to a TCP segment from inside whose mapping was forgotten: `"drop"` or `"rebind"`, as with `nat`.
        forgotten: Text = Text("drop".into()),
    }
}

pub(super) fn make(Settings { idle, forgotten }: Settings, context: &Context) -> Result<Box<dyn Element>, Fault> {
    Ok(Box::new(Nat64 { ports: nat::make(nat::Settings { idle, forgotten }, context)? }))
}

struct Nat64 {
    /// It translates ports, where packets are of IPv4.
    ports: Box<dyn Element>,
}

impl Element for Nat64 {
    fn push(&mut self, now: Time, direction: Direction, mut packet: Box<Packet>, out: &mut Out) {
        if direction == Direction::Up {
            match Prefixes::CARRIER.to_v4(&mut packet, true) {
                Ok(()) => self.ports.push(now, direction, packet, out),
                untranslated => pass(untranslated, direction, packet, out),
            }
            return;
        }
        // What it did not translate on its way out is no answer to it either.
        if packet.frame.ip.source.is_ipv6() {
            return out.send(direction, packet);
        }
        let mut inside = Out::default();
        self.ports.push(now, direction, packet, &mut inside);
        out.dropped.append(&mut inside.dropped);
        for (direction, mut packet) in inside.sent {
            pass(Prefixes::CARRIER.to_v6(&mut packet, false), direction, packet, out);
        }
    }

    fn sees_both_directions(&self) -> bool {
        true
    }
}
