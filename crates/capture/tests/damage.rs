//! Captures that end too early, lie or are no captures: never a panic, a hang or unbounded memory.

mod common;

use std::io::Write;
use std::path::{Path, PathBuf};

use capture::{Merge, Reader};
use common::bytes::*;
use common::tools::directory;
use common::*;
use proptest::prelude::*;

/// Packets that can be read, and what is said of the end.
fn read(capture: &[u8]) -> Result<(u64, Option<String>), String> {
    let mut reader = reader(capture).map_err(|error| error.to_string())?;
    let mut packets = 0;
    while let Some(packet) = reader.next().expect("memory can be read") {
        packets += 1;
        assert_eq!(packet.record, packets);
    }
    assert!(reader.next().expect("memory can be read").is_none());
    Ok((packets, reader.cut().map(ToString::to_string)))
}

/// Where each packet of a capture ends, by its packets' lengths.
fn pcap_ends() -> Vec<usize> {
    let lengths = conversation().into_iter().map(|(_, packet)| 16 + packet.len());
    lengths
        .scan(24, |end, length| {
            *end += length;
            Some(*end)
        })
        .collect()
}

#[test]
fn every_prefix_of_a_pcap_is_read_up_to_there() {
    let whole = pcap(Little, NANO, 101, &conversation());
    let ends = pcap_ends();
    for length in 0..=whole.len() {
        let complete = ends.iter().filter(|end| **end <= length).count() as u64;
        match read(&whole[..length]) {
            Err(error) if length == 0 => assert!(error.contains("is empty"), "{error}"),
            Err(error) if length < 4 => assert!(error.contains("neither pcap nor pcapng"), "{error}"),
            Err(error) => assert!(length < 24 && error.contains("ends within its header"), "{length}: {error}"),
            Ok((packets, cut)) => {
                let at_an_end = length == 24 || ends.contains(&length);
                let expected = (!at_an_end).then(|| format!("test: ends in the middle of packet {}", complete + 1));
                assert_eq!((packets, cut), (complete, expected), "first {length} bytes");
            }
        }
    }
}

#[test]
fn every_prefix_of_a_pcapng_is_read_up_to_there() {
    for order in [Little, Big] {
        let whole = pcapng(order, &conversation());
        let header = 28;
        let interface = 32 + header;
        let packets = conversation().len();
        let each = (whole.len() - interface) / packets;
        for length in 0..=whole.len() {
            match read(&whole[..length]) {
                Err(error) => {
                    assert!(length < header, "{length}: {error}");
                    assert!(length < 4 || error.contains("ends within its header"), "{length}: {error}");
                }
                Ok((packets, cut)) => {
                    let (complete, rest) = match length.checked_sub(interface) {
                        Some(after) => (after / each, after % each),
                        None => (0, length - header),
                    };
                    let cut = cut.unwrap_or_default();
                    assert_eq!(packets, complete as u64, "first {length} bytes");
                    match rest {
                        0 => assert_eq!(cut, "", "first {length} bytes"),
                        8.. if length > interface => {
                            assert_eq!(cut, format!("test: ends in the middle of packet {}", complete + 1))
                        }
                        _ => assert_eq!(cut, format!("test: ends in the middle of a block after packet {complete}")),
                    }
                }
            }
        }
    }
}

#[test]
fn every_prefix_of_compressed_captures_is_read_up_to_there() {
    let plain = pcap(Little, NANO, 101, &conversation());
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(&plain).unwrap();
    for whole in [encoder.finish().unwrap(), zstd::encode_all(&plain[..], 3).unwrap()] {
        for length in 1..whole.len() {
            match read(&whole[..length]) {
                Err(error) => assert!(!error.is_empty()),
                Ok((packets, cut)) => {
                    let cut = cut.unwrap_or_else(|| panic!("first {length} of {} bytes", whole.len()));
                    assert!(packets <= 5 && cut.contains("cut or damaged after packet"), "{cut}");
                }
            }
        }
        assert_eq!(read(&whole), Ok((5, None)));
    }
}

#[test]
fn a_cut_capture_does_not_stop_the_others() {
    let whole = pcap(Little, NANO, 101, &conversation());
    let cut = &whole[..pcap_ends()[2] + 7];
    let mut merge = merge(&[cut, &whole]);
    assert_eq!(observe(&mut merge).len(), 3 + 5);
    let messages: Vec<_> = merge.statistics().iter().map(|file| file.cut.as_deref()).collect();
    assert_eq!(messages, [Some("ends in the middle of packet 4"), None]);
}

#[test]
fn lies_about_lengths_are_told() {
    let whole = pcap(Little, NANO, 101, &conversation());
    let mut captured = whole.clone();
    captured[pcap_ends()[1] + 8..][..4].copy_from_slice(&[0xff; 4]);
    assert_eq!(read(&captured), Ok((2, Some("test: packet 3: captured length 4294967295 is impossible".into()))));

    let whole = pcapng(Little, &conversation());
    let block = 60;
    for (at, value, message) in [
        (block + 4, 8u32, "block after packet 0: length 8 is impossible"),
        (block + 4, 0, "block after packet 0: length 0 is impossible"),
        (block + 4, 33, "block after packet 0: length 33 is impossible"),
        (block + 4, 0xffff_fff0, "block after packet 0: length 4294967280 is impossible"),
        (block + 4, 12, "block after packet 0: repeated length 0 is impossible"),
        (block + 4, 80, "block after packet 0: repeated length 0 is impossible"),
        (block + 8, 1, "packet 1: interface 1 is impossible"),
        (block + 20, 1000, "packet 1: captured length 1000 is impossible"),
        (block + 20, u32::MAX, "packet 1: captured length 4294967295 is impossible"),
    ] {
        let mut lying = whole.clone();
        lying[at..at + 4].copy_from_slice(&value.to_le_bytes());
        assert_eq!(read(&lying), Ok((0, Some(format!("test: {message}")))), "{value} at {at}");
    }

    let mut unknown = Pcapng::new(Big);
    unknown.bytes.extend([0, 0, 0x0b, 0xad, 0xff, 0xff, 0xff, 0xf0, 1, 2, 3]);
    assert_eq!(read(&unknown.bytes), Ok((0, Some("test: ends in the middle of a block after packet 0".into()))));
    let short = Pcapng::new(Big).interface(101, 0, &[]).block(6, &[0; 12]).bytes.clone();
    assert_eq!(read(&short), Ok((0, Some("test: packet 1: block length 24 is impossible".into()))));
}

#[test]
fn what_is_no_capture_is_refused_in_one_line() {
    let refused = |bytes: &[u8]| read(bytes).expect_err("refused");
    let mut version = pcap_header(Big, NANO, 1);
    version[5] = 9;
    for (bytes, message) in [
        (&b""[..], "is empty"),
        (b"x", "neither pcap nor pcapng"),
        (b"#!/bin/sh\necho hello, world", "neither pcap nor pcapng"),
        (
            b"\x0a\x0d\x0d\x0a\x20\0\0\0\x12\x34\x56\x78\x01\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff",
            "ends within its header",
        ),
        (
            b"\x0a\x0d\x0d\x0a\x1c\0\0\0\x12\x34\x56\x78\x01\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\x1c\0\0\0",
            "neither pcap nor",
        ),
        (b"\xfd7zXZ\0", "compressed by xz; unpack it first"),
        (b"BZh9", "compressed by bzip2; unpack it first"),
        (b"\x34\xcd\xb2\xa1\x02\0\x04\0", "in the \"modified\" pcap format"),
        (b"\xa1\xb2\xcd\x34\0\x02\0\x04", "in the \"modified\" pcap format"),
        (&version, "pcap version 9.4"),
    ] {
        let line = refused(bytes);
        assert!(line.starts_with("test: ") && line.contains(message) && !line.contains('\n'), "{line}");
    }
}

#[test]
fn files_that_cannot_be_opened_are_refused_before_anything_is_read() {
    let directory = directory("unreadable");
    let good = directory.join("good.pcap");
    std::fs::write(&good, pcap(Little, NANO, 101, &conversation())).unwrap();
    std::fs::write(directory.join("empty.pcap"), b"").unwrap();
    let line = |path: &Path| Merge::open(&[good.clone(), path.to_owned()]).err().expect("refused").to_string();
    for (path, message) in [
        (directory.join("none.pcap"), "there is no such file"),
        (directory.join("empty.pcap"), "is empty"),
        (directory.clone(), "is a directory"),
        (directory.join("good.pcap/x"), "cannot be read"),
    ] {
        let line = line(&path);
        assert!(line.starts_with(path.to_str().unwrap()) && line.contains(message) && !line.contains('\n'), "{line}");
    }
    assert!(Merge::open(&[good]).is_ok());
    assert!(Merge::open(&Vec::<PathBuf>::new()).unwrap().next().is_none());
}

#[test]
fn an_error_of_the_operating_system_is_told_once_and_the_others_go_on() {
    /// Gives its bytes, then fails as a disk does.
    struct Failing(std::io::Cursor<Vec<u8>>);
    impl std::io::Read for Failing {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            match self.0.read(into)? {
                0 => Err(std::io::Error::from_raw_os_error(5)),
                read => Ok(read),
            }
        }
    }
    let whole = pcap(Little, NANO, 101, &conversation());
    let failing = Reader::new("disk", Failing(std::io::Cursor::new(whole.clone()))).unwrap();
    let mut merge = Merge::new(vec![failing, reader(&whole).unwrap()]);
    let (mut observations, mut errors) = (0, Vec::new());
    while let Some(next) = merge.next() {
        match next {
            Ok(_) => observations += 1,
            Err(error) => errors.push(error.to_string()),
        }
    }
    assert_eq!((observations, errors.len()), (10, 1));
    assert!(errors[0].starts_with("disk: cannot be read: "), "{errors:?}");
}

/// Reads to the end whatever it is.
fn survive(capture: &[u8]) {
    if let Ok(reader) = reader(capture) {
        let mut merge = Merge::new(vec![reader]);
        while merge.next().is_some() {}
        let found = &merge.statistics()[0];
        let sorts =
            [found.tcp, found.other_ip, found.not_ip, found.malformed, found.truncated_headers, found.unsupported];
        assert_eq!(found.packets, sorts.iter().sum::<u64>());
    }
}

proptest! {
    #[test]
    fn random_bytes_behind_any_header(kind in 0..5usize, link in prop::sample::select(vec![0u32, 1, 9, 51, 101, 108, 113, 276]),
                                      bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let header = match kind {
            0 => pcap_header(Little, MICRO, link),
            1 => pcap_header(Big, NANO, link),
            2 => Pcapng::new(Little).interface(link as u16, 0, &[]).bytes.clone(),
            3 => Pcapng::new(Big).bytes,
            _ => Vec::new(),
        };
        survive(&[header, bytes].concat());
    }

    #[test]
    fn random_frames_on_any_link(link in prop::sample::select(vec![0u32, 1, 9, 50, 51, 101, 108, 113, 228, 276, 999]),
                                 frames in prop::collection::vec((0i64..1 << 60, prop::collection::vec(any::<u8>(), 0..80)), 0..20)) {
        survive(&pcap(Little, NANO, link, &frames));
    }

    #[test]
    fn flipped_bytes(ng in any::<bool>(), flips in prop::collection::vec((any::<prop::sample::Index>(), 1..=255u8), 1..8)) {
        let mut capture = if ng { pcapng(Little, &conversation()) } else { pcap(Big, MICRO, 101, &conversation()) };
        for (index, flip) in flips {
            let index = index.index(capture.len());
            capture[index] ^= flip;
        }
        survive(&capture);
    }
}

#[test]
fn names_of_interfaces_are_cut() {
    let mut file = Pcapng::new(Little);
    file.interface(101, 0, &[(2, &[b'x'; 65_000]), (9, &[9])]);
    file.packet(0, 1, &segment(true, 1, 1), &[]);
    let mut merge = merge(&[&file.bytes]);
    observe(&mut merge);
    assert_eq!(merge.points()[0].interface.len(), 256);
    assert_eq!(merge.statistics()[0].interfaces[0].name.len(), 256);
}
