//! Packets byte for byte: as captured, cut, padded, fragmented, with headers in between.

mod common;

use common::bytes;
use wire::{Flags, Fragment, Frame, Ip, L4, Malformed, Options, Payload, Tcp};

/// A SYN of Linux 6.18 that offers MPTCP version 1.
const SYN: &str = "
    45000040 d99b4000 40064a54 0a630101 0a630102
    82101f90 69b28184 00000000 b002faf0 41700000
    020405b4 0402080a ba1f7ed3 00000000 0103030a 1e040101";

/// A DATA_ACK of the same connection's second subflow.
const ACK: &str = "
    4500003c 8d784000 4006957b 0a630102 0a630201
    1f90b385 6e35c795 95ea0c29 a010003f 7c270000
    0101080a 096cc316 b973e63b 1e082001 8572e7e3";

fn tcp(frame: &Frame) -> &Tcp {
    match &frame.l4 {
        L4::Tcp(tcp) => tcp,
        other => panic!("{other:?}"),
    }
}

fn ip(source: &str, destination: &str) -> Ip {
    Ip {
        source: source.parse().unwrap(),
        destination: destination.parse().unwrap(),
        ttl: 64,
        tos: 0,
        id: 0,
        dont_fragment: true,
        fragment: None,
    }
}

/// A TCP header without options and with `payload` behind it.
fn segment(payload: &str) -> String {
    format!("1f90b385 6e35c795 95ea0c29 5010003f 00000000 {payload}")
}

/// IPv6 from ::1 to ::2 around `rest`.
fn v6(next_header: u8, rest: &str) -> Vec<u8> {
    let rest = bytes(rest);
    let head = format!("60000000 {:04x} {next_header:02x} 40 {:032x} {:032x}", rest.len(), 1, 2);
    [bytes(&head), rest].concat()
}

#[test]
fn a_syn() {
    let packet = bytes(SYN);
    let frame = Frame::parse(&packet, 64).unwrap();
    let expected = Tcp {
        source_port: 33296,
        destination_port: 8080,
        seq: 0x69b2_8184,
        ack: 0,
        flags: Flags::SYN,
        window: 64240,
        urgent: 0,
        options: Options::from_bytes(&packet[40..]).unwrap(),
    };
    assert_eq!(frame.ip, Ip { id: 0xd99b, ..ip("10.99.1.1", "10.99.1.2") });
    assert_eq!(frame.l4, L4::Tcp(expected));
    assert_eq!(frame.payload.len, 0);
    // The checksum of this SYN was left to the (virtual) card.
    let mut written = Vec::new();
    frame.emit(&[], &mut written).unwrap();
    assert_eq!(written[..36], packet[..36]);
    assert_eq!(written[38..], packet[38..]);
}

#[test]
fn checksums() {
    // Sent by UML kernels that compute checksums: tcpdump's tests/mptcp-v0.pcap, packet 1.
    let packet = bytes(UML_SYN);
    let mut written = Vec::new();
    Frame::parse(&packet, packet.len() as u32).unwrap().emit(&[], &mut written).unwrap();
    assert_eq!(written, packet);
}

const UML_SYN: &str = "
    45000048 32e94000 4006f1c0 0a020102 0a010102
    8c790016 ad989359 00000000 d0023908 da990000
    020405b4 0402080a ffffa1b0 00000000 01030306 1e0c0081 9c9eabd1 e46a33b2";

#[test]
fn padding_of_ethernet_does_not_count() {
    let padded = [bytes(&format!("45000028 00004000 40060000 0a630101 0a630102 {}", segment(""))), vec![0; 6]].concat();
    let frame = Frame::parse(&padded, 46).unwrap();
    assert_eq!(frame.payload.len, 0);
    // The same where the padding would be read as options: the header says that there are none.
    assert_eq!(tcp(&frame).options, Options::NONE);
}

#[test]
fn a_cut_payload_is_no_error() {
    let mut packet = bytes(ACK);
    packet[2..4].copy_from_slice(&1500_u16.to_be_bytes());
    assert_eq!(Frame::parse(&packet, 1500).unwrap().payload.len, 1440);
    // Some tools write a wrong original length; the IP header knows better.
    assert_eq!(Frame::parse(&packet, 60).unwrap().payload.len, 1440);
}

#[test]
fn cut_options_are_kept_as_far_as_they_are_there() {
    let packet = bytes(ACK);
    for cut in 40..60 {
        let frame = Frame::parse(&packet[..cut], 60).unwrap();
        assert_eq!(tcp(&frame).options.as_bytes(), &packet[40..cut]);
        assert!(tcp(&frame).options.is_cut());
        assert_eq!(tcp(&frame).options.wire_len(), 20);
        assert_eq!(frame.payload.len, 0);
    }
    let timestamps = Frame::parse(&packet[..54], 60).unwrap();
    let options: Vec<_> = tcp(&timestamps).options.iter().collect();
    assert!(matches!(options[..], [Ok(wire::TcpOption::Timestamps { .. }), Err(Malformed::Short { .. })]));
}

#[test]
fn cut_headers_are_errors() {
    for packet in [bytes(ACK), v6(6, &segment(""))] {
        let (ip, tcp) = if packet[0] == 0x45 { (20, 40) } else { (40, 60) };
        for cut in 0..tcp {
            let error = Frame::parse(&packet[..cut], packet.len() as u32).unwrap_err();
            let Malformed::Short { header, need, have } = error else { panic!("{error}") };
            assert_eq!(header == "TCP header", cut >= ip, "{error}");
            assert!(have < need);
        }
    }
}

#[test]
fn a_length_of_0_is_left_to_segmentation_offload() {
    let mut packet = bytes(ACK);
    packet[2..4].fill(0);
    assert_eq!(Frame::parse(&packet, 64_060).unwrap().payload.len, 64_000);
    let mut packet = v6(6, &segment(""));
    packet[4..6].fill(0);
    assert_eq!(Frame::parse(&packet, 190_060).unwrap().payload.len, 190_000);
}

#[test]
fn lengths_that_lie() {
    let with = |at: usize, value: u8| {
        let mut packet = bytes(ACK);
        packet[at] = value;
        Frame::parse(&packet, 60).map_err(|error| error.to_string())
    };
    assert_eq!(with(0, 0x44), Err("IPv4 header: header length 4 is impossible".into()));
    assert_eq!(with(0, 0x55), Err("IP: version 5 is impossible".into()));
    assert_eq!(with(3, 19), Err("IPv4 header: total length 19 is impossible".into()));
    assert_eq!(with(32, 0x40), Err("TCP header: data offset 4 is impossible".into()));
    assert_eq!(with(32, 0xb0), Err("TCP header: data offset 11 is impossible".into()));
    assert_eq!(with(3, 39), Err("TCP header is cut: 19 of 20 bytes".into()));
}

#[test]
fn ip_options_are_skipped() {
    // Router alert (RFC 2113).
    let packet = bytes(&format!("46000030 00070000 3f060000 0a630101 0a630102 94040000 {}", segment("01020304")));
    let frame = Frame::parse(&packet, 48).unwrap();
    assert_eq!(frame.ip, Ip { ttl: 63, id: 7, dont_fragment: false, ..ip("10.99.1.1", "10.99.1.2") });
    assert_eq!((tcp(&frame).source_port, frame.payload.len), (8080, 4));
}

#[test]
fn extension_headers_are_skipped() {
    let padding = "0104 00000000"; // PadN of 6 bytes (RFC 8200 §4.2)
    let routing = "02 00 00000000 00000000000000000000000000000000"; // type 2 (RFC 6275 §6.4)
    let ah = format!("06 04 0000 00000001 00000001 {:024x}", 0); // RFC 4302 §2
    let rest = format!("2b 00 {padding} 3c 02 {routing} 33 00 {padding} {ah} {}", segment("010203"));
    let frame = Frame::parse(&v6(0, &rest), 0).unwrap();
    assert_eq!(frame.ip, ip("::1", "::2"));
    assert_eq!((tcp(&frame).seq, frame.payload.len), (0x6e35_c795, 3));
}

#[test]
fn the_authentication_header_of_ipv4_is_skipped() {
    let ah = format!("06 04 0000 00000001 00000001 {:024x}", 0);
    let packet = bytes(&format!("45000041 00004000 40330000 0a630101 0a630102 {ah} {}", segment("09")));
    let frame = Frame::parse(&packet, 65).unwrap();
    assert_eq!((tcp(&frame).source_port, frame.payload.len), (8080, 1));
}

#[test]
fn fragments_are_named() {
    let first = bytes(&format!("45000030 00072000 40060000 0a630101 0a630102 {}", segment("0102030405060708")));
    let frame = Frame::parse(&first, 48).unwrap();
    assert_eq!(frame.ip.fragment, Some(Fragment { offset: 0, more: true }));
    assert_eq!((tcp(&frame).source_port, frame.payload.len), (8080, 8));

    let last = bytes("45000018 00070004 40060000 0a630101 0a630102 01020304");
    let frame = Frame::parse(&last, 24).unwrap();
    assert_eq!(frame.ip.fragment, Some(Fragment { offset: 32, more: false }));
    assert_eq!((frame.l4, frame.payload), (L4::Other(6), Payload::unsaid(4)));
}

#[test]
fn fragments_of_ipv6_are_named() {
    let first = v6(44, &format!("0600 0001 00000007 {}", segment("0102030405060708")));
    let frame = Frame::parse(&first, 0).unwrap();
    assert_eq!(frame.ip.fragment, Some(Fragment { offset: 0, more: true }));
    assert_eq!((tcp(&frame).source_port, frame.payload.len), (8080, 8));

    let last = Frame::parse(&v6(44, "0600 0020 00000007 01020304"), 0).unwrap();
    assert_eq!(last.ip.fragment, Some(Fragment { offset: 32, more: false }));
    assert_eq!((last.l4, last.payload.len), (L4::Other(6), 4));

    // An atomic fragment is whole (RFC 6946).
    let whole = Frame::parse(&v6(44, &format!("0600 0000 00000007 {}", segment(""))), 0).unwrap();
    assert_eq!((whole.ip.fragment, tcp(&whole).source_port), (None, 8080));
}

#[test]
fn other_protocols_have_a_length() {
    let frame = Frame::parse(&bytes("4500001c 00004000 402f0000 0a630101 0a630102 0000080000000000"), 28).unwrap();
    assert_eq!((frame.l4, frame.payload.len), (L4::Other(47), 8));
}

#[test]
fn udp_and_icmp() {
    let udp = L4::udp(40000, 53);
    let icmp = L4::Icmp { kind: 3, code: 4, rest: [0, 0, 0x05, 0xdc] };
    for (l4, ip, protocol, payload) in [
        (udp, ip("10.99.1.1", "10.99.1.2"), 17, &b"abc"[..]),
        (udp, ip("::1", "::2"), 17, b"abcd"),
        (icmp, ip("10.99.1.1", "10.99.1.2"), 1, b"quoted header"),
        (icmp, ip("::1", "::2"), 58, b""),
    ] {
        let frame = Frame { ip, l4, payload: Payload::unsaid(payload.len() as u32) };
        let mut packet = Vec::new();
        frame.emit(payload, &mut packet).unwrap();
        assert_eq!(packet.len() as u32, frame.wire_len());
        assert_eq!(Frame::parse(&packet, packet.len() as u32), Ok(frame));
        assert!(internet_checksum_is_right(&packet, protocol), "{packet:02x?}");
    }
}

/// Over payload, transport header and, but for ICMP in IPv4, the pseudo-header.
fn internet_checksum_is_right(packet: &[u8], protocol: u8) -> bool {
    let (addresses, segment) =
        if packet[0] >> 4 == 4 { (&packet[12..20], &packet[20..]) } else { packet[8..].split_at(32) };
    let pseudo = [addresses, &(segment.len() as u32).to_be_bytes(), &[0, protocol]].concat();
    let summed = if protocol == 1 { segment.to_vec() } else { [&pseudo, segment].concat() };
    let word = |word: &[u8]| u32::from(word[0]) << 8 | word.get(1).map_or(0, |&low| u32::from(low));
    summed.chunks(2).map(word).sum::<u32>().is_multiple_of(0xffff)
}

#[test]
fn what_looks_like_udp_or_icmp_and_is_none_has_no_ports() {
    for (packet, protocol, len) in [
        // Cut in the header, a length that is not IP's, a fragment.
        ("4500001c 00004000 40110000 0a630101 0a630102 00350035", 17, 8),
        ("4500001c 00004000 40110000 0a630101 0a630102 0035003500090000", 17, 8),
        ("4500001c 00002000 40110000 0a630101 0a630102 0035003500080000", 17, 8),
        ("45000018 00004000 40010000 0a630101 0a630102 08000000", 1, 4),
        // ICMPv6 does not go with IPv4.
        ("4500001c 00004000 403a0000 0a630101 0a630102 8000000000000000", 58, 8),
    ] {
        let frame = Frame::parse(&bytes(packet), 28).unwrap();
        assert_eq!((frame.l4, frame.payload.len), (L4::Other(protocol), len));
    }
}

#[test]
fn what_would_be_read_back_otherwise_is_refused() {
    let good = Frame::parse(&bytes(ACK), 60).unwrap();
    let ip = |change: fn(&mut Ip)| {
        let mut frame = good;
        change(&mut frame.ip);
        frame
    };
    let cut = Options::from_bytes(&[1, 1, 1]).unwrap();
    for (frame, error) in [
        (ip(|ip| ip.source = "::1".parse().unwrap()), "IP header: addresses of two families cannot be written"),
        (
            ip(|ip| ip.fragment = Some(Fragment { offset: 8, more: true })),
            "frame: TCP header in a later fragment cannot be written",
        ),
        (ip(|ip| ip.fragment = Some(Fragment { offset: 0, more: false })), "IP header: fragment cannot be written"),
        (Frame { l4: L4::Other(6), ..good }, "frame: protocol cannot be written"),
        (
            Frame { l4: L4::udp(1, 2), ..ip(|ip| ip.fragment = Some(Fragment { offset: 0, more: true })) },
            "frame: UDP header in a fragment cannot be written",
        ),
        (Frame { payload: Payload::unsaid(65_500), ..good }, "IPv4 header: more than 65535 bytes cannot be written"),
        (Frame { payload: Payload::unsaid(u32::MAX), ..good }, "frame: more than 65535 bytes cannot be written"),
        (
            Frame { l4: L4::Tcp(Tcp { options: cut, ..*tcp(&good) }), ..good },
            "TCP header: options that end off a 32-bit boundary cannot be written",
        ),
    ] {
        let mut out = vec![7];
        assert_eq!(frame.emit(&[], &mut out).unwrap_err().to_string(), error);
        assert_eq!(out, [7], "nothing is left behind");
    }
    assert!(good.emit(&[0], &mut Vec::new()).is_err(), "more payload than the frame says");
}
