//! One IP packet behind every link layer that is read.

mod common;

use capture::LinkType;
use common::bytes::*;
use common::*;
use wire::CaptureDirection::{self, Inbound, Outbound};

/// The header, and what stands behind it: the packet at (interface, direction).
type Case<'a> = (u32, &'a [u8], &'a str, Option<CaptureDirection>);

const CASES: &[Case] = &[
    // Ethernet, with none, one, two and four tags, with PPPoE
    (1, &[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0], "", None),
    (1, &[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x81, 0, 0, 5, 8, 0], "", None),
    (1, &[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xa8, 0, 9, 0x81, 0, 0, 5, 8, 0], "", None),
    (
        1,
        &[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xa8, 0, 9, 0x91, 0, 0, 5, 0x92, 0, 0, 1, 0x81, 0, 0, 2, 8, 0],
        "",
        None,
    ),
    (1, &[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0x64, 0x11, 0, 0, 1, 0, 52, 0, 0x21], "", None),
    // raw IP
    (12, &[], "", None),
    (14, &[], "", None),
    (101, &[], "", None),
    (228, &[], "", None),
    // PPP with and without address and control, with a short protocol field
    (9, &[0xff, 3, 0, 0x21], "", None),
    (9, &[0xff, 3, 0x21], "", None),
    (9, &[0, 0x21], "", None),
    (9, &[0x21], "", None),
    (50, &[0xff, 3, 0, 0x21], "", None),
    (51, &[0x11, 0, 0, 1, 0, 52, 0, 0x21], "", None),
    // BSD loopback, either byte order
    (0, &[2, 0, 0, 0], "", None),
    (0, &[0, 0, 0, 2], "", None),
    (108, &[0, 0, 0, 2], "", None),
    // Linux cooked v1: to us, broadcast, to another, from us; with a tag
    (113, &[0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0], "", Some(Inbound)),
    (113, &[0, 1, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0], "", Some(Inbound)),
    (113, &[0, 3, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0], "", None),
    (113, &[0, 4, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0], "", Some(Outbound)),
    (113, &[0, 4, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 0x81, 0, 0, 5, 8, 0], "", Some(Outbound)),
    // Linux cooked v2: the host's number of the interface; with a tag
    (276, &[8, 0, 0, 0, 0, 0, 0, 7, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0], "if7", Some(Inbound)),
    (276, &[8, 0, 0, 0, 0, 0, 1, 2, 0, 1, 4, 6, 2, 0, 0, 0, 0, 1, 0, 0], "if258", Some(Outbound)),
    (276, &[0x81, 0, 0, 0, 0, 0, 0, 7, 0, 1, 4, 6, 2, 0, 0, 0, 0, 1, 0, 0, 0, 5, 8, 0], "if7", Some(Outbound)),
];

#[test]
fn the_packet_behind_every_header_is_found() {
    for (link_type, header, interface, direction) in CASES {
        let frame = [header, &segment(true, 42, 1)[..]].concat();
        let capture = pcap(Little, NANO, *link_type, &[(1, frame)]);
        let mut merge = merge(&[&capture]);
        let expected = (1, (*interface).to_owned(), *direction, 1, 42);
        assert_eq!(observe(&mut merge), [expected], "link type {link_type}, {header:02x?}");
        assert_eq!(merge.statistics()[0].tcp, 1);
    }
}

#[test]
fn ipv6_behind_every_header_that_names_it() {
    let mut packet = vec![0x60, 0, 0, 0, 0, 8, 17, 64];
    packet.resize(48, 0);
    for (link_type, header) in [
        (1, &[0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 2, 0x86, 0xdd][..]),
        (229, &[]),
        (9, &[0, 0x57]),
        (0, &[24, 0, 0, 0]),
        (0, &[0, 0, 0, 28]),
        (108, &[0, 0, 0, 30]),
        (113, &[0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0x86, 0xdd]),
        (276, &[0x86, 0xdd, 0, 0, 0, 0, 0, 7, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0]),
    ] {
        let capture = pcap(Little, NANO, link_type, &[(1, [header, &packet].concat())]);
        let mut merge = merge(&[&capture]);
        assert_eq!(observe(&mut merge).len(), 1, "link type {link_type}");
        assert_eq!(merge.statistics()[0].other_ip, 1);
    }
}

/// Tunnels are named: VXLAN and Geneve by their UDP port, GRE by its protocol number.
#[test]
fn tunnels_are_counted_by_kind() {
    let packet = |protocol: u8, port: u16| {
        let mut packet = vec![0x45, 0, 0, 36, 0, 0, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        packet.extend([0xc0, 0, (port >> 8) as u8, port as u8, 0, 16, 0, 0]);
        packet.resize(36, 0);
        (1, ethernet(&packet))
    };
    let packets = [packet(17, 4789), packet(17, 4789), packet(17, 6081), packet(47, 0), packet(17, 53)];
    let capture = pcap(Little, NANO, 1, &packets);
    let mut merge = merge(&[&capture]);
    observe(&mut merge);
    let found = &merge.statistics()[0];
    assert_eq!((found.other_ip, found.udp), (1, 4));
    assert_eq!(
        found.tunnels.iter().map(|(&kind, &n)| (kind, n)).collect::<Vec<_>>(),
        [("GRE", 1), ("Geneve", 1), ("VXLAN", 2)]
    );
}

#[test]
fn what_is_not_observed_is_counted() {
    let mut fragment = segment(true, 1, 1);
    fragment[6..8].copy_from_slice(&[0, 100]); // fragment offset 800
    let mut broken = segment(true, 1, 1);
    broken[0] = 0x42; // a header of 8 bytes
    let mut file = Pcapng::new(Little);
    file.interface(1, 0, &[]).interface(147, 0, &[]);
    let arp = ethernet(&[0; 28]).iter().enumerate().map(|(i, byte)| if i == 13 { 6 } else { *byte }).collect();
    for frame in [ethernet(&segment(true, 1, 1)), arp, ethernet(&fragment), ethernet(&broken), vec![1, 2, 3]] {
        file.packet(0, 1, &frame, &[]);
    }
    file.packet(1, 1, &[0; 20], &[]);
    // 20 of 64 bytes captured
    let cut = [[0, 0, 0, 20, 64].map(|word| Little.word(word)).concat(), ethernet(&segment(true, 1, 1))[..20].to_vec()];
    file.block(6, &cut.concat());

    let mut merge = merge(&[&file.bytes]);
    assert_eq!(observe(&mut merge).len(), 2);
    let found = &merge.statistics()[0];
    assert_eq!((found.packets, found.tcp, found.other_ip, found.fragments), (7, 1, 1, 1));
    assert_eq!((found.not_ip, found.malformed, found.truncated_headers), (2, 1, 1));
    assert_eq!((found.unsupported, found.unsupported_link_type), (1, Some(LinkType(147))));
    let example = found.malformed_example.as_deref().unwrap();
    assert!(example.starts_with("packet 4: "), "{example}");
}

#[test]
fn cut_options_are_counted_and_their_packet_given() {
    let mut packet = segment(true, 1, 1);
    packet[32] = 0x70; // 8 bytes of options, so 2 of payload
    let mut file = Pcapng::new(Little);
    file.interface(101, 44, &[]);
    for captured in [50, 48, 44, 40] {
        let mut body = [0, 0, 1, captured, 50].map(|word| Little.word(word)).concat();
        body.extend(&packet[..captured as usize]);
        body.resize(body.len().next_multiple_of(4), 0);
        file.block(6, &body);
    }
    let mut merge = merge(&[&file.bytes]);
    assert_eq!(observe(&mut merge).len(), 4);
    let found = &merge.statistics()[0];
    assert_eq!((found.tcp, found.truncated_headers, found.cut_options), (4, 0, 2));
}
