//! Several captures of one transfer, given together.

mod script;

use script::Host::{Client, Server};
use script::*;
use std::collections::BTreeMap;

/// A download over two paths with a capture at each end. Wi-Fi takes 10 ms each way, LTE 30. One segment is lost on the
/// way and sent again.
const BOTH_ENDS: &str = "
    0|10    client wifi S  0    0    0    mp_capable
    20|10   server wifi SA 0    1    0    mp_capable
    20|30   client wifi A  1    1    0    mp_capable
    40|70   client lte  S  0    0    0    join(2)
    100|70  server lte  SA 0    1    0    join(0)
    100|130 client lte  A  1    1    0    join(2)
    160|130 server lte  A  1    1    0    dss(ack 1)
    210|200 server wifi A  1    1    1000 dss(1 1 1000, ack 1)
    -|201   server wifi A  1001 1    1000 dss(1001 1001 1000, ack 1)
    232|202 server lte  A  1    1    1000 dss(2001 1 1000, ack 1)
    210|220 client wifi A  1    1001 0    dss(ack 1001)
    232|262 client lte  A  1    1001 0    dss(ack 1001)
    310|300 server wifi A  1001 1    1000 dss(1001 1001 1000, ack 1)
    310|320 client wifi A  1    2001 0    dss(ack 3001)
    ";

fn check_both_ends(tables: &tables::Tables) {
    let connection = only(tables);
    assert_eq!((connection.vantage, connection.subflows), (Some("both"), 2));
    let down = transfer(tables, Down);
    // Time is the client's: SYN at 0 to DATA_ACK at 310.
    assert_eq!((down.bytes, down.elapsed_s), (3000, Some(0.31)));
    let (wifi, lte) = (flow(tables, 0, Down), flow(tables, 1, Down));
    assert_eq!((wifi.delivered_bytes, lte.delivered_bytes), (Some(2000), Some(1000)));
    // RTT and retransmissions are the server's.
    assert_eq!((wifi.rtt_samples, wifi.rtt_ms_mean), (Some(1), Some(20.0)));
    assert_eq!((lte.rtt_samples, lte.rtt_ms_mean), (Some(1), Some(60.0)));
    assert_eq!((wifi.data_packets, wifi.retransmitted_packets), (3, Some(1)));
    // The out-of-order delay is the client's: LTE's segment waited from 232 to 310.
    assert_eq!((down.reordering_segments, down.out_of_order_segments), (Some(3), Some(1)));
    assert_eq!(down.out_of_order_delay_ms_max, Some(78.0));
    // One left that never arrived.
    assert_eq!((wifi.lost_packets, lte.lost_packets), (Some(1), Some(0)));
    // One-way delays: 10 and 30 ms; quantiles err by at most 0.5 %.
    for (flow, expected) in [(wifi, 10.0), (lte, 30.0)] {
        let delay = flow.one_way_delay_ms_median.unwrap();
        assert!((delay - expected).abs() <= expected * 0.005, "{delay}");
    }
    // Not of the one sent twice: which of the two arrived is not known.
    assert!(wifi.one_way_delay_ms_p95.unwrap() < 10.1);
    // Handshakes are the opener's.
    assert_eq!((subflow(tables, 0).handshake_rtt_ms, subflow(tables, 1).handshake_rtt_ms), (Some(20.0), Some(60.0)));
    // Times of subflows are by one clock.
    assert!((subflow(tables, 1).start_s - subflow(tables, 0).start_s - 0.04).abs() < 1e-9);
    assert_eq!(connection.start_ns, EPOCH_NS);
    // What happened is reported once.
    assert_eq!(events(tables).iter().filter(|event| **event == "join_established").count(), 1);
    assert_eq!(events(tables).iter().filter(|event| **event == "retransmission").count(), 1);
}

#[test]
fn both_ends() {
    check_both_ends(&Script::default().run(BOTH_ENDS));
}

/// Clocks may differ by as much as an hour, either way; the estimate is stated.
#[test]
fn clocks_differ() {
    for (milliseconds, stated) in [
        (7, "server's clock is 7.000 ms ahead of"),
        (3_600_000, "server's clock is 3600000.000 ms ahead of"),
        (-3_600_000, "server's clock is 3600000.000 ms behind"),
    ] {
        let script = Script { server_clock_ns: milliseconds * 1_000_000, ..Script::default() };
        let tables = script.run(BOTH_ENDS);
        let connection = only(&tables);
        assert_eq!((connection.vantage, connection.start_ns), (Some("both"), EPOCH_NS), "{milliseconds}");
        check_both_ends(&tables);
        let offset = tables.diagnostics.iter().find(|row| row.diagnostic == "clock_offset").expect("stated");
        assert!(offset.message.contains(stated), "{}", offset.message);
    }
}

/// Rows without the packets' positions, which differ with the order of files.
fn without_positions(mut tables: tables::Tables) -> tables::Tables {
    tables.segments.iter_mut().for_each(|row| (row.capture, row.record) = Default::default());
    tables.rtt.iter_mut().for_each(|row| (row.capture, row.record) = Default::default());
    tables.reordering.iter_mut().for_each(|row| (row.capture, row.record) = Default::default());
    tables.window.iter_mut().for_each(|row| (row.capture, row.record) = Default::default());
    tables.events.iter_mut().for_each(|row| (row.capture, row.record) = Default::default());
    tables
}

fn assert_same(a: tables::Tables, b: tables::Tables) {
    let (a, b) = (without_positions(a), without_positions(b));
    assert_eq!(a.connections, b.connections);
    assert_eq!(a.transfers, b.transfers);
    assert_eq!(a.subflows, b.subflows);
    assert_eq!(a.flows, b.flows);
    assert_eq!(a.throughput, b.throughput);
    assert_eq!(a.distributions, b.distributions);
    assert_eq!(a.segments, b.segments);
    assert_eq!(a.rtt, b.rtt);
    assert_eq!(a.reordering, b.reordering);
    assert_eq!(a.window, b.window);
    assert_eq!(a.events, b.events);
    assert_eq!(a.diagnostics, b.diagnostics);
}

/// The order in which files are given changes nothing.
#[test]
fn order_of_files() {
    let mut packets = Script::default().packets(BOTH_ENDS);
    let forth = analyze(packets.clone());
    // The first packet of a file decides its place.
    packets.sort_by_key(|packet| packet.host == Client);
    let back = analyze(packets);
    assert_same(forth, back);
}

/// One file per interface is one capture in pieces.
#[test]
fn one_file_per_interface() {
    let whole = Script::default().run(BOTH_ENDS);
    let pieces = Script { file_per_interface: true, ..Script::default() }.run(BOTH_ENDS);
    check_both_ends(&pieces);
    let packets = |tables: &tables::Tables| tables.flows.iter().map(|row| row.packets).collect::<Vec<_>>();
    assert_eq!(packets(&whole), packets(&pieces));
    assert_same(whole, pieces);
    // Of the client alone.
    let of_client = |file_per_interface| {
        let script = Script { file_per_interface, ..Script::default() };
        analyze(script.packets(BOTH_ENDS).into_iter().filter(|packet| packet.host == Client).collect())
    };
    assert_eq!(only(&of_client(true)).vantage, Some("client"));
    assert_same(of_client(true), of_client(false));
}

/// With the server's clock ahead, or behind, its packets come before or after those of each of the client's files.
#[test]
fn one_file_per_interface_and_other_clocks() {
    for hours in [-1, 1] {
        let clock = hours * 3_600_000_000_000;
        check_both_ends(
            &Script { file_per_interface: true, server_clock_ns: clock, ..Script::default() }.run(BOTH_ENDS),
        );
    }
}

/// Behind a NAT the server sees other addresses and ports: the first subflow is known by its key, joins by their nonces.
#[test]
fn address_translation_between_the_ends() {
    let nat = [("wifi", "203.0.113.5:61001".parse().unwrap()), ("lte", "203.0.113.9:1024".parse().unwrap())];
    let tables = Script { nat: nat.into(), ..Script::default() }.run(BOTH_ENDS);
    check_both_ends(&tables);
    // Addresses are those seen first: the client's own.
    assert_eq!(subflow(&tables, 0).client_address, Some([10, 0, 1, 1].into()));
    // Also where the server's packets come first.
    let script = Script { nat: nat.into(), server_clock_ns: -3_600_000_000_000, ..Script::default() };
    check_both_ends(&script.run(BOTH_ENDS));
}

const PLAIN: &str = "
    0|10    client wifi S  0    0    0
    20|10   server wifi SA 0    1    0
    20|30   client wifi A  1    1    0
    210|200 server wifi A  1    1    1000
    210|220 client wifi A  1    1001 0
    ";

/// Plain TCP is known by its initial sequence numbers.
#[test]
fn address_translation_of_plain_tcp() {
    let nat = [("wifi", "203.0.113.5:61001".parse().unwrap())];
    let tables = Script { nat: nat.into(), ..Script::default() }.run(PLAIN);
    assert_eq!(only(&tables).vantage, Some("both"));
    assert_eq!(transfer(&tables, Down).bytes, 1000);
    assert_eq!(flow(&tables, 0, Down).rtt_ms_mean, Some(20.0));
    assert_eq!(flow(&tables, 0, Down).lost_packets, Some(0));
}

/// Simulators may begin all sequence numbers at 0: then addresses tell connections apart.
#[test]
fn connections_with_equal_sequence_numbers() {
    let script = |number| Script { initial: [("wifi", [0, 0])].into(), number, ..Script::default() };
    let mut packets = script(1).packets(PLAIN);
    packets.extend(script(2).packets(PLAIN));
    packets.extend(script(3).packets(PLAIN));
    for both in [true, false] {
        let seen: Vec<_> = packets.iter().filter(|packet| both || packet.host == Client).cloned().collect();
        let tables = analyze(seen);
        assert_eq!(tables.connections.len(), 3);
        for number in 0..3 {
            let vantage = if both { "both" } else { "client" };
            assert_eq!(tables.connections[number as usize].vantage, Some(vantage));
            assert_eq!(transfer_of(&tables, number, Down).bytes, 1000);
        }
    }
}

/// Two captures of one end say nothing more than one.
#[test]
fn two_captures_of_the_same_end() {
    let client = |file: &str| {
        let packets = Script::default().packets(BOTH_ENDS).into_iter().filter(|packet| packet.host == Client);
        packets.map(|packet| Captured { file: file.to_owned(), ..packet }).collect::<Vec<_>>()
    };
    let once = analyze(client("a"));
    let twice = analyze([client("a"), client("b")].concat());
    assert_eq!(only(&twice).vantage, Some("client"));
    assert!(diagnostics(&twice).contains(&"same_end"), "{:#?} {:#?}", twice.diagnostics, twice.connections);
    assert_eq!((&once.transfers, &once.flows, &once.subflows), (&twice.transfers, &twice.flows, &twice.subflows));
}

/// Capturing on "any" shows a packet on every interface that it passes: bridges, tunnels, the host's own NAT.
#[test]
fn copies_of_one_packet() {
    let text = "
        0   client wifi S  0    0    0    mp_capable
        20  server wifi SA 0    1    0    mp_capable
        20  client wifi A  1    1    0    mp_capable
        100 server wifi A  1    1    1000 dss(1 1 1000, ack 1)
        120 client wifi A  1    1001 0    dss(ack 1001)
        ";
    let once = Script::default().run(text);
    let copied: String =
        text.lines().filter(|line| !line.trim().is_empty()).map(|line| format!("{line} copy(br0 0.02)\n")).collect();
    let twice = Script::default().run(&copied);
    assert_eq!((&once.transfers, &once.flows), (&twice.transfers, &twice.flows));
    let copies = twice.diagnostics.iter().find(|row| row.diagnostic == "duplicate_capture").unwrap();
    assert_eq!(copies.count, Some(5));
}

/// A mirror port shows what comes in and what goes out; the capture has one interface and says no way.
#[test]
fn copies_by_a_mirror_port() {
    let text = "
        0   client wifi S  0    0    0
        20  server wifi SA 0    1    0
        20  client wifi A  1    1    0
        100 server wifi A  1    1    1000
        101 server wifi A  1001 1    1000
        120 client wifi A  1    1001 0
        121 client wifi A  1    2001 0
        ";
    let once = Script::default().run(text);
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    for (copies, count) in [("copy(wifi 0.02)", 7), ("copy(wifi 0.01) copy(wifi 0.02) copy(wifi 0.03)", 21)] {
        let many = Script::default().run(&lines().map(|line| format!("{line} {copies}\n")).collect::<String>());
        assert_eq!((&once.transfers, &once.flows, &once.subflows), (&many.transfers, &many.flows, &many.subflows));
        assert_eq!(only(&many).vantage, Some("client"));
        let said = many.diagnostics.iter().find(|row| row.diagnostic == "duplicate_capture").unwrap();
        assert_eq!(said.count, Some(count));
    }
}

/// IPv6 has no identification, and many hosts give none: there a SYN that comes twice at once shows that all does.
#[test]
fn copies_without_an_identification() {
    let text = "
        0   client wifi S  0    0    0    id(0)
        .01 server wifi SA 0    1    0    id(0)
        20  client wifi A  1    1    0    id(0)
        100 server wifi A  1    1    1000 id(0)
        101 server wifi A  1001 1    1000 id(0)
        120 client wifi A  1    1001 0    id(0)
        150 server wifi A  1001 1    1000 id(0)
        170 client wifi A  1    2001 0    id(0)
        ";
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let once = Script::at(Server).run(text);
    assert_eq!(flow(&once, 0, Down).retransmitted_packets, Some(1));
    for copy in ["copy(eth0 0.02)", "copy(eth0 0.3)"] {
        let twice = Script::at(Server).run(&lines().map(|line| format!("{line} {copy}\n")).collect::<String>());
        assert_eq!((&once.transfers, &once.flows, &once.subflows), (&twice.transfers, &twice.flows, &twice.subflows));
        let said = twice.diagnostics.iter().find(|row| row.diagnostic == "duplicate_capture").unwrap();
        assert_eq!(said.count, Some(8));
    }
}

/// Captures of both ends in one file show each packet where it leaves and where it comes.
#[test]
fn both_ends_merged_into_one_file() {
    let text: String = (0..200)
        .map(|number| {
            let (at, seq) = (200.0 + f64::from(number) * 0.2, 1 + 1000 * number);
            format!("{at}|{}   server wifi A  {seq}  1 1000\n{}|{at} client wifi A 1 {} 0\n", at - 50.0, at, seq + 1000)
        })
        .collect();
    let handshake = "0|50 client wifi S 0 0 0\n100|50 server wifi SA 0 1 0\n100|150 client wifi A 1 1 0\n";
    let mut packets = Script::default().packets(&format!("{handshake}{text}"));
    for packet in &mut packets {
        packet.file = "merged".to_owned();
        packet.interface = String::new();
    }
    let tables = analyze(packets);
    assert_eq!((flow(&tables, 0, Down).packets, flow(&tables, 0, Down).data_packets), (201, 200));
    assert_eq!(flow(&tables, 0, Down).duplicate_packets, Some(0));
    let said = tables.diagnostics.iter().find(|row| row.diagnostic == "duplicate_capture").unwrap();
    assert_eq!(said.count, Some(403));
}

/// Where the identification is always the same, or none, it tells nothing.
#[test]
fn identifications_that_stay_tell_nothing() {
    let text = |id| {
        format!(
            "
            0   server wifi A  1    1    1000 id({id})
            1   server wifi A  1001 1    1000 id({id})
            2   server wifi A  1    1    1000 id({id})
            "
        )
    };
    for id in [0, 1] {
        assert_eq!(flow(&Script::default().run(&text(id)), 0, Down).duplicate_packets, Some(1));
    }
}

/// A retransmission within a moment is no copy: it passed the same interface.
#[test]
fn retransmissions_are_no_copies() {
    let tables = Script { directions: true, ..Script::at(Server) }.run(
        "
        0   client wifi S  0 0    0
        0   server wifi SA 0 1    0
        20  client wifi A  1 1    0
        100 server wifi A  1 1    1000
        101 server wifi A  1 1    1000
        120 client wifi A  1 1001 0
        ",
    );
    assert_eq!(flow(&tables, 0, Down).retransmitted_packets, Some(1));
}

/// Linux gives its SYN-ACKs no identification, and sends two at once where its own time-out and a repeated SYN coincide.
#[test]
fn two_syn_acks_are_no_copies() {
    let tables = Script::default().run(
        "
        0    client wifi S  0    0    0
        1000 client wifi S  0    0    0
        1011 server wifi SA 0    1    0 id(0)
        1011 client wifi A  1    1    0
        1029 server wifi SA 0    1    0 id(0)
        1029 client wifi A  1    1    0
        1100 server wifi A  1    1    1000 id(7)
        ",
    );
    assert_eq!(flow(&tables, 0, Down).packets, 3);
    assert!(!diagnostics(&tables).contains(&"duplicate_capture"));
}

/// A subflow that only one capture shows: nothing can be said of what was lost on it.
#[test]
fn a_subflow_that_one_capture_lacks() {
    let packets = Script::default().packets(BOTH_ENDS).into_iter();
    let tables = analyze(packets.filter(|packet| packet.host == Server || packet.interface == "wifi").collect());
    assert_eq!(only(&tables).subflows, 2);
    assert_eq!(flow(&tables, 0, Down).lost_packets, Some(1));
    assert_eq!(flow(&tables, 1, Down).lost_packets, None);
    // The client's capture lacks LTE, over which a third came: the server's tells what it sent there, and no end tells delays.
    let missing = tables.diagnostics.iter().find(|row| row.diagnostic == "path_missing").unwrap();
    assert_eq!(missing.count, Some(1000));
    assert!(missing.message.contains("the client's capture shows on no subflow"), "{}", missing.message);
    assert!(missing.message.contains("10.0.2.1:5001 → 10.255.0.1:443"), "{}", missing.message);
    let shares = [0, 1].map(|subflow| flow(&tables, subflow, Down).share);
    assert_eq!(shares, [Some(2.0 / 3.0), Some(1.0 / 3.0)]);
    assert_eq!(transfer(&tables, Down).out_of_order_delay_ms_mean, None);
    assert!(tables.reordering.is_empty());
    // Alone it tells no shares at all.
    let packets = Script::default().packets(BOTH_ENDS).into_iter();
    let alone = analyze(packets.filter(|packet| packet.host == Client && packet.interface == "wifi").collect());
    assert_eq!((transfer(&alone, Down).bytes, flow(&alone, 0, Down).share), (3000, None));
    assert_eq!(
        (transfer(&alone, Down).out_of_order_delay_ms_mean, flow(&alone, 0, Down).delivered_bytes),
        (None, None)
    );
    assert_eq!(transfer(&alone, Down).throughput_mbps, None);
    assert!(diagnostics(&alone).contains(&"path_missing"));
}

/// Both ends show the SYN, and at most one its answer: one connection, also through a NAT, and where simulators begin at 0.
#[test]
fn ends_that_share_only_a_syn() {
    let cases = [
        ("refused", "0|30 client wifi S 0 0 0\n60|30 server wifi RA 0 1 0"),
        ("refused", "0|30 client wifi S 0 0 0\n-|30 server wifi RA 0 1 0"),
        ("unanswered", "0|30 client wifi S 0 0 0\n1000|1030 client wifi S 0 0 0"),
        ("unfinished", "0|30 client wifi S 0 0 0 mp_capable\n-|30 server wifi SA 0 1 0 mp_capable"),
    ];
    let nat: BTreeMap<_, _> = [("wifi", "203.0.113.5:61001".parse().unwrap())].into();
    let zero: BTreeMap<_, _> = [("wifi", [0, 0])].into();
    let scripts = [
        Script::default(),
        Script { nat, server_clock_ns: -3_600_000_000_000, ..Script::default() },
        Script { initial: zero, ..Script::default() },
    ];
    for (outcome, text) in cases {
        for script in &scripts {
            let tables = script.run(text);
            assert_eq!(only(&tables).vantage, Some("both"), "{text}");
            let at_client = if text.contains("-|") && outcome != "unanswered" { "unanswered" } else { outcome };
            assert_eq!(subflow(&tables, 0).handshake, at_client, "{text}");
        }
        // Another number is another connection.
        let other = Script { initial: [("wifi", [77, 78])].into(), captured_at: Server, ..Script::default() };
        let mut packets = Script::default().packets(&text.replace("60|30", "60").replace("0|30", "0"));
        packets.retain(|packet| packet.file == "client");
        packets.extend(other.packets(text).into_iter().filter(|packet| packet.file == "server"));
        assert_eq!(analyze(packets).connections.len(), 2, "{text}");
    }
}
