//! Real captures are read as tshark reads them.

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use capture::{Merge, Reader};
use common::seq;
use common::tools::{run, text};
use wire::L4;

/// Captures beside the repository; none, said on stderr, where there are none.
fn captures() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/captures");
    let Ok(entries) = std::fs::read_dir(&directory) else {
        eprintln!("SKIPPED: there is no {}", directory.display());
        return Vec::new();
    };
    let mut found: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "pcap" || extension == "pcapng"));
    found.sort();
    found
}

/// Fields of each packet as tshark prints them.
fn tshark(capture: &Path, fields: &[&str]) -> Option<Vec<Vec<String>>> {
    let mut arguments = vec!["-n", "-r", text(capture), "-T", "fields", "-E", "occurrence=f"];
    arguments.extend(fields.iter().flat_map(|field| ["-e", field]));
    let printed = run("tshark", &arguments)?;
    Some(printed.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect())
}

#[test]
fn the_same_packets_at_the_same_times() {
    for capture in captures() {
        let Some(expected) = tshark(&capture, &["frame.number", "frame.time_epoch", "frame.len", "frame.cap_len"])
        else {
            return;
        };
        let mut reader = Reader::open(&capture).unwrap();
        let mut read = Vec::new();
        while let Some(packet) = reader.next().unwrap() {
            let nanos = packet.at.as_nanos();
            let time = format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000);
            let lengths = [packet.original_len.to_string(), packet.data.len().to_string()];
            let [original, captured] = lengths;
            read.push(vec![packet.record.to_string(), time, original, captured]);
        }
        assert_eq!(read, expected, "{}", capture.display());
        assert!(reader.cut().is_none());
    }
}

#[test]
fn the_same_segments_behind_the_link_layer() {
    for capture in captures() {
        let fields = ["frame.number", "tcp.srcport", "tcp.seq_raw", "tcp.len", "icmp.type", "icmpv6.type"];
        let Some(rows) = tshark(&capture, &fields) else { return };
        // tshark also shows the segment inside of an ICMP error: that is none that passed.
        let rows = rows.into_iter().filter(|row| !row[1].is_empty() && row[4].is_empty() && row[5].is_empty());
        let expected: BTreeMap<u64, [String; 3]> = rows
            .map(|row| (row[0].parse().expect("a number"), [row[1].clone(), row[2].clone(), row[3].clone()]))
            .collect();
        let mut merge = Merge::open(std::slice::from_ref(&capture)).unwrap();
        let mut read = BTreeMap::new();
        while let Some(observation) = merge.next() {
            let observation = *observation.unwrap();
            if let L4::Tcp(tcp) = &observation.frame.l4 {
                let length = observation.frame.payload.len.to_string();
                read.insert(observation.record, [tcp.source_port.to_string(), seq(&observation).to_string(), length]);
            }
        }
        assert_eq!(read, expected, "{}", capture.display());
        let found = &merge.statistics()[0];
        assert_eq!((found.malformed, found.unsupported, &found.cut), (0, 0, &None), "{found:?}");
    }
}
