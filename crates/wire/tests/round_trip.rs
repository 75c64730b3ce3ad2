//! parse(emit(x)) = x for whatever can be written, and no bytes at all make parsing panic.

use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use std::net::IpAddr;
use wire::mptcp::{
    AddAddr, DataNumber, Dss, Mapping, MpCapable, MpFail, MpFastClose, MpJoin, MpPrio, MpTcpRst, Mptcp, RemoveAddr,
    dss_checksum, dss_checksum_of_pattern,
};
use wire::{Content, Flags, Fragment, Frame, Ip, L4, Options, Packet, Payload, SackBlocks, Tcp, TcpOption, pattern};

fn capable() -> impl Strategy<Value = MpCapable> {
    (0..16_u8, any::<u8>(), any::<(u64, u64, u16, u16)>(), 0..5).prop_map(|(version, flags, values, form)| MpCapable {
        version,
        flags,
        sender_key: (form >= 1).then_some(values.0),
        receiver_key: (form >= 2).then_some(values.1),
        data_len: (form >= 3).then_some(values.2),
        checksum: (form >= 4).then_some(values.3),
    })
}

fn join() -> impl Strategy<Value = MpJoin> {
    prop_oneof![
        any::<(bool, u8, u32, u32)>().prop_map(|(backup, address_id, token, nonce)| MpJoin::Syn {
            backup,
            address_id,
            token,
            nonce
        }),
        any::<(bool, u8, u64, u32)>().prop_map(|(backup, address_id, hmac, nonce)| MpJoin::SynAck {
            backup,
            address_id,
            hmac,
            nonce
        }),
        any::<[u8; 20]>().prop_map(|hmac| MpJoin::Ack { hmac }),
    ]
}

fn number() -> impl Strategy<Value = DataNumber> {
    prop_oneof![any::<u64>().prop_map(DataNumber::Long), any::<u32>().prop_map(DataNumber::Short)]
}

fn dss() -> impl Strategy<Value = Dss> {
    let mapping = (number(), any::<u32>(), any::<u16>(), any::<Option<u16>>())
        .prop_map(|(data_seq, subflow_seq, len, checksum)| Mapping { data_seq, subflow_seq, len, checksum });
    (of(number()), of(mapping), any::<bool>()).prop_map(|(data_ack, mapping, data_fin)| Dss {
        data_ack,
        mapping,
        data_fin,
    })
}

fn add_addr() -> impl Strategy<Value = AddAddr> {
    any::<(bool, bool, u8, IpAddr, Option<u16>, Option<u64>)>().prop_map(
        |(old, echo, address_id, address, port, hmac)| AddAddr {
            version: if old { 0 } else { 1 },
            echo: echo && !old,
            address_id,
            address,
            port,
            hmac,
        },
    )
}

/// Options without borrowed bytes.
fn option() -> impl Strategy<Value = TcpOption<'static>> {
    let mptcp = prop_oneof![
        capable().prop_map(Mptcp::Capable),
        join().prop_map(Mptcp::Join),
        dss().prop_map(Mptcp::Dss),
        add_addr().prop_map(Mptcp::AddAddr),
        vec(any::<u8>(), 1..=37).prop_map(|ids| Mptcp::RemoveAddr(RemoveAddr::new(&ids).unwrap())),
        any::<(bool, Option<u8>)>().prop_map(|(backup, address_id)| Mptcp::Prio(MpPrio { backup, address_id })),
        any::<u64>().prop_map(|data_seq| Mptcp::Fail(MpFail { data_seq })),
        any::<u64>().prop_map(|receiver_key| Mptcp::FastClose(MpFastClose { receiver_key })),
        (0..16_u8, any::<u8>()).prop_map(|(flags, reason)| Mptcp::TcpRst(MpTcpRst { flags, reason })),
    ];
    prop_oneof![
        4 => mptcp.prop_map(TcpOption::Mptcp),
        1 => any::<u16>().prop_map(TcpOption::MaximumSegmentSize),
        1 => any::<u8>().prop_map(TcpOption::WindowScale),
        1 => Just(TcpOption::SackPermitted),
        1 => vec(any::<(u32, u32)>(), 1..=4).prop_map(|blocks| TcpOption::Sack(SackBlocks::new(&blocks))),
        1 => any::<(u32, u32)>().prop_map(|(value, echo)| TcpOption::Timestamps { value, echo }),
    ]
}

/// As many of some options as fit.
fn options() -> impl Strategy<Value = Options> {
    vec(option(), 0..5).prop_map(|list| {
        let mut options = Options::NONE;
        for option in list {
            let _ = options.push(&option);
        }
        options
    })
}

fn tcp() -> impl Strategy<Value = L4> {
    (any::<(u16, u16, u32, u32, u8, u16, u16)>(), options()).prop_map(|(fields, options)| {
        let (source_port, destination_port, seq, ack, flags, window, urgent) = fields;
        L4::Tcp(Tcp { source_port, destination_port, seq, ack, flags: Flags(flags), window, urgent, options })
    })
}

fn ip() -> impl Strategy<Value = Ip> {
    let addresses = prop_oneof![
        any::<[std::net::Ipv4Addr; 2]>().prop_map(|pair| pair.map(IpAddr::from)),
        any::<[std::net::Ipv6Addr; 2]>().prop_map(|pair| pair.map(IpAddr::from)),
    ];
    let fragment = of((0..8192_u16, any::<bool>())).prop_map(|piece| {
        piece.filter(|&(eights, more)| eights > 0 || more).map(|(eights, more)| Fragment { offset: eights * 8, more })
    });
    (addresses, any::<(u8, u8, u16, bool)>(), fragment).prop_map(|([source, destination], fields, fragment)| {
        let (ttl, tos, id, dont_fragment) = fields;
        let (id, dont_fragment) = if source.is_ipv4() { (id, dont_fragment) } else { (0, true) };
        Ip { source, destination, ttl, tos, id, dont_fragment, fragment }
    })
}

/// Frames that can be written, and their payloads.
fn frame() -> impl Strategy<Value = (Frame, Vec<u8>)> {
    let others = prop_oneof![
        Just(L4::Other(47)),
        Just(L4::Other(6)),
        any::<(u16, u16)>().prop_map(|(source_port, destination_port)| L4::Udp { source_port, destination_port }),
        any::<(u8, u8, [u8; 4])>().prop_map(|(kind, code, rest)| L4::Icmp { kind, code, rest }),
    ];
    (ip(), tcp(), others, vec(any::<u8>(), 0..2000)).prop_map(|(ip, tcp, other, payload)| {
        let header_is_here = ip.fragment.is_none_or(|piece| piece.offset == 0);
        let l4 = match other {
            L4::Other(6) if header_is_here => tcp,
            L4::Udp { .. } | L4::Icmp { .. } if ip.fragment.is_some() => L4::Other(17),
            other => other,
        };
        (Frame { ip, l4, payload: Payload::unsaid(payload.len() as u32) }, payload)
    })
}

/// Whether the ones' complement sum over a TCP segment and its pseudo-header comes out right (RFC 9293 §3.1).
fn checksum_is_right(frame: &Frame, packet: &[u8]) -> bool {
    let (at, addresses) = if frame.ip.source.is_ipv4() { (20, 12..20) } else { (40, 8..40) };
    let at = if frame.ip.source.is_ipv6() && frame.ip.fragment.is_some() { at + 8 } else { at };
    let segment = &packet[at..];
    let padded = [segment, &[0][..segment.len() % 2]].concat();
    let words = [&packet[addresses], &padded, &(segment.len() as u32).to_be_bytes(), &[0, 6]].concat();
    let sum = words.chunks(2).fold(0_u32, |sum, word| sum + u32::from(word[0]) * 256 + u32::from(word[1]));
    sum.is_multiple_of(0xffff) // ones' complement has two zeros, and a sum of words that are not all zero is ffff
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn an_option(option in option()) {
        let mut options = Options::NONE;
        options.push(&option).unwrap();
        prop_assert_eq!(options.as_bytes().len() % 4, 0);
        prop_assert_eq!(options.iter().collect::<Vec<_>>(), [Ok(option)]);
    }

    #[test]
    fn an_option_nobody_knows(kind in 31_u8.., subtype in 9..16_u8, low in 0..16_u8, data in vec(any::<u8>(), 0..=37)) {
        let data = [vec![subtype << 4 | low], data].concat();
        for option in [TcpOption::Unknown { kind, data: &data }, TcpOption::Mptcp(Mptcp::Other { subtype, data: &data })] {
            let mut options = Options::NONE;
            options.push(&option).unwrap();
            prop_assert_eq!(options.iter().collect::<Vec<_>>(), [Ok(option)]);
        }
    }

    #[test]
    fn several_options(list in vec(option(), 0..6)) {
        let mut options = Options::NONE;
        let fitted: Vec<_> = list.into_iter().filter(|option| options.push(option).is_ok()).map(Ok).collect();
        prop_assert_eq!(options.iter().collect::<Vec<_>>(), fitted);
    }

    #[test]
    fn a_frame((frame, payload) in frame()) {
        let mut packet = Vec::new();
        frame.emit(&payload, &mut packet).unwrap();
        prop_assert_eq!(Frame::parse(&packet, packet.len() as u32), Ok(frame));
        if matches!(frame.l4, L4::Tcp(_)) {
            prop_assert!(checksum_is_right(&frame, &packet));
        }
    }

    /// Cut in the payload, nothing changes; cut in the options, those that are there stay.
    #[test]
    fn a_cut_frame((frame, payload) in frame(), keep in any::<prop::sample::Index>()) {
        let mut packet = Vec::new();
        frame.emit(&payload, &mut packet).unwrap();
        let keep = keep.index(packet.len() + 1);
        if keep + payload.len() >= packet.len() {
            prop_assert_eq!(Frame::parse(&packet[..keep], packet.len() as u32), Ok(frame));
        } else if let (Ok(Frame { l4: L4::Tcp(cut), .. }), L4::Tcp(whole)) =
            (Frame::parse(&packet[..keep], packet.len() as u32), frame.l4)
        {
            prop_assert!(whole.options.as_bytes().starts_with(cut.options.as_bytes()));
        }
    }

    #[test]
    fn a_frame_without_its_payload((frame, payload) in frame()) {
        let (mut headers, mut zeros) = (Vec::new(), Vec::new());
        frame.emit(&[], &mut headers).unwrap();
        frame.emit(&vec![0; payload.len()], &mut zeros).unwrap();
        prop_assert!(zeros.starts_with(&headers));
        prop_assert_eq!(zeros.len(), headers.len() + payload.len());
    }

    /// A packet is the frame with its bytes; cut, it is the beginning of the whole, whatever its payload is.
    #[test]
    fn a_packet((frame, bytes) in frame(), position in any::<u32>(), is_pattern in any::<bool>(), snap in 0..2200_usize) {
        let mut packet = Packet { frame, body: Some(bytes.clone().into()) };
        let mut expected = bytes;
        if is_pattern {
            packet.frame.payload.content = Content::Pattern(position.into());
            packet.body = None;
            pattern::fill(position.into(), &mut expected);
        }
        let (mut whole, mut written, mut cut) = (Vec::new(), vec![7], vec![7]);
        frame.emit(&expected, &mut whole).unwrap();
        packet.emit(&mut written, None).unwrap();
        packet.emit(&mut cut, Some(snap)).unwrap();
        prop_assert_eq!(&written[1..], &whole);
        prop_assert_eq!(&cut[1..], &whole[..snap.min(whole.len())]);
        prop_assert_eq!(whole.len() as u32, packet.frame.wire_len());
    }

    #[test]
    fn a_dss_checksum(seq in any::<(u64, u32, u16)>(), position in any::<u32>(), len in 0..3000_usize) {
        let mut payload = vec![0; len];
        pattern::fill(position.into(), &mut payload);
        let of_bytes = dss_checksum(seq.0, seq.1, seq.2, &payload);
        let of_pattern = dss_checksum_of_pattern(seq.0, seq.1, seq.2, position.into(), len as u32);
        prop_assert_eq!(of_bytes, of_pattern);
    }

    #[test]
    fn no_bytes_make_parsing_panic(bytes in vec(any::<u8>(), 0..200), original_len in any::<u32>()) {
        let _ = Frame::parse(&bytes, original_len);
        let _ = Mptcp::parse(&bytes);
        if let Ok(options) = Options::from_bytes(&bytes[..bytes.len().min(40)]) {
            let _ = options.iter().count();
        }
    }

    #[test]
    fn flipped_bytes_are_read_as_something_that_can_be_written_or_not_at_all((frame, payload) in frame(), flips in vec(any::<(prop::sample::Index, u8)>(), 1..6)) {
        let mut packet = Vec::new();
        frame.emit(&payload, &mut packet).unwrap();
        for (at, flip) in flips {
            let at = at.index(packet.len().min(120));
            packet[at] ^= flip;
        }
        let Ok(frame) = Frame::parse(&packet, packet.len() as u32) else { return Ok(()) };
        if let L4::Tcp(tcp) = &frame.l4 {
            let _ = tcp.options.iter().count();
        }
        let mut written = Vec::new();
        if frame.emit(&[], &mut written).is_ok() {
            prop_assert_eq!(Frame::parse(&written, written.len() as u32 + frame.payload.len), Ok(frame));
        }
    }
}
