//! The same small capture in every format.

mod common;

use std::io::Write;

use capture::{Interface, LinkType, Merge};
use common::bytes::*;
use common::tools::{directory, run, text};
use common::*;
use wire::CaptureDirection::{Inbound, Outbound};

/// The conversation in Ethernet frames.
fn frames() -> Vec<(i64, Vec<u8>)> {
    conversation().into_iter().map(|(at, packet)| (at, ethernet(&packet))).collect()
}

#[test]
fn pcap_in_both_byte_orders_and_resolutions() {
    for order in [Little, Big] {
        assert_eq!(times(&pcap(order, MICRO, 1, &frames())), expected(1000), "{order:?}");
        assert_eq!(times(&pcap(order, NANO, 1, &frames())), expected(1), "{order:?}");
        // The upper bits of the link type tell of a frame check sequence.
        assert_eq!(times(&pcap(order, NANO, 0x2400_0001, &frames())), expected(1), "{order:?}");
    }
}

#[test]
fn pcapng_in_both_byte_orders() {
    for order in [Little, Big] {
        assert_eq!(times(&pcapng(order, &frames())), expected(1000), "{order:?}");
    }
}

#[test]
fn pcapng_resolutions_and_offsets() {
    for order in [Little, Big] {
        let mut file = Pcapng::new(order);
        file.interface(101, 0, &[(2, b"nano"), (9, &[9])]);
        file.interface(101, 0, &[(2, b"binary"), (9, &[0x80 | 20])]);
        file.interface(101, 0, &[(2, b"offset"), (9, &[3]), (14, &order.double(1000))]);
        file.interface(101, 0, &[(2, b"pico"), (9, &[12])]);
        let packet = segment(true, 1, 1);
        file.packet(0, 1, &packet, &[]);
        file.packet(1, (1 << 20) + (1 << 19), &packet, &[]);
        file.packet(3, 1_600_000_000_999, &packet, &[]);
        file.packet(2, 5, &packet, &[]);
        let seen: Vec<_> =
            observe(&mut merge(&[&file.bytes])).into_iter().map(|(at, interface, ..)| (at, interface)).collect();
        let expected = [(1, "nano"), (1_500_000_000, "binary"), (1_600_000_000, "pico"), (1_000_005_000_000, "offset")];
        assert_eq!(seen, expected.map(|(at, interface)| (at, interface.to_owned())));
    }
}

#[test]
fn pcapng_sections_count_their_interfaces_anew() {
    let mut file = Pcapng::new(Little);
    file.interface(101, 96, &[(2, b"wifi")]).interface(1, 0, &[(2, b"lte")]);
    file.packet(1, 1, &ethernet(&segment(true, 1, 1)), &[]);
    file.section(Big).interface(101, 0, &[(2, b"5g"), (9, &[9])]);
    file.packet(0, 2000, &segment(true, 2, 1), &[]);
    file.section(Little); // an empty section
    let mut merge = merge(&[&file.bytes]);
    let seen: Vec<_> =
        observe(&mut merge).into_iter().map(|(at, interface, _, record, _)| (at, interface, record)).collect();
    assert_eq!(seen, [(1000, "lte".to_owned(), 1), (2000, "5g".to_owned(), 2)]);
    let statistics = &merge.statistics()[0];
    let named = |name: &str, link_type, snap_length, resolution_ns| Interface {
        name: name.into(),
        link_type,
        snap_length,
        resolution_ns,
        drops: None,
    };
    let expected = [
        named("wifi", LinkType::RAW, 96, 1000),
        named("lte", LinkType::ETHERNET, 0, 1000),
        named("5g", LinkType::RAW, 0, 1),
    ];
    assert_eq!(statistics.interfaces, expected);
    assert_eq!((statistics.clock_resolution_ns, statistics.snap_length), (Some(1000), Some(96)));
    assert_eq!(statistics.cut, None);
}

#[test]
fn pcapng_directions_drops_and_unknown_blocks() {
    for order in [Little, Big] {
        let mut file = Pcapng::new(order);
        let packet = segment(true, 1, 1);
        file.interface(101, 0, &[(2, b"wifi")]).interface(101, 0, &[(2, b"lte")]).interface(101, 0, &[]);
        file.packet(0, 1, &packet, &[(1, b"a comment"), (2, &order.word(1))]);
        file.block(0x0bad, &[1, 2, 3, 4, 5]); // of a local kind
        file.packet(0, 2, &packet, &[(2, &order.word(2)), (4, &order.double(3))]);
        file.packet(1, 3, &packet, &[(4, &order.double(2))]);
        file.packet(1, 4, &packet, &[(4, &order.double(5))]);
        file.block(4, &[0; 4]); // name resolution
        let statistics = [
            &order.word(0)[..],
            &[0; 8],
            &file.options(&[(4, &order.double(100)), (5, &order.double(40)), (7, &order.double(2))]),
        ]
        .concat();
        file.block(5, &statistics);
        let mut merge = merge(&[&file.bytes]);
        let directions: Vec<_> = observe(&mut merge).into_iter().map(|(_, _, direction, ..)| direction).collect();
        assert_eq!(directions, [Some(Inbound), Some(Outbound), None, None]);
        let drops: Vec<_> = merge.statistics()[0].interfaces.iter().map(|interface| interface.drops).collect();
        assert_eq!(drops, [Some(42), Some(7), None], "{order:?}");
    }
}

#[test]
fn pcapng_simple_and_obsolete_packets() {
    for order in [Little, Big] {
        let packet = segment(true, 1, 1);
        let length = order.word(packet.len() as u32);
        let mut file = Pcapng::new(order);
        file.interface(101, 44, &[]).interface(101, 0, &[]);
        // Obsolete: interface, drops, time, lengths.
        let obsolete = [&order.half(1)[..], &order.half(3), &order.word(0), &order.word(77), &length, &length, &packet];
        file.block(2, &obsolete.concat());
        // Simple: no time of its own, cut at the snap length of the first interface.
        file.block(3, &[&length[..], &packet[..44]].concat());
        let mut reader = reader(&file.bytes).unwrap();
        let first = reader.next().unwrap().unwrap();
        assert_eq!((first.at.as_nanos(), first.interface, first.data, first.record), (77_000, 1, &packet[..], 1));
        let second = reader.next().unwrap().unwrap();
        assert_eq!((second.at.as_nanos(), second.interface, second.data), (77_000, 0, &packet[..44]));
        assert_eq!((second.original_len, second.record), (packet.len() as u32, 2));
        assert_eq!(reader.next().unwrap(), None);
        assert_eq!(reader.interfaces()[1].drops, Some(3));
        assert!(reader.cut().is_none());
    }
}

#[test]
fn a_header_without_packets_is_a_capture() {
    for capture in [pcap_header(Little, MICRO, 1), Pcapng::new(Big).bytes] {
        let mut merge = merge(&[&capture]);
        assert_eq!(observe(&mut merge), []);
        assert_eq!((merge.statistics()[0].packets, &merge.statistics()[0].cut), (0, &None));
    }
}

#[test]
fn gzip_and_zstd_in_one_or_several_members() {
    let plain = pcap(Little, NANO, 1, &frames());
    let (front, back) = plain.split_at(plain.len() / 2);
    let gzip = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let zstd = |bytes: &[u8]| zstd::encode_all(bytes, 3).unwrap();
    for compressed in
        [gzip(&plain), [gzip(front), gzip(back)].concat(), zstd(&plain), [zstd(front), zstd(back)].concat()]
    {
        let mut reader = reader(&compressed).unwrap();
        let mut packets = 0;
        while reader.next().unwrap().is_some() {
            packets += 1;
        }
        assert_eq!((packets, reader.position(), reader.cut().is_none()), (5, compressed.len() as u64, true));
        assert_eq!(times(&compressed), expected(1));
    }
}

#[test]
fn what_editcap_makes_of_it() {
    let directory = directory("editcap");
    let original = directory.join("original.pcap");
    std::fs::write(&original, pcap(Little, NANO, 1, &frames())).unwrap();
    for (format, step) in [("pcap", 1000), ("nsecpcap", 1), ("pcapng", 1)] {
        let made = directory.join(format);
        if run("editcap", &["-F", format, text(&original), text(&made)]).is_none() {
            return;
        }
        assert_eq!(times(&std::fs::read(&made).unwrap()), expected(step), "{format}");
    }
    let modified = directory.join("modified");
    if run("editcap", &["-F", "modpcap", text(&original), text(&modified)]).is_some() {
        let error = Merge::open(&[modified]).err().expect("refused").to_string();
        assert!(error.contains("\"modified\" pcap") && error.contains("editcap"), "{error}");
    }
}
