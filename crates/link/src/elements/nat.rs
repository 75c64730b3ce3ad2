use super::Context;
use crate::flow::{Flow, Flows};
use crate::parameter::{Duration, Text};
use crate::quoted::Quoted;
use crate::random::Stream;
use crate::which::one_of;
use crate::{Direction, Element, Out, Reason};
use parameters::{Fault, parameters};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use wire::{Flags, L4, Packet, Time};

parameters! {
    /// A NAT that translates the client's ports and forgets idle mappings (RFC 3022 §4.2, RFC 5382). Each connection
    /// gets a random public port with its first packet and keeps it until it has been idle for too long. After that,
    /// packets from outside are dropped. The public address stays the same, unless `rebind` in the timeline changes it.
    /// Packets without ports pass, and ICMP errors that quote translated packets are translated back. It needs to see
    /// both directions: put it into `middleboxes`, or share it.
    "nat"
    struct Settings {
        /// Idle time after which a mapping is forgotten. RFC 5382 §5 (REQ-5) allows no less than 2 h 4 min.
        idle: Duration = Duration(7_440_000_000_000),
        /// What happens to a TCP segment from inside whose mapping was forgotten: `"drop"` drops it; `"rebind"` gives
        /// the connection a new public port, which the server does not know. SYNs and datagrams always get a new
        /// mapping.
        forgotten: Text = Text("drop".into()),
    }
}

/// Public ports are drawn from those above the well-known ones (RFC 6335 §6).
const FIRST_PORT: u64 = 1024;
const PORTS: u64 = 65_536 - FIRST_PORT;

pub(super) fn make(settings: Settings, context: &Context) -> Result<Box<dyn Element>, Fault> {
    Ok(Box::new(Nat {
        rebinds: one_of("forgotten", &settings.forgotten.0, &[("drop", false), ("rebind", true)])?,
        stream: context.stream("ports"),
        mapped: Flows::new(Some(settings.idle.nanos())),
        outside: BTreeMap::new(),
    }))
}

struct Nat {
    rebinds: bool,
    stream: Stream,
    /// Public ports by flows as they are inside.
    mapped: Flows<u16>,
    /// Flows as they are outside, and what each is inside.
    outside: BTreeMap<Flow, Flow>,
}

impl Element for Nat {
    fn push(&mut self, now: Time, direction: Direction, mut packet: Box<Packet>, out: &mut Out) {
        let passes = match (Flow::of(direction, &packet), direction) {
            (None, _) => self.translate_quoted(direction, &mut packet),
            (Some(inside), Direction::Up) => self.up(now, inside, &mut packet),
            (Some(outside), Direction::Down) => self.down(now, &outside, &mut packet),
        };
        match passes {
            Some(()) => out.send(direction, packet),
            None => out.drop(direction, packet, Reason::NoMapping),
        }
    }

    fn sees_both_directions(&self) -> bool {
        true
    }
}

impl Nat {
    fn up(&mut self, now: Time, inside: Flow, packet: &mut Packet) -> Option<()> {
        let begins = !matches!(&packet.frame.l4, L4::Tcp(tcp) if !tcp.flags.has(Flags::SYN));
        let port = match self.mapped.get(now, &inside) {
            Some(port) => *port,
            None if begins || self.rebinds => self.map(now, inside),
            None => return None,
        };
        match &mut packet.frame.l4 {
            L4::Tcp(tcp) => tcp.source_port = port,
            L4::Udp { source_port, .. } => *source_port = port,
            L4::Icmp { .. } | L4::Other(_) => {}
        }
        Some(())
    }

    fn down(&mut self, now: Time, outside: &Flow, packet: &mut Packet) -> Option<()> {
        let inside = *self.outside.get(outside)?;
        self.mapped.get(now, &inside).filter(|port| **port == outside.client.port())?;
        match &mut packet.frame.l4 {
            L4::Tcp(tcp) => tcp.destination_port = inside.client.port(),
            L4::Udp { destination_port, .. } => *destination_port = inside.client.port(),
            L4::Icmp { .. } | L4::Other(_) => {}
        }
        Some(())
    }

    /// A port that no other flow to the same server has.
    fn map(&mut self, now: Time, inside: Flow) -> u16 {
        let outside = loop {
            let port = (FIRST_PORT + self.stream.below(PORTS)) as u16;
            let outside = Flow { client: SocketAddr::new(inside.client.ip(), port), ..inside };
            if self.outside.get(&outside).is_none_or(|other| *other == inside) {
                break outside;
            }
        };
        let port = outside.client.port();
        for (flow, old) in self.mapped.insert(now, inside, port) {
            self.outside.remove(&Flow { client: SocketAddr::new(flow.client.ip(), old), ..flow });
        }
        self.outside.insert(outside, inside);
        port
    }

    /// An error from outside quotes what left, one from inside what came in; both have the client's port in them.
    fn translate_quoted(&mut self, direction: Direction, packet: &mut Packet) -> Option<()> {
        let Some(quoted) = Quoted::of(packet) else { return Some(()) };
        let ends = [quoted.source(), quoted.destination()].map(|field| field.address(packet));
        let Some(([Some(source), Some(destination)], fields)) = Some(ends).zip(quoted.ports()) else { return Some(()) };
        let [Some(from), Some(to)] = fields.map(|field| field.port(packet)) else { return Some(()) };
        let (source, destination) = (SocketAddr::new(source, from), SocketAddr::new(destination, to));
        let (field, port) = match direction {
            Direction::Down => {
                let outside = Flow { is_tcp: quoted.is_tcp(), client: source, server: destination };
                (fields[0], self.outside.get(&outside)?.client.port())
            }
            Direction::Up => {
                let inside = Flow { is_tcp: quoted.is_tcp(), client: destination, server: source };
                (fields[1], self.mapped.peek(&inside)?)
            }
        };
        quoted.replace(packet, field, &port.to_be_bytes());
        Some(())
    }
}
