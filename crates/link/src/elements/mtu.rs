use super::Context;
use crate::parameter::{Bytes, Text};
use crate::which::one_of;
use crate::{Direction, Element, Out, Reason};
use parameters::{Fault, fault, parameters};
use std::net::IpAddr;
use wire::{Body, Frame, Ip, L4, Packet, Payload, Time};

parameters! {
    /// Packets that are too big for the rest of the path are dropped. Either the sender gets an ICMP message, as
    /// routers should send (RFC 1191 §4, RFC 4443 §3.2), or it gets none: a black hole (RFC 2923 §2.1). Nothing is
    /// fragmented. The source of the ICMP message is the packet's destination, as if the box had no address of its own.
    "mtu"
    struct Settings {
        /// Bytes of the largest packet that passes.
        bytes: Bytes = Bytes(1400),
        /// Whether the sender gets an ICMP message: `"icmp"` or `"silent"`.
        answer: Text = Text("icmp".into()),
    }
}

/// Bytes that an answer quotes at most, so that it fits any link: of 576 in IPv4 (RFC 1812 §4.3.2.3), of 1280 in IPv6.
const QUOTED_V4: usize = 576 - 28;
const QUOTED_V6: usize = 1280 - 48;

pub(super) fn make(settings: Settings, _: &Context) -> Result<Box<dyn Element>, Fault> {
    let answers = one_of("answer", &settings.answer.0, &[("icmp", true), ("silent", false)])?;
    match u16::try_from(settings.bytes.0) {
        // RFC 791 §3.2: every link takes so much.
        Ok(bytes) if bytes >= 68 => Ok(Box::new(Mtu { bytes, answers })),
        _ => Err(fault("bytes", "is not a whole number of bytes from 68 to 65535")),
    }
}

struct Mtu {
    bytes: u16,
    answers: bool,
}

impl Element for Mtu {
    fn push(&mut self, _now: Time, direction: Direction, packet: Box<Packet>, out: &mut Out) {
        if packet.frame.wire_len() <= u32::from(self.bytes) {
            return out.send(direction, packet);
        }
        // RFC 1122 §3.2.2: no error answers an error.
        if self.answers
            && !matches!(packet.frame.l4, L4::Icmp { .. })
            && let Some(answer) = self.too_big(&packet)
        {
            out.send(direction.reverse(), answer);
        }
        out.drop(direction, packet, Reason::TooBig);
    }

    fn answers(&self) -> bool {
        self.answers
    }
}

impl Mtu {
    fn too_big(&self, packet: &Packet) -> Option<Box<Packet>> {
        let Ip { source, destination, .. } = packet.frame.ip;
        let [high, low] = self.bytes.to_be_bytes();
        let (kind, code, most) = match source {
            IpAddr::V4(_) => (3, 4, QUOTED_V4),
            IpAddr::V6(_) => (2, 0, QUOTED_V6),
        };
        let mut quoted = Vec::new();
        packet.emit(&mut quoted, Some(most)).ok()?;
        let ip = Ip {
            source: destination,
            destination: source,
            ttl: 64,
            tos: 0,
            id: 0,
            dont_fragment: true,
            fragment: None,
        };
        let l4 = L4::Icmp { kind, code, rest: [0, 0, high, low] };
        let frame = Frame { ip, l4, payload: Payload::unsaid(quoted.len() as u32) };
        Some(Box::new(Packet { frame, body: Some(Body::from(quoted)) }))
    }
}
