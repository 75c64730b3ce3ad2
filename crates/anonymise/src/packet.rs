//! A packet of a capture, changed where it stands: nothing in it moves.

use std::net::IpAddr;

use capture::{LinkType, Network, Packet};
use wire::{Frame, L4};

use crate::connections::Current;
use crate::sums::checksum;
use crate::{Anonymiser, Counts, options};

const TCP: u8 = 6;
const VLAN: [[u8; 2]; 4] = [[0x81, 0x00], [0x88, 0xa8], [0x91, 0x00], [0x92, 0x00]];
const PPPOE: [u8; 2] = [0x88, 0x64];

/// Where the headers of an IP packet stand in what was captured, as far as it was.
#[derive(Clone, Copy)]
pub(crate) struct Offsets {
    network: usize,
    transport: usize,
    payload: usize,
}

impl Offsets {
    /// Of a frame that was read from `bytes`, behind a link layer of `network` bytes.
    fn of(frame: &Frame, packet: &Packet, network: usize) -> Offsets {
        let bytes = &packet.data[network..];
        let there = bytes.len().max(packet.original_len as usize - network);
        let (at, before) = if frame.ip.source.is_ipv4() { (2, 0) } else { (4, 40) };
        let total = match usize::from(u16::from_be_bytes([bytes[at], bytes[at + 1]])) {
            0 => there,
            length => before + length,
        };
        let transport_len = match &frame.l4 {
            L4::Tcp(tcp) => 20 + tcp.options.wire_len() as usize,
            L4::Udp { .. } | L4::Icmp { .. } => 8,
            L4::Other(_) => 0,
        };
        let payload = network + total - frame.payload.len as usize;
        Offsets { network, transport: payload - transport_len, payload }
    }
}

/// Changes `bytes`, which are those of `packet`, and says how many of them to keep.
pub(crate) fn anonymise(
    all: &mut Anonymiser,
    current: &mut Current,
    packet: &Packet,
    bytes: &mut [u8],
    counts: &mut Counts,
) -> usize {
    counts.packets += 1;
    match packet.network() {
        Network::Ip { offset, .. } => {
            link_layer(packet.link_type, &mut bytes[..offset]);
            match Frame::parse(&packet.data[offset..], packet.original_len - offset as u32) {
                Ok(frame) => {
                    let offsets = Offsets::of(&frame, packet, offset);
                    let kept = offsets.payload.min(bytes.len());
                    counts.payload_bytes += (bytes.len() - kept) as u64;
                    ip(all, current, &frame, offsets, bytes, counts);
                    kept
                }
                Err(_) => broken(all, &mut bytes[offset..]) + offset,
            }
        }
        Network::Other => other(packet.link_type, bytes),
        Network::Short => {
            bytes.fill(0);
            bytes.len()
        }
        Network::Unsupported => 0,
    }
}

/// Takes hardware addresses away.
fn link_layer(link_type: LinkType, header: &mut [u8]) {
    match link_type {
        LinkType::ETHERNET => header[..12].fill(0),
        LinkType::LINUX_SLL => header[6..14].fill(0),
        LinkType::LINUX_SLL2 => header[12..20].fill(0),
        _ => {}
    }
}

fn ip(
    all: &mut Anonymiser,
    current: &mut Current,
    frame: &Frame,
    offsets: Offsets,
    bytes: &mut [u8],
    counts: &mut Counts,
) {
    let sender = match &frame.l4 {
        L4::Tcp(tcp) => all.connections.sender(current, frame, tcp),
        _ => None,
    };
    let [source, destination] = [frame.ip.source, frame.ip.destination].map(|it| all.addresses.of(&all.secret, it));
    let header = &mut bytes[offsets.network..];
    let pseudo = addresses(header, source, destination);
    extensions(&mut bytes[offsets.network..offsets.transport.min(packet_end(offsets, frame))], source.is_ipv4());
    let whole = offsets.payload <= bytes.len();
    let kept = offsets.payload.min(bytes.len());
    let transport = &mut bytes[offsets.transport.min(kept)..kept];
    let len = (offsets.payload - offsets.transport) as u32 + frame.payload.len;
    let sum = |protocol: u8, transport: &[u8]| {
        let tail = [len.to_be_bytes(), [0, 0, 0, protocol]];
        checksum(&[&pseudo, tail.as_flattened(), transport])
    };
    match &frame.l4 {
        L4::Tcp(_) => {
            options::anonymise(all, sender, &mut transport[20..], counts);
            transport[16..18].fill(0);
            let sum = sum(TCP, transport);
            // Without its last options there is none to be made.
            transport[16..18].copy_from_slice(&(if whole { sum } else { 0 }).to_be_bytes());
        }
        L4::Udp { .. } if transport[6..8] != [0, 0] => {
            transport[6..8].fill(0);
            let sum = sum(17, transport).max(1);
            transport[6..8].copy_from_slice(&sum.to_be_bytes());
        }
        L4::Icmp { kind, .. } => {
            let v4 = source.is_ipv4();
            // Identifiers of echoes and the size of what was too big; others hold addresses.
            if !matches!((v4, kind), (true, 0 | 3 | 8) | (false, 2 | 128 | 129)) {
                transport[4..8].fill(0);
            }
            transport[2..4].fill(0);
            let sum = if v4 { checksum(&[transport]) } else { sum(58, transport) };
            transport[2..4].copy_from_slice(&sum.to_be_bytes());
        }
        _ => {}
    }
}

fn packet_end(offsets: Offsets, frame: &Frame) -> usize {
    offsets.payload + frame.payload.len as usize
}

/// Puts addresses into an IP header and gives them as a pseudo-header begins.
fn addresses(header: &mut [u8], source: IpAddr, destination: IpAddr) -> Vec<u8> {
    match (source, destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            header[12..20].copy_from_slice([source.octets(), destination.octets()].as_flattened());
            let length = usize::from(header[0] & 0x0f) * 4;
            if let Some(header) = header.get_mut(..length)
                && length >= 20
            {
                // Routes that were recorded are addresses.
                header[20..].fill(1);
                header[10..12].fill(0);
                let sum = checksum(&[header]);
                header[10..12].copy_from_slice(&sum.to_be_bytes());
            }
            header[12..20].to_vec()
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            header[8..40].copy_from_slice([source.octets(), destination.octets()].as_flattened());
            header[8..40].to_vec()
        }
        _ => unreachable!("the family stays"),
    }
}

/// Empties what stands between the IP header and the transport's, but for what says how long it is.
fn extensions(headers: &mut [u8], is_v4: bool) {
    const FRAGMENT: u8 = 44;
    const AH: u8 = 51;
    let (mut at, mut kind) = if is_v4 { (usize::from(headers[0] & 0x0f) * 4, headers[9]) } else { (40, headers[6]) };
    while let Some(rest) = headers.get_mut(at..).filter(|rest| rest.len() >= 8) {
        let length = match kind {
            FRAGMENT => 8,
            AH => (usize::from(rest[1]) + 2) * 4,
            _ => (usize::from(rest[1]) + 1) * 8,
        };
        let length = length.min(rest.len());
        if kind != FRAGMENT {
            rest[2..length].fill(0);
        }
        (kind, at) = (rest[0], at + length);
    }
}

/// An IP packet that cannot be read: addresses, lengths and what makes it unreadable stay, as far as they are there.
fn broken(all: &mut Anonymiser, bytes: &mut [u8]) -> usize {
    let is_v4 = bytes[0] >> 4 == 4;
    let header = if is_v4 { 20 } else { 40 };
    if bytes.len() < header {
        bytes[1..].fill(0);
        return bytes.len();
    }
    let ends = |from: usize| match is_v4 {
        true => <[u8; 4]>::try_from(&bytes[from..from + 4]).expect("as long as that").into(),
        false => IpAddr::from(<[u8; 16]>::try_from(&bytes[from..from + 16]).expect("as long as that")),
    };
    let pair = if is_v4 { [ends(12), ends(16)] } else { [ends(8), ends(24)] };
    let [source, destination] = pair.map(|address: IpAddr| all.addresses.of(&all.secret, address));
    let protocol = if is_v4 { bytes[9] } else { bytes[6] };
    let options = if is_v4 { usize::from(bytes[0] & 0x0f) * 4 } else { header };
    addresses(bytes, source, destination);
    let offset = bytes.get(options.max(header) + 12).copied();
    bytes[header..].fill(0);
    if let Some(offset) = offset.filter(|_| protocol == TCP) {
        bytes[options.max(header) + 12] = offset;
    }
    bytes.len()
}

/// No IP: what says so stays.
fn other(link_type: LinkType, bytes: &mut [u8]) -> usize {
    let kept = match link_type {
        LinkType::ETHERNET => ethertype(bytes, 12),
        LinkType::LINUX_SLL => ethertype(bytes, 14),
        LinkType::LINUX_SLL2 if VLAN.iter().any(|tag| bytes.starts_with(tag)) => ethertype(bytes, 22),
        LinkType::LINUX_SLL2 => 20,
        LinkType::PPP_ETHER => 8,
        LinkType::PPP | LinkType::PPP_HDLC => 4,
        LinkType::NULL | LinkType::LOOP => 5,
        _ => 1,
    };
    let kept = kept.min(bytes.len());
    link_layer(link_type, bytes);
    kept
}

/// Up to the end of what says the protocol, behind any number of VLAN tags.
fn ethertype(frame: &[u8], mut at: usize) -> usize {
    while frame.get(at..at + 2).is_some_and(|found| VLAN.iter().any(|tag| tag == found)) {
        at += 4;
    }
    let is_pppoe = frame.get(at..at + 2) == Some(&PPPOE);
    at + 2 + if is_pppoe { 8 } else { 0 }
}
