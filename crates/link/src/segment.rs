//! Cutting and joining segments.

use crate::options::strip;
use wire::{Body, Content, Flags, L4, Packet, Payload, Tcp, pattern};

/// The TCP header of a segment whose payload may be cut or joined: whole, and nothing urgent in it.
pub(crate) fn plain(packet: &Packet) -> Option<&Tcp> {
    let L4::Tcp(tcp) = &packet.frame.l4 else { return None };
    let odd = tcp.flags.has(Flags::SYN) || tcp.flags.has(Flags::RST) || tcp.flags.has(Flags::URG);
    (!odd && packet.frame.ip.fragment.is_none()).then_some(tcp)
}

/// The part of a segment that begins at `start` of its payload and has `len` bytes. What ends a segment ends the last.
pub(crate) fn part(packet: &Packet, start: u32, len: u32) -> Box<Packet> {
    let mut part = Box::new(packet.clone());
    let whole = packet.frame.payload.len;
    part.frame.payload.len = len;
    if let Content::Pattern(position) = packet.frame.payload.content {
        part.frame.payload.content = Content::Pattern(position + u64::from(start));
    }
    if let Some(body) = &packet.body {
        let range = body.range();
        let from = (range.start + start as usize).min(range.end);
        part.body = Some(Body::part(body.original(), from..(from + len as usize).min(range.end)));
    }
    if let L4::Tcp(tcp) = &mut part.frame.l4 {
        tcp.seq = tcp.seq.wrapping_add(start);
        if start > 0 {
            // Once (net/ipv4/tcp_offload.c, tcp_gso_segment).
            tcp.flags.0 &= !Flags::CWR.0;
        }
        if start + len < whole {
            tcp.flags = Flags(tcp.flags.0 & !(Flags::FIN.0 | Flags::PSH.0));
        }
    }
    part
}

/// MPTCP options go from a header.
pub(crate) fn strip_all(packet: &mut Packet) {
    if let L4::Tcp(tcp) = &mut packet.frame.l4 {
        strip(tcp, |_| true);
    }
}

/// Puts the payload of `next` behind that of `packet`, which it follows.
pub(crate) fn append(packet: &mut Packet, next: &Packet) {
    let (len, more) = (packet.frame.payload.len, next.frame.payload.len);
    let follows = match (packet.frame.payload.content, next.frame.payload.content) {
        (Content::Pattern(first), Content::Pattern(second)) => first + u64::from(len) == second,
        _ => false,
    };
    if follows {
        packet.frame.payload.len = len + more;
        return;
    }
    if packet.frame.payload.content != Content::Unsaid || packet.body.is_some() {
        let mut bytes = payload(packet);
        bytes.extend(payload(next));
        packet.body = Some(Body::from(bytes));
    }
    packet.frame.payload = Payload::unsaid(len + more);
}

/// The bytes of a payload; what is not known is zeros.
pub(crate) fn payload(packet: &Packet) -> Vec<u8> {
    let mut bytes = vec![0; packet.frame.payload.len as usize];
    match packet.frame.payload.content {
        Content::Pattern(position) => pattern::fill(position, &mut bytes),
        Content::Unsaid => {
            let known = packet.payload();
            bytes[..known.len()].copy_from_slice(known);
        }
    }
    bytes
}
