//! The packet that an ICMP error quotes: what a translator changed in it is changed back.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use wire::{L4, Packet};

/// Where things stand in a quoted packet.
#[derive(Clone, Copy)]
pub(crate) struct Quoted {
    is_v4: bool,
    /// Length of the IP header.
    header: usize,
    protocol: u8,
}

/// An address or a port in a quoted packet.
#[derive(Clone, Copy)]
pub(crate) struct Field {
    at: usize,
    len: usize,
    /// Whether the checksum of IPv4 covers it.
    in_ip: bool,
}

impl Quoted {
    /// What a packet quotes, if it is an error that does.
    pub fn of(packet: &Packet) -> Option<Quoted> {
        let body = packet.body.as_deref()?;
        let first = *body.first()?;
        let quoted = match (&packet.frame.l4, first >> 4) {
            // RFC 792: unreachable, source quench, redirect, time exceeded, parameter problem.
            (L4::Icmp { kind: 3 | 4 | 5 | 11 | 12, .. }, 4) => {
                Quoted { is_v4: true, header: usize::from(first & 0xf) * 4, protocol: *body.get(9)? }
            }
            // RFC 4443 §2.1: errors are the types below 128.
            (L4::Icmp { kind: 0..128, .. }, 6) => Quoted { is_v4: false, header: 40, protocol: *body.get(6)? },
            _ => return None,
        };
        (quoted.header >= 20 && body.len() >= quoted.header).then_some(quoted)
    }

    pub fn source(self) -> Field {
        let (at, len) = if self.is_v4 { (12, 4) } else { (8, 16) };
        Field { at, len, in_ip: self.is_v4 }
    }

    pub fn destination(self) -> Field {
        let Field { at, len, in_ip } = self.source();
        Field { at: at + len, len, in_ip }
    }

    /// Source and destination port; none where the protocol has none.
    pub fn ports(self) -> Option<[Field; 2]> {
        matches!(self.protocol, TCP | UDP)
            .then(|| [self.header, self.header + 2].map(|at| Field { at, len: 2, in_ip: false }))
    }

    pub fn is_tcp(self) -> bool {
        self.protocol == TCP
    }

    /// Puts `new` in the place of what stands in a field, checksums and all. Nothing happens where the quote is too short.
    pub fn replace(self, packet: &mut Packet, field: Field, new: &[u8]) {
        let Some(body) = &mut packet.body else { return };
        let Some(old) = body.get(field.at..field.at + field.len).filter(|_| new.len() == field.len) else { return };
        let old = old.to_vec();
        let body = body.to_mut();
        body[field.at..field.at + field.len].copy_from_slice(new);
        for at in self.checksums(field) {
            if let Some(sum) = body.get_mut(at..at + 2)
                // A UDP checksum of 0 is none.
                && (self.protocol != UDP || at == IPV4_CHECKSUM || sum != [0, 0])
            {
                sum.copy_from_slice(&match adjusted(u16::from_be_bytes([sum[0], sum[1]]), &old, new) {
                    0 if self.protocol == UDP && at != IPV4_CHECKSUM => [0xff; 2],
                    checksum => checksum.to_be_bytes(),
                });
            }
        }
    }

    /// Where checksums that cover a field stand.
    fn checksums(self, field: Field) -> impl Iterator<Item = usize> {
        let in_ip = field.in_ip.then_some(IPV4_CHECKSUM);
        let in_transport = match self.protocol {
            TCP => Some(16),
            UDP => Some(6),
            ICMPV6 if !self.is_v4 => Some(2),
            _ => None,
        };
        in_ip.into_iter().chain(in_transport.map(|at| self.header + at))
    }
}

const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMPV6: u8 = 58;
/// Where the checksum of IPv4 stands.
const IPV4_CHECKSUM: usize = 10;

impl Field {
    /// The address in it.
    pub fn address(self, packet: &Packet) -> Option<IpAddr> {
        let bytes = packet.body.as_deref()?.get(self.at..self.at + self.len)?;
        match self.len {
            4 => <[u8; 4]>::try_from(bytes).ok().map(|bytes| Ipv4Addr::from(bytes).into()),
            _ => <[u8; 16]>::try_from(bytes).ok().map(|bytes| Ipv6Addr::from(bytes).into()),
        }
    }

    /// The port in it.
    pub fn port(self, packet: &Packet) -> Option<u16> {
        let bytes = packet.body.as_deref()?.get(self.at..self.at + self.len)?;
        <[u8; 2]>::try_from(bytes).ok().map(u16::from_be_bytes)
    }
}

/// RFC 1624 eq. 3: the checksum after words changed from `old` to `new`.
pub(crate) fn adjusted(checksum: u16, old: &[u8], new: &[u8]) -> u16 {
    let words = |bytes: &[u8], flip: u16| -> u32 {
        bytes.chunks_exact(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]]) ^ flip)).sum()
    };
    let mut sum = u32::from(!checksum) + words(old, 0xffff) + words(new, 0);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
