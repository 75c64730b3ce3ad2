//! What [`capture::Writer`] writes is read back by us and by Wireshark's tools.

mod common;

use capture::Writer;
use common::tools::{directory, run, text};
use common::*;
use proptest::prelude::*;
use wire::{CaptureDirection, Time};

const START: i64 = 1_700_000_000_123_456_789;

/// Two paths, five packets with and without direction, one of them cut to 44 bytes; drops 3 and 0.
fn written() -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), "client").unwrap();
    let wifi = writer.interface("wifi").unwrap();
    let lte = writer.interface("lte").unwrap();
    let directions = [Some(CaptureDirection::Outbound), Some(CaptureDirection::Inbound), None];
    for i in 0..5u32 {
        let packet = segment(i % 2 == 0, i, 1);
        let bytes = if i == 4 { &packet[..44] } else { &packet };
        let at = Time::from_nanos(START + i64::from(i));
        let interface = if i % 2 == 0 { wifi } else { lte };
        writer.packet(interface, at, directions[i as usize % 3], packet.len() as u32, bytes).unwrap();
    }
    writer.finish(&[3, 0]).unwrap()
}

#[test]
fn we_read_what_we_wrote() {
    let bytes = written();
    let mut merge = merge(&[&bytes]);
    let expected = [
        (0, "client:wifi", Some(CaptureDirection::Outbound)),
        (1, "client:lte", Some(CaptureDirection::Inbound)),
        (2, "client:wifi", None),
        (3, "client:lte", Some(CaptureDirection::Outbound)),
        (4, "client:wifi", Some(CaptureDirection::Inbound)),
    ]
    .map(|(i, interface, direction)| (START + i64::from(i), interface.to_owned(), direction, u64::from(i) + 1, i));
    assert_eq!(observe(&mut merge), expected);
    let found = &merge.statistics()[0];
    assert_eq!(found.cut, None);
    assert_eq!(found.interfaces.iter().map(|one| one.drops).collect::<Vec<_>>(), [Some(3), Some(0)]);
    assert_eq!(found.clock_resolution_ns, Some(1));
}

#[test]
fn without_a_host_names_are_plain_and_drops_may_be_unknown() {
    let mut writer = Writer::new(Vec::new(), "").unwrap();
    let wifi = writer.interface("wifi").unwrap();
    writer.packet(wifi, Time::from_nanos(1), None, 50, &segment(true, 1, 1)).unwrap();
    let bytes = writer.finish(&[]).unwrap();
    let mut merge = merge(&[&bytes]);
    assert_eq!(observe(&mut merge)[0].1, "wifi");
    assert_eq!(merge.statistics()[0].interfaces[0].drops, None);
}

#[test]
fn an_interface_on_which_nothing_passes_is_known() {
    let mut writer = Writer::new(Vec::new(), "client").unwrap();
    let wifi = writer.interface("wifi").unwrap();
    writer.interface("lte").unwrap();
    writer.packet(wifi, Time::from_nanos(1), None, 50, &segment(true, 1, 1)).unwrap();
    let bytes = writer.finish(&[]).unwrap();
    let mut merge = merge(&[&bytes]);
    assert_eq!(observe(&mut merge).len(), 1);
    let names: Vec<&str> = merge.points().iter().map(|point| point.interface.as_str()).collect();
    assert_eq!(names, ["client:wifi", "client:lte"]);
}

#[test]
fn wireshark_reads_what_we_wrote() {
    let file = directory("writer").join("written.pcapng");
    std::fs::write(&file, written()).unwrap();
    let fields =
        ["frame.time_epoch", "frame.interface_name", "frame.packet_flags_direction", "frame.cap_len", "frame.len"];
    let mut arguments = vec!["-n", "-r", text(&file), "-T", "fields"];
    arguments.extend(fields.iter().flat_map(|field| ["-e", field]));
    let Some(printed) = run("tshark", &arguments) else { return };
    let lines: Vec<Vec<&str>> = printed.lines().map(|line| line.split('\t').collect()).collect();
    let expected = [
        ["1700000000.123456789", "client:wifi", "2", "50", "50"],
        ["1700000000.123456790", "client:lte", "1", "50", "50"],
        ["1700000000.123456791", "client:wifi", "", "50", "50"],
        ["1700000000.123456792", "client:lte", "2", "50", "50"],
        ["1700000000.123456793", "client:wifi", "1", "44", "50"],
    ];
    for (line, expected) in lines.iter().zip(expected) {
        let direction = line[2].trim_start_matches("0x").trim_start_matches('0');
        assert_eq!([line[0], line[1], direction, line[3], line[4]], expected);
    }
    assert_eq!(lines.len(), expected.len());

    let Some(printed) = run("capinfos", &[text(&file)]) else { return };
    let assert_printed = |what: &str| assert!(printed.contains(what), "{what} is not in:\n{printed}");
    assert_printed("Number of interfaces in file: 2");
    assert_printed("Name = client:wifi");
    assert_printed("Name = client:lte");
    assert_printed("Encapsulation = Raw IP");
    assert_printed("Time precision = nanoseconds (9)");
    assert_printed("Number of stat entries = 1");
    assert_printed("mptcplab");
}

#[test]
#[should_panic(expected = "interface 1 was not declared")]
fn an_undeclared_interface_is_a_bug() {
    let mut writer = Writer::new(Vec::new(), "client").unwrap();
    writer.interface("wifi").unwrap();
    let _ = writer.packet(1, Time::default(), None, 0, &[]);
}

proptest! {
    #[test]
    fn whatever_is_written_is_read(packets in prop::collection::vec(
        (0..3u32, 0..i64::MAX, 0..3usize, prop::collection::vec(any::<u8>(), 0..100), 0..2000u32), 0..50,
    )) {
        let mut writer = Writer::new(Vec::new(), "host").unwrap();
        for name in ["a", "b", "c"] {
            writer.interface(name).unwrap();
        }
        let direction = |number| [None, Some(CaptureDirection::Inbound), Some(CaptureDirection::Outbound)][number];
        for (interface, at, is_out, bytes, more) in &packets {
            let original = bytes.len() as u32 + more;
            writer.packet(*interface, Time::from_nanos(*at), direction(*is_out), original, bytes).unwrap();
        }
        let capture = writer.finish(&[1, 2, 3]).unwrap();
        let mut reader = reader(&capture).unwrap();
        for (number, (interface, at, is_out, bytes, more)) in (1..).zip(&packets) {
            let read = reader.next().unwrap().expect("as many as were written");
            prop_assert_eq!((read.interface, read.at.as_nanos(), read.direction), (*interface, *at, direction(*is_out)));
            prop_assert_eq!((read.data, read.original_len, read.record), (&bytes[..], bytes.len() as u32 + more, number));
        }
        prop_assert!(reader.next().unwrap().is_none() && reader.cut().is_none());
    }
}
