//! Connections one after another and at once, and captures that show them badly.

mod script;

use analysis::Options;
use script::Host::{Client, Server};
use script::*;

fn first(last: &str) -> String {
    format!(
        "
        0   client wifi S  0   0   0
        20  server wifi SA 0   1   0
        20  client wifi A  1   1   0
        30  client wifi A  1   1   100
        50  server wifi A  1   101 0
        {last}
        "
    )
}

const SECOND: &str = "
    200 client wifi S  0   0   0
    220 server wifi SA 0   1   0
    220 client wifi A  1   1   0
    230 client wifi A  1   1   70
    250 server wifi A  1   71  0
    ";

const FINISHED: &str = "
    60  client wifi FA 101 1   0
    80  server wifi FA 1   102 0
    80  client wifi A  102 2   0
    ";

/// A SYN with another sequence number on a known 4-tuple opens another connection, whatever became of the one before.
#[test]
fn ports_are_used_again() {
    let again = Script { initial: [("wifi", [0x9999_0000, 0x7777_0000])].into(), ..Script::default() };
    for (last, ended) in [(FINISHED, "closed"), ("60 client wifi R 101 0 0", "reset"), ("", "open")] {
        let mut packets = Script::default().packets(&first(last));
        packets.extend(again.packets(SECOND));
        let tables = analyze(packets);
        assert_eq!(tables.connections.iter().map(|row| row.ended).collect::<Vec<_>>(), [ended, "open"]);
        assert_eq!((transfer_of(&tables, 0, Up).bytes, transfer_of(&tables, 1, Up).bytes), (100, 70));
        assert_eq!(tables.connections[1].start_s, 0.2);
    }
}

/// The same long after the first was finished and dropped.
#[test]
fn ports_are_used_again_later() {
    let again = Script { initial: [("wifi", [0x9999_0000, 0x7777_0000])].into(), ..Script::default() };
    let mut packets = Script::default().packets(&first(FINISHED));
    packets.extend(again.packets(&SECOND.replace("\n    2", "\n    50002")));
    let tables = analyze(packets);
    assert_eq!((transfer_of(&tables, 0, Up).bytes, transfer_of(&tables, 1, Up).bytes), (100, 70));
}

/// A capture that begins with a SYN/ACK, after which the ports are used again, or the same connection's data comes.
#[test]
fn ports_are_used_again_after_a_lone_answer() {
    let again = Script { initial: [("wifi", [0x9999_0000, 0x7777_0000])].into(), ..Script::default() };
    let mut packets = Script::default().packets("0 server wifi SA 0 1 0");
    packets.extend(again.packets(SECOND));
    let tables = analyze(packets);
    let handshakes: Vec<_> = tables.subflows.iter().map(|row| row.handshake).collect();
    assert_eq!(handshakes, ["unseen", "established"]);
    assert_eq!((transfer_of(&tables, 1, Up).bytes, tables.connections[1].start_s), (70, 0.2));

    let tables =
        Script::default().run("0 server wifi SA 0 1 0\n 1000 server wifi SA 0 1 0\n 1050 server wifi A 1 1 100");
    assert_eq!((only(&tables).start_s, transfer(&tables, Down).bytes), (0.0, 100));
}

/// The same where only the server was captured: a SYN/ACK that acknowledges another SYN, with another number of its own, begins another connection.
#[test]
fn ports_are_used_again_where_only_answers_are_captured() {
    let numbered =
        |server: u32, client: u32| Script { initial: [("wifi", [client, server])].into(), ..Script::default() };
    let (one, two) = (numbered(0x9999_0000, 0x7777_0000), numbered(0x1111_0000, 0x3333_0000));
    for end in ["", "120 server wifi FA 101 1 0", "120 server wifi R 101 0 0"] {
        for again_ms in [200, 50_000] {
            let mut packets = one.packets(&format!("0 server wifi SA 0 1 0\n 100 server wifi A 1 1 100\n {end}"));
            let text = format!("{again_ms} server wifi SA 0 1 0\n {} server wifi A 1 1 70", again_ms + 50);
            packets.extend(two.packets(&text));
            let tables = analyze(packets);
            let bytes: Vec<_> =
                tables.transfers.iter().filter(|row| row.direction == Down).map(|row| row.bytes).collect();
            assert_eq!(bytes, [100, 70], "{end} {again_ms}");
            assert_eq!(tables.connections[1].start_s, f64::from(again_ms) / 1e3);
            assert!(!diagnostics(&tables).contains(&"late_packets"));
        }
    }

    // Nothing follows them: each is of another attempt, whether it was reset or not.
    for reset in ["", "50 client wifi R 1 0 0"] {
        let mut packets = Vec::new();
        for (number, again) in [&one, &two, &numbered(7, 9)].into_iter().enumerate() {
            let at_ms = 1000 * number;
            let reset = reset.replace("50 ", &format!("{} ", at_ms + 50));
            packets.extend(again.packets(&format!("{at_ms} server wifi SA 0 1 0\n {reset}")));
        }
        assert_eq!(analyze(packets).connections.len(), 3, "{reset}");
    }

    // Sent again, also with another number of the server's, as SYN cookies have with time: the same attempt.
    for again in [&one, &numbered(0x9999_4321, 0x7777_0000)] {
        let mut packets = one.packets("0 server wifi SA 0 1 0");
        packets.extend(again.packets("1000 server wifi SA 0 1 0\n 1100 server wifi A 1 1 100"));
        let tables = analyze(packets);
        assert_eq!((only(&tables).start_s, transfer(&tables, Down).bytes), (0.0, 100));
    }
}

/// SYNs that nobody answers, each with ports used again: each is a connection that came to nothing.
#[test]
fn ports_are_used_again_without_an_answer() {
    let attempt = |number: u32| {
        let initial = [("wifi", [1000 * number, 0])].into();
        Script { initial, ..Script::default() }.packets(&format!("{number} client wifi S 0 0 0 mp_capable"))
    };
    let tables = analyze((0..100).flat_map(attempt).collect());
    assert_eq!(tables.connections.len(), 100);
    assert!(tables.subflows.iter().all(|row| row.handshake == "unanswered"));
}

/// What comes late belongs to the connection, or is let go; it is no connection of its own.
#[test]
fn packets_after_the_end() {
    for late in [100, 10_000, 100_000] {
        let mut packets = Script::default().packets(&first(FINISHED));
        packets.extend(Script::default().packets(&format!(
            "
            {late} server wifi FA 1   102 0
            {late} client wifi A  102 2   0
            "
        )));
        // Time goes on for others.
        packets.extend(Script::numbered(1).packets(&format!("{} client wifi S 0 0 0", late - 1)));
        let tables = analyze(packets);
        assert_eq!(tables.connections.len(), 2, "{late}");
        assert_eq!(tables.connections[0].ended, "closed");
        assert_eq!((transfer_of(&tables, 0, Up).bytes, transfer_of(&tables, 0, Up).elapsed_s), (100, Some(0.05)));
    }
}

const DOWNLOAD: &str = "
    0   client wifi S  0    0    0    mp_capable
    20  server wifi SA 0    1    0    mp_capable
    20  client wifi A  1    1    0    mp_capable
    30  client lte  S  0    0    0    join(2)
    80  server lte  SA 0    1    0    join(0)
    80  client lte  A  1    1    0    join(2)
    130 server lte  A  1    1    0    dss(ack 1)
    200 server wifi A  1    1    1000 dss(1 1 1000, ack 1)
    200 client wifi A  1    1001 0    dss(ack 1001)
    240 server lte  A  1    1    500  dss(1001 1 500, ack 1)
    240 client lte  A  1    501  0    dss(ack 1501)
    ";

/// Fifty at once, their packets mixed: each as if it were alone.
#[test]
fn connections_at_once() {
    let packets: Vec<_> = (0..50u16).flat_map(|number| Script::numbered(number).packets(DOWNLOAD)).collect();
    let together = analyze(packets);
    assert_eq!(together.connections.len(), 50);
    for number in 0..50u16 {
        let alone = Script::numbered(number).run(DOWNLOAD);
        let row = together.transfers.iter().find(|row| row.connection == u32::from(number) && row.direction == Down);
        let expected = transfer(&alone, Down);
        assert_eq!(row, Some(&tables::Transfer { connection: number.into(), ..expected.clone() }));
        assert_eq!(together.connections[usize::from(number)].client_token, only(&alone).client_token);
    }
}

fn only_from(host: Host) -> tables::Tables {
    let addresses = [[10, 0, 1, 1], [10, 0, 2, 1]].map(std::net::IpAddr::from);
    let packets = Script::default().packets(DOWNLOAD).into_iter();
    analyze(
        packets.filter(|packet| addresses.contains(&packet.observation.frame.ip.source) == (host == Client)).collect(),
    )
}

/// A capture of one direction only: what passed is reported, what was not seen is not made up.
#[test]
fn one_direction_captured() {
    let of_client = only_from(Client);
    assert_eq!((only(&of_client).subflows, only(&of_client).mptcp_version), (2, Some(1)));
    // The third packets show that handshakes went through, and both keys; DATA_ACKs tell what was delivered.
    assert_eq!(subflow(&of_client, 0).handshake, "established");
    assert_eq!(subflow(&of_client, 1).handshake, "established");
    assert_eq!(transfer(&of_client, Down).bytes, 1500);
    assert_eq!((only(&of_client).vantage, flow(&of_client, 0, Down).rtt_samples), (None, None));

    let of_server = only_from(Server);
    assert_eq!(only(&of_server).client_address, Some([10, 0, 1, 1].into()));
    // No acknowledgement was seen: what arrived in order was delivered.
    assert_eq!((transfer(&of_server, Down).bytes, transfer(&of_server, Down).elapsed_s), (1500, None));
    // The SYN/ACK of a join does not tell the token, but 8-byte data sequence numbers tell the connection.
    assert_eq!(only(&of_server).subflows, 2);
    assert_eq!((subflow(&of_server, 1).kind, subflow(&of_server, 1).opened_by), ("join", Some("client")));
    // Half a handshake tells no end.
    assert_eq!(only(&of_server).vantage, None);
}

/// Packets out of time order by more than readers put right: time may stand still or go back, figures stay sane.
#[test]
fn time_goes_back() {
    let packets = Script::default().packets(DOWNLOAD);
    let mut shuffled = packets.clone();
    for packet in &mut shuffled[7..] {
        packet.observation.at = packet.observation.at + -5_000_000_000;
    }
    let files = ["client".to_owned()];
    let tables = observe(Options { samples: true, ..Options::default() }, &files, &shuffled);
    assert_eq!(transfer(&tables, Down).bytes, 1500);
    assert!(transfer(&tables, Down).elapsed_s.unwrap() >= 0.0);
    assert!(tables.rtt.iter().all(|row| row.rtt_ms >= 0.0));
}

/// Data and its ACK swapped by the capture, as cards with several queues do.
#[test]
fn acknowledgement_captured_before_its_data() {
    let tables = Script::default().run(
        "
        0   client wifi S  0    0    0    mp_capable
        20  server wifi SA 0    1    0    mp_capable
        20  client wifi A  1    1    0    mp_capable
        100 client wifi A  1    1001 0    dss(ack 1001)
        101 server wifi A  1    1    1000 dss(1 1 1000, ack 1)
        120 server wifi A  1001 1    1000 dss(1001 1001 1000, ack 1)
        120 client wifi A  1    2001 0    dss(ack 2001)
        ",
    );
    assert_eq!(transfer(&tables, Down).bytes, 2000);
    assert_eq!(flow(&tables, 0, Down).delivered_bytes, Some(2000));
    assert_eq!(diagnostics(&tables), [] as [&str; 0]);
}
