use super::Context;
use crate::flow::{Flow, Flows};
use crate::options::{MPTCP, revise, subtype};
use crate::parameter::{Duration, Flag};
use crate::{Direction, Element, Out, Reason};
use parameters::{Fault, parameters};
use wire::{Flags, Frame, Ip, L4, Options, Packet, Payload, Tcp, Time};

parameters! {
    /// A stateful firewall. The client's SYN creates a connection; segments of unknown connections are dropped. A
    /// connection that is idle for too long is forgotten, and neither end notices before the next segment (RFC 6182 §7;
    /// Wang et al., SIGCOMM 2011, for cellular networks). Packets other than TCP pass. It needs to see both directions:
    /// put it into `middleboxes`, or share it.
    "firewall"
    struct Settings {
        /// Idle time after which a connection is forgotten. If left out, never.
        idle: Option<Duration> = None,
        /// Whether the sender of a dropped segment gets a reset that seems to come from the peer. If not, it gets no
        /// answer.
        reset: Flag = Flag(false),
        /// Whether SYNs with MP_JOIN pass. If not, only SYNs that start a connection do.
        joins: Flag = Flag(true),
    }
}

/// Subtype of MP_JOIN (RFC 8684 §3.2).
const JOIN: u8 = 1;

pub(super) fn make(settings: Settings, _: &Context) -> Result<Box<dyn Element>, Fault> {
    let flows = Flows::new(settings.idle.map(Duration::nanos));
    Ok(Box::new(Firewall { reset: settings.reset.0, joins: settings.joins.0, flows }))
}

struct Firewall {
    reset: bool,
    joins: bool,
    flows: Flows<()>,
}

impl Element for Firewall {
    fn push(&mut self, now: Time, direction: Direction, mut packet: Box<Packet>, out: &mut Out) {
        let flow = Flow::of(direction, &packet);
        if let (Some(flow), L4::Tcp(tcp)) = (flow, &mut packet.frame.l4)
            && !self.admits(now, direction, flow, tcp)
        {
            if self.reset
                && let Some(reset) = refusal(&packet.frame)
            {
                out.send(direction.reverse(), reset);
            }
            return out.drop(direction, packet, Reason::Filtered);
        }
        out.send(direction, packet);
    }

    fn answers(&self) -> bool {
        self.reset
    }

    fn sees_both_directions(&self) -> bool {
        true
    }
}

impl Firewall {
    fn admits(&mut self, now: Time, direction: Direction, flow: Flow, tcp: &mut Tcp) -> bool {
        let begins = direction == Direction::Up && tcp.flags.has(Flags::SYN) && !tcp.flags.has(Flags::ACK);
        if begins && !self.joins && is_join(tcp) {
            return false;
        }
        if self.flows.get(now, &flow).is_some() {
            return true;
        }
        if begins {
            self.flows.insert(now, flow, ());
        }
        begins
    }
}

fn is_join(tcp: &mut Tcp) -> bool {
    let mut joins = false;
    revise(tcp, |option| {
        joins |= option[0] == MPTCP && subtype(option) == Some(JOIN);
        false
    });
    joins
}

/// The reset that answers a segment (RFC 9293 §3.10.7.1); none answers a reset.
fn refusal(frame: &Frame) -> Option<Box<Packet>> {
    let L4::Tcp(tcp) = &frame.l4 else { return None };
    if tcp.flags.has(Flags::RST) {
        return None;
    }
    let length = frame.payload.len + u32::from(tcp.flags.has(Flags::SYN)) + u32::from(tcp.flags.has(Flags::FIN));
    let (seq, ack, flags) = match tcp.flags.has(Flags::ACK) {
        true => (tcp.ack, 0, Flags::RST),
        false => (0, tcp.seq.wrapping_add(length), Flags::RST.with(Flags::ACK)),
    };
    let reset = Tcp {
        source_port: tcp.destination_port,
        destination_port: tcp.source_port,
        seq,
        ack,
        flags,
        window: 0,
        urgent: 0,
        options: Options::NONE,
    };
    let ip = Ip { source: frame.ip.destination, destination: frame.ip.source, ttl: 64, tos: 0, id: 0, ..frame.ip };
    let frame = Frame { ip, l4: L4::Tcp(reset), payload: Payload::unsaid(0) };
    Some(Box::new(Packet { frame, body: None }))
}
