#![expect(clippy::vec_box, reason = "packets travel in boxes")]

use super::*;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use std::io::IoSlice;
use std::net::IpAddr;
use std::sync::Arc;
use wire::{Flags, Frame, Ip, L4, Options, Original, Packet, Payload, Tcp};

/// A GSO packet as the kernel hands it over.
#[derive(Clone, Debug)]
struct Super {
    frame: Frame,
    payload: Vec<u8>,
    size: u16,
    flow_label: u32,
    reserved: u8,
}

impl Super {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let body = Some(self.payload.as_slice().into());
        Packet { frame: self.frame, body }.emit_headers(&mut bytes).unwrap();
        let network = if self.frame.ip.source.is_ipv4() { 20 } else { 40 };
        if network == 40 {
            bytes[1] |= (self.flow_label >> 16) as u8;
            bytes[2..4].copy_from_slice(&(self.flow_label as u16).to_be_bytes());
        }
        if let L4::Tcp(_) = self.frame.l4 {
            bytes[network + 12] |= self.reserved;
        }
        bytes.extend_from_slice(&self.payload);
        bytes
    }

    fn packets(&self) -> Vec<Box<Packet>> {
        cut(&self.bytes(), Some(self.size))
    }
}

/// The packets of a frame that is handed over without its transport checksum.
fn cut(bytes: &[u8], size: Option<u16>) -> Vec<Box<Packet>> {
    let mut original = Original::copy(bytes);
    let frame = original.read(bytes.len(), false).unwrap();
    let mut packets = Vec::new();
    split(&Arc::new(original), &frame, size.unwrap_or(u16::MAX), &mut |packet| packets.push(packet));
    packets
}

fn flags() -> impl Strategy<Value = u8> {
    (any::<u8>(), any::<bool>()).prop_map(|(any, usual)| if usual { any & 0b1100_1001 | Flags::ACK.0 } else { any })
}

fn l4() -> impl Strategy<Value = L4> {
    let tcp = (any::<(u16, u32, u32, u16, u16)>(), flags(), vec(any::<u32>(), 0..=10));
    prop_oneof![
        3 => tcp.prop_map(|((destination_port, seq, ack, window, urgent), flags, words)| {
            let options: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
            let options = Options::from_bytes(&options).unwrap();
            L4::Tcp(Tcp { source_port: 80, destination_port, seq, ack, flags: Flags(flags), window, urgent, options })
        }),
        1 => any::<u16>().prop_map(|destination_port| L4::udp(53, destination_port)),
    ]
}

fn frames() -> impl Strategy<Value = Super> {
    let rest = (any::<(bool, u8, u8, u16, bool)>(), 1..=3000_u16, 1..20_000_usize, 0..1_u32 << 20, of(1..16_u8));
    (l4(), rest, any::<u8>()).prop_map(|(l4, (ip, size, len, flow_label, reserved), byte)| {
        let (is_v4, ttl, tos, id, dont_fragment) = ip;
        let [source, destination]: [IpAddr; 2] = match is_v4 {
            true => [[10, 0, 0, 1].into(), [10, 0, 0, 2].into()],
            false => [[0xfd00, 0, 0, 0, 0, 0, 0, 1].into(), [0xfd00, 0, 0, 0, 0, 0, 0, 2].into()],
        };
        let (id, dont_fragment) = if is_v4 { (id, dont_fragment) } else { (0, true) };
        let ip = Ip { source, destination, ttl, tos, id, dont_fragment, fragment: None };
        // No more packets than the kernel makes of datagrams.
        let size = size.max(len.div_ceil(60) as u16);
        let payload: Vec<u8> = (0..len).map(|at| byte.wrapping_add((at % 251) as u8)).collect();
        let frame = Frame { ip, l4, payload: Payload::unsaid(len as u32) };
        Super { frame, payload, size, flow_label, reserved: reserved.unwrap_or(0) }
    })
}

/// What is written for some packets: frames with their headers.
fn merged(packets: &[Box<Packet>]) -> Vec<(Header, Vec<u8>)> {
    let (mut frames, mut rest) = (Vec::new(), packets);
    while !rest.is_empty() {
        let group = Group::first_of(rest, true);
        let (mut headers, mut payload): (_, Vec<IoSlice>) = (Vec::new(), Vec::new());
        let header = group.write(&mut headers, &mut payload).unwrap();
        assert_eq!(usize::from(header.headers), headers.len());
        payload.iter().for_each(|slice| headers.extend_from_slice(slice));
        frames.push((header, headers));
        rest = &rest[group.len()..];
    }
    frames
}

/// Every packet with its checksums.
fn bytes(packets: &[Box<Packet>]) -> Vec<Vec<u8>> {
    let emit = |packet: &Packet| {
        let mut out = Vec::new();
        packet.emit(&mut out, None).unwrap();
        out
    };
    packets.iter().map(|packet| emit(packet)).collect()
}

/// Whether the kernel would have made a GSO packet of it.
fn is_usual(l4: &L4) -> bool {
    match l4 {
        L4::Tcp(tcp) => tcp.flags.has(Flags::ACK) && tcp.flags.0 & 0b0010_0110 == 0,
        _ => true,
    }
}

proptest! {
    #[test]
    fn cut_and_merged_it_is_what_it_was(frame in frames()) {
        let packets = frame.packets();
        prop_assert_eq!(packets.len(), frame.payload.len().div_ceil(frame.size.into()));
        if is_usual(&frame.frame.l4) {
            let frames = merged(&packets);
            prop_assert_eq!(frames.len(), 1);
            prop_assert_eq!(&frames[0].1, &frame.bytes());
            let size = frames[0].0.segments.map(|segments| segments.size);
            prop_assert_eq!(size, (packets.len() > 1).then_some(frame.size));
        }
    }

    /// Whatever is lost, swapped or changed between, the frames that are written are cut into just those packets.
    #[test]
    fn merging_changes_nothing(
        frames in vec(frames(), 1..4),
        is_same_flow in any::<bool>(),
        lost in vec(any::<bool>(), 200),
        swapped in vec(any::<[prop::sample::Index; 2]>(), 0..3),
        marked in of(any::<prop::sample::Index>()),
    ) {
        let mut frames = frames;
        if is_same_flow {
            for at in 1..frames.len() {
                let (last, payload) = (frames[at - 1].clone(), std::mem::take(&mut frames[at].payload));
                let count = last.payload.len().div_ceil(last.size.into()) as u16;
                frames[at] = Super { payload, ..last.clone() };
                frames[at].frame.payload.len = frames[at].payload.len() as u32;
                frames[at].size = last.size.max(frames[at].payload.len().div_ceil(60) as u16);
                if last.frame.ip.source.is_ipv4() {
                    frames[at].frame.ip.id = last.frame.ip.id.wrapping_add(count);
                }
                if let L4::Tcp(tcp) = &mut frames[at].frame.l4 {
                    tcp.seq = tcp.seq.wrapping_add(last.payload.len() as u32);
                }
            }
        }
        let mut packets: Vec<_> = frames.iter().flat_map(Super::packets).collect();
        let mut keep = lost.iter().cycle();
        packets.retain(|_| *keep.next().unwrap());
        if !packets.is_empty() {
            for [one, other] in swapped {
                let (one, other) = (one.index(packets.len()), other.index(packets.len()));
                packets.swap(one, other);
            }
            if let Some(marked) = marked {
                let at = marked.index(packets.len());
                packets[at].frame.ip.tos |= 3;
            }
        }
        let again: Vec<_> = merged(&packets)
            .into_iter()
            .flat_map(|(header, bytes)| cut(&bytes, header.segments.map(|segments| segments.size)))
            .collect();
        prop_assert_eq!(bytes(&again), bytes(&packets));
    }
}

#[test]
fn what_lies_in_one_piece_is_written_in_one_piece() {
    let ip = |host| IpAddr::from([10, 0, 0, host]);
    let ip = Ip { source: ip(1), destination: ip(2), ttl: 64, tos: 0, id: 7, dont_fragment: true, fragment: None };
    let tcp = Tcp { source_port: 1, destination_port: 2, flags: Flags::ACK, ..Tcp::BLANK };
    let frame = Frame { ip, l4: L4::Tcp(tcp), payload: Payload::unsaid(3500) };
    let packets = Super { frame, payload: vec![1; 3500], size: 1000, flow_label: 0, reserved: 0 }.packets();
    for (packets, slices) in [(&packets[..], 1), (&packets[1..3], 1), (&packets[3..], 1)] {
        let (mut headers, mut payload) = (Vec::new(), Vec::new());
        let group = Group::first_of(packets, true);
        assert_eq!(group.len(), packets.len());
        group.write(&mut headers, &mut payload).unwrap();
        assert_eq!(payload.len(), slices);
    }
}
