//! Packets of older connections with the same ports, acknowledgements of what was never sent, and what comes after the end.

mod script;

use script::*;

/// The peer still has an older connection: it answers the SYN with a challenge ACK (RFC 5961 §4.2), which the opener resets
/// (RFC 9293 §3.5.2, figure 7); then the SYN comes again.
fn challenged(ack: i64) -> String {
    format!(
        "
        0    client wifi S  0    0     0
        30   server wifi A  -900 {ack} 0
        30.1 client wifi R  {ack} 0    0
        1000 client wifi S  0    0     0
        1030 server wifi SA 0    1     0
        1030 client wifi A  1    1     0
        1040 client wifi A  1    1     100
        1070 server wifi A  1    101   1400
        1070 client wifi A  101  1401  0
        6070 server wifi A  1401 101   1400
        6070 client wifi A  101  2801  0
        6080 client wifi FA 101  2801  0
        6110 server wifi FA 2801 102   0
        6110 client wifi A  102  2802  0
        "
    )
}

#[test]
fn challenge_acks_are_not_believed() {
    for ack in [1_500_000_000, -101, 70_000_000] {
        let mut packets = Script::default().packets(&challenged(ack));
        // Time goes on for others: what has ended is finished meanwhile.
        packets.extend(Script::numbered(1).packets("5000 client wifi S 0 0 0"));
        let tables = analyze(packets);
        assert_eq!(tables.connections.len(), 2, "{ack}");
        assert_eq!((tables.connections[0].ended, subflow(&tables, 0).handshake), ("closed", "established"), "{ack}");
        assert_eq!((transfer(&tables, Up).bytes, transfer(&tables, Down).bytes), (100, 2800), "{ack}");
        let stray = tables.diagnostics.iter().find(|row| row.diagnostic == "stray_packets").expect("said");
        assert_eq!(stray.count, Some(2), "{ack}");
    }
}

/// The peer answers an old SYN that came late (RFC 9293 §3.5, figure 8): the opener resets that, and its own SYN comes again.
#[test]
fn answers_to_old_syns_are_not_believed() {
    for asks in ["", " mp_capable"] {
        let text = challenged(1_500_000_000).replace("server wifi A  -900", "server wifi SA -900");
        let tables = Script::default().run(&text.replace("S  0    0     0", &format!("S  0    0     0{asks}")));
        assert_eq!((only(&tables).ended, subflow(&tables, 0).handshake), ("closed", "established"));
        assert_eq!((transfer(&tables, Up).bytes, transfer(&tables, Down).bytes), (100, 2800));
        let stray = tables.diagnostics.iter().find(|row| row.diagnostic == "stray_packets").expect("said");
        assert_eq!(stray.count, Some(2));
    }
}

/// The refusal of MPTCP is known although a challenge came first.
#[test]
fn the_answer_counts_that_acknowledges_the_syn() {
    let asked = challenged(1_500_000_000).replace("S  0    0     0", "S  0    0     0 mp_capable");
    let tables = Script::default().run(&asked);
    assert_eq!(only(&tables).mptcp_version, None);
    assert_eq!(only(&tables).fallback, Some("the SYN/ACK came without MP_CAPABLE"));
    assert_eq!(transfer(&tables, Down).bytes, 2800);
}

/// A reset that acknowledges the SYN refuses it.
#[test]
fn resets_that_acknowledge_the_syn_are_believed() {
    let tables = Script::default().run("0 client wifi S 0 0 0\n30 server wifi RA 0 1 0");
    assert_eq!((only(&tables).ended, subflow(&tables, 0).handshake), ("reset", "refused"));
}

#[test]
fn acknowledgements_of_what_was_never_sent_are_not_believed() {
    let text = "
        0  client wifi S  0    0          0 ws(7)
        40 server wifi SA 0    1          0 ws(7)
        40 client wifi A  1    1          0
        50 server wifi A  1    1          1000
        50 client wifi A  1    1001       0
        60 client wifi A  1    861000000  0
        70 server wifi A  1001 1          1000
        70 client wifi A  1    2001       0
        ";
    let tables = Script::default().run(text);
    assert_eq!((transfer(&tables, Down).bytes, transfer(&tables, Down).elapsed_s), (2000, Some(0.07)));
    assert!(diagnostics(&tables).contains(&"stray_packets"));
    assert!(!diagnostics(&tables).contains(&"missed_bytes"));
    // What the capture lacks may have been sent: as much as fits the window.
    let lacking = text.replace("861000000", "101001").replace("2001 ", "102001").replace("A  1001 1 ", "A  101001 1 ");
    let tables = Script::default().run(&lacking);
    assert_eq!(transfer(&tables, Down).bytes, 102_000);
    assert!(diagnostics(&tables).contains(&"missed_bytes"));
    assert!(!diagnostics(&tables).contains(&"stray_packets"));
}

/// One damaged bit made 336 MB of 284 kB.
#[test]
fn data_acks_beyond_the_window_are_not_believed() {
    let text = "
        0  client wifi S  0    0     0    mp_capable ws(7)
        40 server wifi SA 0    1     0    mp_capable ws(7)
        40 client wifi A  1    1     0    mp_capable
        50 server wifi A  1    1     1000 dss(1 1 1000, ack 1)
        50 client wifi A  1    1001  0    dss(ack 1001)
        60 server wifi A  1001 1     1000 dss(1001 1001 1000, ack 1)
        60 client wifi A  1    2001  0    dss(ack 336002001)
        70 server wifi A  2001 1     1000 dss(2001 2001 1000, ack 1)
        70 client wifi A  1    3001  0    dss(ack 3001)
        ";
    let tables = Script::default().run(text);
    assert_eq!(transfer(&tables, Down).bytes, 3000);
    assert!(diagnostics(&tables).contains(&"stray_packets"));
    // Where the capture lacks a part, the next one bears it out.
    let lacking = text.replace("ack 3001)", "ack 336003001)");
    assert_eq!(transfer(&Script::default().run(&lacking), Down).bytes, 336_003_000);
}

/// What comes long after the end is left out, and that is said.
#[test]
fn packets_long_after_the_end_are_counted() {
    let text = "
        0     client wifi S  0 0 0
        40    server wifi SA 0 1 0
        40    client wifi A  1 1 0
        50    client wifi R  1 0 0
        9000  server wifi A  1 1 1000
        9000  server wifi A  1001 1 1000
        ";
    let mut packets = Script::default().packets(text);
    packets.extend(Script::numbered(1).packets("8000 client wifi S 0 0 0"));
    let tables = analyze(packets);
    let late = tables.diagnostics.iter().find(|row| row.diagnostic == "late_packets").expect("said");
    assert_eq!((late.count, late.connection, late.capture.as_deref()), (Some(2), None, Some("client")));
}

/// Nothing was lost where the server answers for an older connection; where the first SYN has no answer at all, it was.
#[test]
fn a_challenge_is_no_lost_handshake() {
    let kinds = |text: &str| -> Vec<String> {
        Script::default().run(text).findings.iter().map(|row| row.kind.to_string()).collect()
    };
    for ack in [1_500_000_000, -101, 70_000_000] {
        let text = challenged(ack);
        assert_eq!(kinds(&text), ["port_reused"], "{ack}");
        assert_eq!(kinds(&text.replace("server wifi A  -900", "server wifi SA -900")), ["port_reused"], "{ack}");
    }
    let unanswered: String = challenged(1)
        .lines()
        .filter(|line| !line.contains("wifi A  -900") && !line.contains("wifi R"))
        .collect::<Vec<_>>()
        .join("\n");
    assert_eq!(kinds(&unanswered), ["handshake_lost"]);
}
