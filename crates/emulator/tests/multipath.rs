//! The kernel's MPTCP over two links whose devices cut and merge: it joins, and its options arrive as they were sent.

mod common;
mod forwarding;

use common::{Lab, both_directions, inside, ip, is_possible, scenario};
use emulator::Namespace;
use forwarding::{Flow, transfer};
use serde_json::json;

/// A counter of `/proc/net/netstat`.
fn counter(space: &Namespace, name: &str) -> u64 {
    let text = inside(space, || std::fs::read_to_string("/proc/thread-self/net/netstat").unwrap());
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(' ').collect()).collect();
    let found = lines.chunks(2).find_map(|two| Some(two[1][two[0].iter().position(|word| *word == name)?]));
    found.unwrap_or("0").parse().unwrap()
}

#[test]
fn it_joins_and_no_mapping_is_damaged() {
    if !is_possible() {
        return;
    }
    let elements = json!([
        {"element": "rate", "rate": 40_000_000, "queue": {"queue": "drop-tail", "bytes": 200_000}},
        {"element": "delay", "delay": 5 * common::MS},
    ]);
    let links = json!({"one": both_directions(elements.clone()), "two": both_directions(elements)});
    let mut lab = Lab::new("multipath", scenario(links, &[("wifi", "one"), ("lte", "two")], json!([]), json!([])));
    for space in [&lab.client, &lab.server] {
        inside(space, || std::fs::write("/proc/sys/net/mptcp/enabled", "1").unwrap());
        // Every mapping is checked.
        inside(space, || std::fs::write("/proc/sys/net/mptcp/checksum_enabled", "1").unwrap());
        ip(space, "mptcp limits set subflows 2 add_addr_accepted 2");
    }
    ip(&lab.client, "mptcp endpoint add 10.0.2.2 dev lte subflow");
    lab.emulator.start().unwrap();
    for from in [0, 1] {
        let flow = Flow { client: &lab.client, server: &lab.server, from, is_multipath: true };
        transfer(&flow, "10.0.1.2", "10.9.1.1:80", 5_000_000).unwrap();
    }
    let summary = lab.emulator.stop().unwrap().unwrap();
    assert_eq!(counter(&lab.client, "MPJoinSynAckRx"), 2);
    assert_eq!(counter(&lab.server, "MPJoinAckRx"), 2);
    for space in [&lab.client, &lab.server] {
        for name in ["DataCsumErr", "DSSNotMatching", "DSSCorruptionFallback", "InfiniteMapRx", "MPFailRx"] {
            assert_eq!(counter(space, name), 0, "{name}");
        }
    }
    for (port_name, counts) in &summary.ports {
        assert!(counts.received > 1000 && counts.sent > 1000, "{port_name}: {counts:?}");
        assert_eq!(counts.malformed, 0, "{port_name}");
    }
    let frames: u64 = summary.ports.iter().map(|(_, counts)| counts.received - counts.received_frames).sum();
    assert!(frames > 1000, "packets came in GSO packets");
}
