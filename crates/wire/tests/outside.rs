//! What comes from outside passes byte for byte, also what no frame has a value for; and where a frame is changed, that
//! is changed and nothing else.

mod arbitrary;

use arbitrary::{frame, options};
use proptest::collection::vec;
use proptest::prelude::*;
use std::net::IpAddr;
use std::sync::Arc;
use wire::{Body, Frame, Ip, L4, Original, Packet, Payload, Tcp, Unsummed};

/// As it is read from a device.
fn read(bytes: &[u8], is_summed: bool) -> Option<Packet> {
    let mut original = Original::copy(bytes);
    let frame = original.read(bytes.len(), is_summed).ok()?;
    let original = Arc::new(original);
    let body = Body::part(&original, original.headers().len()..original.bytes().len());
    Some(Packet { frame, body: Some(body) })
}

fn written(packet: &Packet) -> Vec<u8> {
    let mut out = vec![7];
    packet.emit(&mut out, None).unwrap();
    out.split_off(1)
}

/// What a frame has no value for.
#[derive(Clone, Debug)]
struct Dress {
    /// IPv4: words of options. IPv6: the flow label, and whether there is an extension header.
    words: Vec<u32>,
    /// TCP: reserved bits.
    reserved: u8,
    /// Added to checksums.
    wrong: [u16; 2],
}

fn dress() -> impl Strategy<Value = Dress> {
    let words = prop_oneof![Just(vec![]), vec(any::<u32>(), 1..=10)];
    let wrong = prop_oneof![Just([0, 0]), any::<[u16; 2]>()];
    (words, 0..16_u8, wrong).prop_map(|(words, reserved, wrong)| Dress { words, reserved, wrong })
}

/// A packet so dressed, and the length of its IP headers.
fn dressed(frame: &Frame, payload: &[u8], dress: &Dress) -> (Vec<u8>, usize) {
    let mut bytes = Vec::new();
    frame.emit(payload, &mut bytes).unwrap();
    let mut network = bytes.len() - payload.len() - header_len(&frame.l4);
    if frame.ip.source.is_ipv4() {
        let options: Vec<u8> = dress.words.iter().flat_map(|word| word.to_be_bytes()).collect();
        bytes.splice(20..20, options);
        network += dress.words.len() * 4;
        bytes[0] = 0x40 | (network / 4) as u8;
        bytes[6] |= if dress.reserved & 1 == 1 { 0x80 } else { 0 };
        let total = (bytes.len() as u16).to_be_bytes();
        bytes[2..4].copy_from_slice(&total);
        bytes[10..12].fill(0);
        let checksum = (!sum(&bytes[..network])).wrapping_add(dress.wrong[0]);
        bytes[10..12].copy_from_slice(&checksum.to_be_bytes());
    } else if let Some(label) = dress.words.first() {
        bytes[1] |= (label >> 16) as u8 & 0x0f;
        bytes[2..4].copy_from_slice(&(*label as u16).to_be_bytes());
        if frame.ip.fragment.is_none() && label & 1 == 1 {
            // Destination options: padding of four bytes.
            let next = std::mem::replace(&mut bytes[6], 60);
            bytes.splice(40..40, [next, 0, 1, 4, 0, 0, 0, 0]);
            network += 8;
            let len = (bytes.len() as u16 - 40).to_be_bytes();
            bytes[4..6].copy_from_slice(&len);
        }
    }
    if let Some(at) = checksum_at(&frame.l4) {
        let field = &mut bytes[network + at..network + at + 2];
        let wrong = u16::from_be_bytes([field[0], field[1]]).wrapping_add(dress.wrong[1]);
        field.copy_from_slice(&wrong.to_be_bytes());
    }
    if let L4::Tcp(_) = frame.l4 {
        bytes[network + 12] |= dress.reserved;
    }
    (bytes, network)
}

fn header_len(l4: &L4) -> usize {
    match l4 {
        L4::Tcp(tcp) => 20 + tcp.options.as_bytes().len(),
        L4::Udp { .. } | L4::Icmp { .. } => 8,
        L4::Other(_) => 0,
    }
}

fn checksum_at(l4: &L4) -> Option<usize> {
    match l4 {
        L4::Tcp(_) => Some(16),
        L4::Udp { .. } => Some(6),
        L4::Icmp { .. } => Some(2),
        L4::Other(_) => None,
    }
}

/// The ones' complement sum.
fn sum(bytes: &[u8]) -> u16 {
    let word = |two: &[u8]| u64::from(two[0]) << 8 | two.get(1).map_or(0, |&low| u64::from(low));
    match bytes.chunks(2).map(word).sum::<u64>() {
        0 => 0,
        sum => ((sum - 1) % 0xffff + 1) as u16,
    }
}

/// By how much the transport checksum is wrong, modulo 65535.
fn error(bytes: &[u8], network: usize, l4: &L4) -> u64 {
    let transport = &bytes[network..];
    let addresses = match (l4, bytes[0] >> 4) {
        (L4::Icmp { .. }, 4) => return u64::from(sum(transport)) % 0xffff,
        (_, 4) => &bytes[12..20],
        _ => &bytes[8..40],
    };
    let protocol = match l4 {
        L4::Tcp(_) => 6,
        L4::Udp { .. } => 17,
        _ => 58,
    };
    let rest = [&(transport.len() as u32).to_be_bytes()[..], &[0, protocol]].concat();
    [addresses, &rest, transport].into_iter().map(|bytes| u64::from(sum(bytes))).sum::<u64>() % 0xffff
}

/// Another frame of the same kind with the same payload.
fn changed(frame: &Frame, [source, destination]: [u128; 2], ip: (u8, u8, u16, bool), tcp: Option<Tcp>) -> Frame {
    let (ttl, tos, id, dont_fragment) = ip;
    let ip = if frame.ip.source.is_ipv4() {
        let address = |bits: u128| IpAddr::V4((bits as u32).into());
        let (source, destination) = (address(source), address(destination));
        Ip { source, destination, ttl, tos, id, dont_fragment, ..frame.ip }
    } else {
        let address = |bits: u128| IpAddr::V6(bits.into());
        Ip { source: address(source), destination: address(destination), ttl, tos, ..frame.ip }
    };
    let l4 = match (frame.l4, tcp) {
        (L4::Tcp(_), Some(tcp)) => L4::Tcp(tcp),
        (L4::Udp { .. }, _) => L4::udp(id, 53),
        (l4, _) => l4,
    };
    Frame { ip, l4, ..*frame }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn it_passes_unchanged((frame, payload) in frame(), dress in dress(), flips in vec(any::<(prop::sample::Index, u8)>(), 0..4)) {
        let (mut bytes, _) = dressed(&frame, &payload, &dress);
        for (at, flip) in flips {
            let at = at.index(bytes.len().min(120));
            bytes[at] ^= flip;
        }
        let Some(packet) = read(&bytes, true) else { return Ok(()) };
        let out = written(&packet);
        prop_assert_eq!(packet.unchanged(), Some(&out[..]));
        prop_assert!(bytes.starts_with(&out));
        let header = if bytes[0] >> 4 == 4 { 20 } else { 40 };
        prop_assert!(out.len() == bytes.len() || out.len() >= header, "only padding is cut");
    }

    #[test]
    fn any_bytes_at_all_pass(bytes in vec(any::<u8>(), 0..200)) {
        if let Some(packet) = read(&bytes, true) {
            prop_assert!(bytes.starts_with(&written(&packet)));
        }
    }

    #[test]
    fn what_is_changed_is_changed_and_nothing_else(
        (frame, payload) in frame(),
        dress in dress(),
        addresses in any::<[u128; 2]>(),
        ip in any::<(u8, u8, u16, bool)>(),
        tcp in any::<(u32, u32, u8, u16)>(),
        options in options(),
    ) {
        let (bytes, network) = dressed(&frame, &payload, &dress);
        let mut packet = read(&bytes, true).unwrap();
        let (seq, ack, flags, window) = tcp;
        let tcp = match packet.frame.l4 {
            L4::Tcp(tcp) => Some(Tcp { seq, ack, flags: wire::Flags(flags), window, options, ..tcp }),
            _ => None,
        };
        let before = packet.frame;
        packet.frame = changed(&before, addresses, ip, tcp);
        let out = written(&packet);
        let mut again = read(&out, true).unwrap();
        prop_assert_eq!(again.frame, packet.frame);
        prop_assert_eq!(again.payload(), &payload[..]);
        // Back again, it is what it was.
        again.frame = before;
        let back = written(&again);
        if is_usual(&before.l4, &bytes, network) {
            prop_assert_eq!(error(&bytes, network, &before.l4), error(&out, network, &before.l4));
            prop_assert_eq!(&back, &bytes);
        }
    }

    /// A translator's: nothing of the old headers is left, and the checksum is one of the new.
    #[test]
    fn one_of_the_other_family_is_made_anew((frame, payload) in frame(), is_summed: bool, addresses: [u128; 2]) {
        if frame.ip.fragment.is_some() || !matches!(frame.l4, L4::Tcp(_) | L4::Udp { .. }) {
            return Ok(());
        }
        let mut bytes = Vec::new();
        frame.emit(&payload, &mut bytes).unwrap();
        let mut packet = read(&bytes, is_summed).unwrap();
        let [source, destination] = addresses.map(|bits| match frame.ip.source {
            IpAddr::V4(_) => IpAddr::from(bits.to_be_bytes()),
            IpAddr::V6(_) => IpAddr::from((bits as u32).to_be_bytes()),
        });
        packet.frame.ip = Ip { source, destination, ..packet.frame.ip };
        let bare = Packet { body: Some(payload.into()), ..packet.clone() };
        prop_assert_eq!(written(&packet), written(&bare));
        let [mut headers, mut expected] = [vec![], vec![]];
        prop_assert_eq!(packet.emit_headers(&mut headers), bare.emit_headers(&mut expected));
        prop_assert_eq!(headers, expected);
    }

    /// As the kernel's offloads want it, and as it is without them.
    #[test]
    fn a_checksum_can_be_left_to_others((frame, payload) in frame()) {
        let mut bytes = Vec::new();
        frame.emit(&payload, &mut bytes).unwrap();
        let network = bytes.len() - payload.len() - header_len(&frame.l4);
        let at = checksum_at(&frame.l4).filter(|_| matches!(frame.l4, L4::Tcp(_) | L4::Udp { .. }));
        let Some(at) = at.filter(|_| frame.ip.fragment.is_none()) else { return Ok(()) };
        let mut unsummed = bytes.clone();
        unsummed[network + at..network + at + 2].fill(0x55);
        let packet = read(&unsummed, false).unwrap();
        prop_assert_eq!(&written(&packet), &bytes);
        prop_assert_eq!(packet.unchanged(), None);
        let bare = Packet { frame, body: Some(payload.into()) };
        for packet in [packet, bare] {
            let mut headers = vec![7];
            let left = packet.emit_headers(&mut headers).unwrap();
            prop_assert_eq!(left, Some(Unsummed { start: network as u16, offset: at as u16 }));
            let mut whole = [&headers[1..], packet.payload()].concat();
            let checksum = match !sum(&whole[network..]) {
                0 if at == 6 => 0xffff,
                checksum => checksum,
            };
            whole[network + at..network + at + 2].copy_from_slice(&checksum.to_be_bytes());
            prop_assert_eq!(&whole, &bytes);
        }
    }
}

/// Whether there is a checksum, in its usual form of the two that zero has.
fn is_usual(l4: &L4, bytes: &[u8], network: usize) -> bool {
    let Some(at) = checksum_at(l4) else { return false };
    let unusual = if matches!(l4, L4::Udp { .. }) { [0; 2] } else { [0xff; 2] };
    let has_usual_header = bytes[0] >> 4 == 6 || bytes[10..12] != [0xff; 2];
    bytes[network + at..network + at + 2] != unusual && has_usual_header
}

#[test]
fn bytes_of_one_that_are_changed_stay_those_of_the_others() {
    let mut bytes = Vec::new();
    let ip = |address: &str| address.parse::<IpAddr>().unwrap();
    let (source, destination) = (ip("10.0.0.1"), ip("10.0.0.2"));
    let ip = Ip { source, destination, ttl: 64, tos: 0, id: 0, dont_fragment: true, fragment: None };
    let l4 = L4::Icmp { kind: 3, code: 0, rest: [0; 4] };
    Frame { ip, l4, payload: Payload::unsaid(3) }.emit(b"abc", &mut bytes).unwrap();
    let packet = read(&bytes, true).unwrap();
    let mut other = packet.clone();
    other.body.as_mut().unwrap().to_mut()[0] = b'x';
    assert_eq!((packet.payload(), other.payload()), (&b"abc"[..], &b"xbc"[..]));
    assert_eq!(written(&packet), bytes);
    bytes.clear();
    other.frame.emit(b"xbc", &mut bytes).unwrap();
    assert_eq!(written(&other), bytes, "with the checksum of its own bytes");
}
