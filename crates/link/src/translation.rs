//! IPv4 ⇄ IPv6 without state (RFC 7915). Addresses are what a prefix of 96 bits makes of those of IPv4 (RFC 6052 §2.2). What
//! neither has room for in the other family (options, flow labels) is lost, and fragments are not translated.

use crate::quoted::adjusted;
use crate::{Direction, Out, Reason};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use wire::{Body, Ip, L4, Packet, Payload};

/// Bytes by which headers of IPv6 are longer.
const LONGER: u32 = 20;
/// What every link of IPv6 takes (RFC 8200 §5).
const LEAST_MTU: u32 = 1280;
/// Up to so many bytes IPv4 may be cut on its way, since the packet could not have been too big before (RFC 7915 §5.1).
const MAY_BE_CUT: u32 = 1260;
/// Likely sizes of links (RFC 1191 §7, table 7-1).
const PLATEAUS: [u32; 11] = [65_535, 32_000, 17_914, 8166, 4352, 2002, 1492, 1006, 508, 296, 68];

const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMP: u8 = 1;
const ICMPV6: u8 = 58;

/// The prefixes of both ends. Addresses of others are not translated.
#[derive(Clone, Copy)]
pub(crate) struct Prefixes {
    pub client: Ipv6Addr,
    pub server: Ipv6Addr,
}

/// Why a packet is not translated.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Untranslated {
    /// Its addresses are none that the translator has.
    Other,
    /// Nothing in the other family says the same.
    NoCounterpart,
    /// It has come too far.
    TooFar,
}

/// Has the packet go on that was translated or is none of the translator's.
pub(crate) fn pass(translated: Result<(), Untranslated>, direction: Direction, packet: Box<Packet>, out: &mut Out) {
    match translated {
        Ok(()) | Err(Untranslated::Other) => out.send(direction, packet),
        Err(Untranslated::NoCounterpart) => out.drop(direction, packet, Reason::NoMapping),
        Err(Untranslated::TooFar) => out.drop(direction, packet, Reason::Unreachable),
    }
}

/// The address that others know a host by which has IPv6 alone, where its carrier translates.
pub fn behind_nat64(address: IpAddr) -> Option<IpAddr> {
    extract((Prefixes::CARRIER.client, address)).map(IpAddr::from)
}

/// What the carrier's resolver says of a name that has this address of IPv4 and none of IPv6 (DNS64, RFC 6147 §5.1.7).
pub fn dns64(address: IpAddr) -> Option<IpAddr> {
    let IpAddr::V4(address) = address else { return None };
    Some(embed(Prefixes::CARRIER.server, address).into())
}

impl Prefixes {
    /// Of a carrier: the client's of a private network (RFC 4193), the server's the one for translators that RFC 8215 sets aside,
    /// since the well-known one may not stand for private addresses of IPv4 (RFC 6052 §3.1).
    pub const CARRIER: Prefixes = Prefixes {
        client: Ipv6Addr::new(0xfd00, 0x464, 0, 0, 0, 0, 0, 0),
        server: Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0),
    };

    fn of_pair(self, from_client: bool) -> [Ipv6Addr; 2] {
        if from_client { [self.client, self.server] } else { [self.server, self.client] }
    }

    /// Makes IPv6 of a packet (RFC 7915 §4).
    pub fn to_v6(self, packet: &mut Packet, from_client: bool) -> Result<(), Untranslated> {
        let ip = &packet.frame.ip;
        let (IpAddr::V4(source), IpAddr::V4(destination)) = (ip.source, ip.destination) else {
            return Err(Untranslated::Other);
        };
        let [from, to] = self.of_pair(from_client);
        let addresses = [embed(from, source), embed(to, destination)];
        let header = routed(ip)?;
        if let L4::Icmp { kind, code, rest } = packet.frame.l4 {
            let (kind, code, rest) = icmp_to_v6(kind, code, rest, packet).ok_or(Untranslated::NoCounterpart)?;
            if kind < 128 {
                quote(packet, |bytes| quoted_to_v6(bytes, [to, from]))?;
            }
            packet.frame.l4 = L4::Icmp { kind, code, rest };
        }
        let [source, destination] = addresses.map(IpAddr::from);
        packet.frame.ip = Ip { source, destination, id: 0, dont_fragment: true, ..header };
        Ok(())
    }

    /// Makes IPv4 of a packet (RFC 7915 §5).
    pub fn to_v4(self, packet: &mut Packet, from_client: bool) -> Result<(), Untranslated> {
        let ip = &packet.frame.ip;
        let [from, to] = self.of_pair(from_client);
        let [Some(source), Some(destination)] = [(from, ip.source), (to, ip.destination)].map(extract) else {
            return Err(Untranslated::Other);
        };
        let header = routed(ip)?;
        if let L4::Icmp { kind, code, rest } = packet.frame.l4 {
            let (kind, code, rest) = icmp_to_v4(kind, code, rest).ok_or(Untranslated::NoCounterpart)?;
            if !matches!(kind, 0 | 8) {
                quote(packet, |bytes| quoted_to_v4(bytes, [to, from]))?;
            }
            packet.frame.l4 = L4::Icmp { kind, code, rest };
        }
        let [source, destination] = [source, destination].map(IpAddr::from);
        let dont_fragment = packet.frame.wire_len() - LONGER > MAY_BE_CUT;
        packet.frame.ip = Ip { source, destination, id: 0, dont_fragment, ..header };
        Ok(())
    }
}

/// The header after one more hop.
fn routed(ip: &Ip) -> Result<Ip, Untranslated> {
    if ip.fragment.is_some() {
        return Err(Untranslated::NoCounterpart);
    }
    let ttl = ip.ttl.checked_sub(1).filter(|&ttl| ttl > 0).ok_or(Untranslated::TooFar)?;
    Ok(Ip { ttl, ..*ip })
}

fn embed(prefix: Ipv6Addr, address: Ipv4Addr) -> Ipv6Addr {
    Ipv6Addr::from_bits(prefix.to_bits() | u128::from(address.to_bits()))
}

fn extract((prefix, address): (Ipv6Addr, IpAddr)) -> Option<Ipv4Addr> {
    let IpAddr::V6(address) = address else { return None };
    let bits = address.to_bits() ^ prefix.to_bits();
    u32::try_from(bits).ok().map(Ipv4Addr::from_bits)
}

/// RFC 7915 §4.2.
fn icmp_to_v6(kind: u8, code: u8, rest: [u8; 4], packet: &Packet) -> Option<(u8, u8, [u8; 4])> {
    Some(match (kind, code) {
        (8, _) => (128, 0, rest),
        (0, _) => (129, 0, rest),
        (3, 2) => (4, 1, 6u32.to_be_bytes()), // the protocol: Next Header
        (3, 3) => (1, 4, [0; 4]),
        (3, 4) => {
            let said = u32::from(u16::from_be_bytes([rest[2], rest[3]]));
            let mtu = if said > 0 { said } else { plateau(packet) };
            (2, 0, (mtu + LONGER).max(LEAST_MTU).to_be_bytes())
        }
        (3, 0 | 1 | 5..=8 | 11 | 12) => (1, 0, [0; 4]),
        (3, 9 | 10 | 13 | 15) => (1, 1, [0; 4]),
        (11, code) => (3, code, [0; 4]),
        (12, 0 | 2) => {
            let at = match rest[0] {
                at @ 0..=1 => at,
                2 | 3 => 4,
                8 => 7,
                9 => 6,
                12..=15 => 8,
                16..=19 => 24,
                _ => return None,
            };
            (4, 0, u32::from(at).to_be_bytes())
        }
        _ => return None,
    })
}

/// RFC 7915 §5.2.
fn icmp_to_v4(kind: u8, code: u8, rest: [u8; 4]) -> Option<(u8, u8, [u8; 4])> {
    Some(match (kind, code) {
        (128, _) => (8, 0, rest),
        (129, _) => (0, 0, rest),
        (1, 0 | 2 | 3) => (3, 1, [0; 4]),
        (1, 1) => (3, 10, [0; 4]),
        (1, 4) => (3, 3, [0; 4]),
        (2, _) => {
            let mtu = u32::from_be_bytes(rest).saturating_sub(LONGER).min(u32::from(u16::MAX));
            (3, 4, mtu.to_be_bytes())
        }
        (3, code) => (11, code, [0; 4]),
        (4, 0) => {
            let at = match u32::from_be_bytes(rest) {
                at @ 0..=1 => at as u8,
                4 | 5 => 2,
                6 => 9,
                7 => 8,
                8..=23 => 12,
                24..=39 => 16,
                _ => return None,
            };
            (12, 0, [at, 0, 0, 0])
        }
        (4, 1) => (3, 2, [0; 4]),
        _ => return None,
    })
}

/// The size of a link that a router is likely to mean which says none: the largest below what was too long for it.
fn plateau(packet: &Packet) -> u32 {
    let quoted = packet.body.as_deref().and_then(|body| body.get(2..4));
    let total = quoted.map_or(u32::MAX, |len| u32::from(u16::from_be_bytes([len[0], len[1]])));
    PLATEAUS.into_iter().find(|&bytes| bytes < total).unwrap_or(68)
}

/// Puts another quote in the place of the one that an error has.
fn quote(packet: &mut Packet, translated: impl Fn(&[u8]) -> Option<Vec<u8>>) -> Result<(), Untranslated> {
    let bytes = translated(packet.body.as_deref().unwrap_or(&[])).ok_or(Untranslated::NoCounterpart)?;
    packet.frame.payload = Payload::unsaid(bytes.len() as u32);
    packet.body = Some(Body::from(bytes));
    Ok(())
}

/// RFC 7915 §4.3: what an error quotes is translated, too, but is not on its way any more.
fn quoted_to_v6(bytes: &[u8], prefixes: [Ipv6Addr; 2]) -> Option<Vec<u8>> {
    let len = usize::from(bytes.first()? & 0xf) * 4;
    let (header, transport) = bytes.split_at_checked(len.max(20))?;
    let old: &[u8; 8] = header[12..].first_chunk()?;
    let [source, destination] =
        [[old[0], old[1], old[2], old[3]], [old[4], old[5], old[6], old[7]]].map(Ipv4Addr::from);
    let [source, destination] = [embed(prefixes[0], source), embed(prefixes[1], destination)];
    let new = [source.octets(), destination.octets()];
    let len = u16::from_be_bytes([header[2], header[3]]).checked_sub(header.len() as u16)?;
    let protocol = if header[9] == ICMP { ICMPV6 } else { header[9] };
    let ip = quoted_header([source.into(), destination.into()], header[8], header[1], true);
    put(&ip, protocol, len, transport, old, new.as_flattened())
}

/// RFC 7915 §5.3.
fn quoted_to_v4(bytes: &[u8], prefixes: [Ipv6Addr; 2]) -> Option<Vec<u8>> {
    let (header, transport) = bytes.split_first_chunk::<40>()?;
    let (old, _) = header[8..].as_chunks::<16>();
    let address = |i: usize| extract((prefixes[i], old[i].into()));
    let (source, destination) = (address(0)?, address(1)?);
    let new = [source.octets(), destination.octets()];
    let len = u16::from_be_bytes([header[4], header[5]]);
    let protocol = if header[6] == ICMPV6 { ICMP } else { header[6] };
    let (tos, may_be_cut) = (header[0] << 4 | header[1] >> 4, u32::from(len) + LONGER <= MAY_BE_CUT);
    let ip = quoted_header([source.into(), destination.into()], header[7], tos, !may_be_cut);
    put(&ip, protocol, len, transport, old.as_flattened(), new.as_flattened())
}

fn quoted_header([source, destination]: [IpAddr; 2], ttl: u8, tos: u8, dont_fragment: bool) -> Ip {
    Ip { source, destination, ttl, tos, id: 0, dont_fragment, fragment: None }
}

/// A quote of this header and what is there of a transport of `len` bytes.
fn put(ip: &Ip, protocol: u8, len: u16, transport: &[u8], old: &[u8], new: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    ip.emit(protocol, len.into(), &mut out).ok()?;
    let start = out.len();
    out.extend_from_slice(transport);
    revise(&mut out[start..], protocol, len, old, new);
    Some(out)
}

/// Makes the checksum of a quoted transport header cover the new addresses instead of the old ones.
fn revise(transport: &mut [u8], protocol: u8, len: u16, old: &[u8], new: &[u8]) {
    let [high, low] = len.to_be_bytes();
    // ICMPv6 alone has a sum over addresses, length and protocol; its types are others.
    let pseudo = |addresses: &[u8]| [addresses, &[high, low, 0, ICMPV6]].concat();
    let (at, old, new) = match protocol {
        TCP => (16, old.to_vec(), new.to_vec()),
        UDP => (6, old.to_vec(), new.to_vec()),
        ICMP | ICMPV6 if transport.len() >= 4 => {
            let before = [transport[0], transport[1]];
            let after = match (protocol, before[0]) {
                (ICMPV6, 8) => 128,
                (ICMPV6, 0) => 129,
                (ICMP, 128) => 8,
                (ICMP, 129) => 0,
                _ => return,
            };
            transport[0] = after;
            let after = [after, before[1]];
            if protocol == ICMPV6 {
                (2, before.to_vec(), [&after, &*pseudo(new)].concat())
            } else {
                (2, [&before, &*pseudo(old)].concat(), after.to_vec())
            }
        }
        _ => return,
    };
    // A UDP checksum of 0 is none.
    if let Some(sum) = transport.get_mut(at..at + 2)
        && (protocol != UDP || sum != [0, 0])
    {
        sum.copy_from_slice(&match adjusted(u16::from_be_bytes([sum[0], sum[1]]), &old, &new) {
            0 if protocol == UDP => [0xff; 2],
            checksum => checksum.to_be_bytes(),
        });
    }
}
