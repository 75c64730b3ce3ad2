//! Captures that were started when the connection had begun.

mod script;

use script::*;

fn begun() -> Script {
    Script { data_bases: Some([0x1111_2222_3333_4444, 0x5555_6666_ffff_ff00]), ..Script::default() }
}

const TWO_SUBFLOWS: &str = "
    0  server wifi A 50001 7001 1000 dss(90001 50001 1000, ack 301)
    0  client wifi A 7001  51001 0   dss(ack 91001)
    10 server lte  A 80001 9001 1000 dss(91001 80001 1000, ack 301)
    10 client lte  A 9001  81001 0   dss(ack 92001)
    20 server wifi A 51001 7001 1000 dss(92001 51001 1000, ack 301)
    20 client wifi A 7001  52001 0   dss(ack 93001)
    ";

/// Numbers of 8 bytes that are this near are one connection's: by chance they would be once in 2³³.
#[test]
fn subflows_are_grouped_by_data_sequence_numbers() {
    let tables = begun().run(TWO_SUBFLOWS);
    let connection = only(&tables);
    assert_eq!((connection.began, connection.subflows, connection.mptcp_version), ("midway", 2, None));
    assert_eq!((connection.client_token, connection.server_token), (None, None));
    assert_eq!(transfer(&tables, Down).bytes, 3000);
    assert_eq!((flow(&tables, 0, Down).share, flow(&tables, 1, Down).share), (Some(2.0 / 3.0), Some(1.0 / 3.0)));
    assert_eq!(subflow(&tables, 1).kind, "unknown");
    assert_eq!((subflow(&tables, 1).handshake, subflow(&tables, 1).opened_by), ("unseen", None));
    assert!(diagnostics(&tables).contains(&"midway"));
    // Servers have the lower port.
    assert_eq!(connection.server_port, 443);
}

/// Numbers of 4 bytes prove nothing: kept apart, and said so.
#[test]
fn short_data_sequence_numbers_are_not_certain() {
    let tables = begun().run(&TWO_SUBFLOWS.replace("dss(", "dss4("));
    assert_eq!(tables.connections.len(), 2);
    assert_eq!(diagnostics(&tables).iter().filter(|name| **name == "midway").count(), 2);
    // The DATA_ACKs on Wi-Fi still tell of 3000; 1000 of them passed elsewhere.
    assert_eq!((transfer_of(&tables, 0, Down).bytes, transfer_of(&tables, 1, Down).bytes), (3000, 1000));
    let missed = tables.diagnostics.iter().find(|row| row.diagnostic == "path_missing").unwrap();
    assert_eq!(flow(&tables, 0, Down).share, None);
    assert_eq!((missed.connection, missed.count), (Some(0), Some(1000)));
}

/// What was in flight when the capture began is acknowledged in it, and no subflow lacks; bytes that are absent until the end do
/// show one.
#[test]
fn data_in_flight_at_the_start_shows_no_missing_path() {
    let text = "
        0  client wifi A 7001  49001 0    dss(ack 89001)
        1  server wifi A 50001 7001 1000 dss(90001 50001 1000, ack 301)
        20 client wifi A 7001  50001 0    dss(ack 90001)
        21 client wifi A 7001  51001 0    dss(ack 91001)
        30 server lte  A 80001 9001 1000 dss(91001 80001 1000, ack 301)
        50 client lte  A 9001  81001 0    dss(ack 92001)
        60 server wifi A 51001 7001 1000 dss(92001 51001 1000, ack 301)
        80 client wifi A 7001  52001 0    dss(ack 93001)
        ";
    let tables = begun().run(text);
    assert!(!diagnostics(&tables).contains(&"path_missing"), "{:?}", diagnostics(&tables));
    assert_eq!((flow(&tables, 0, Down).share, flow(&tables, 1, Down).share), (Some(2.0 / 3.0), Some(1.0 / 3.0)));
    let one: String = text.lines().filter(|line| !line.contains("lte")).map(|line| format!("{line}\n")).collect();
    let tables = begun().run(&one);
    assert!(diagnostics(&tables).contains(&"path_missing"), "{:?}", diagnostics(&tables));
}

/// A client's packets under an address that a NAT gave anew: the same port and numbers.
fn rebound() -> Script {
    let server = "10.255.0.1:443".parse().unwrap();
    let ends = |client: &str| [client.parse().unwrap(), server];
    Script {
        addresses: [("wifi", ends("10.0.1.1:5000")), ("new", ends("10.0.1.99:5000"))].into(),
        initial: [("wifi", [7000, 8000]), ("new", [7000, 8000])].into(),
        ..Script::at(Host::Server)
    }
}

/// After a NAT's rebinding the server resets packets under an address that it does not know: no subflow, and no end of one;
/// and it took nothing of what they brought.
#[test]
fn packets_that_are_only_reset_are_no_subflow() {
    let tables = Script::at(Host::Server).run(
        "
        0    client wifi S  0    0    0    mp_capable
        0.1  server wifi SA 0    1    0    mp_capable
        20   client wifi A  1    1    0    mp_capable
        30   client wifi A  1    1    1000 dss(1 1 1000, ack 1)
        30   server wifi A  1    1001 0    dss(ack 1001)
        1000 client new  A  1001 1    1000 dss(1001 1001 1000, ack 1)
        1000 server new  R  1    0    0
        1300 client new  A  1001 1    1000 dss(1001 1001 1000, ack 1)
        1300 server new  R  1    0    0
        2000 client wifi A  1001 1    1000 dss(1001 1001 1000, ack 1)
        2000 server wifi A  1    2001 0    dss(ack 2001)
        ",
    );
    assert_eq!((only(&tables).subflows, subflow(&tables, 0).handshake), (2, "established"));
    assert_eq!((subflow(&tables, 1).kind, subflow(&tables, 1).handshake), ("unknown", "stray"));
    assert_eq!((transfer(&tables, Up).bytes, transfer(&tables, Up).reinjected_bytes), (2000, Some(0)));
    assert_eq!((flow(&tables, 0, Up).delivered_bytes, flow(&tables, 1, Up).delivered_bytes), (Some(2000), Some(0)));
    assert_eq!((flow(&tables, 1, Up).data_packets, flow(&tables, 1, Up).packets), (2, 2));
}

/// What a rebound address sends first may be a mere acknowledgement, that of a join again, or plain TCP's data: its port and
/// numbers tell whose it is.
#[test]
fn packets_without_data_sequence_numbers_are_known_by_their_port_and_numbers() {
    let cases = [
        ("mp_capable", "A  1    1    0"),
        ("mp_capable", "A  1001 1    0"),
        ("mp_capable", "A  1001 1    1000 dss4(1001 1001 1000, ack 1)"),
        ("ws(7)", "A  1001 1    1000"),
        ("ws(7)", "A  1001 1    0"),
    ];
    for (option, packet) in cases {
        let dss = if option == "ws(7)" { "" } else { "dss(1 1 1000, ack 1)" };
        let text = format!(
            "
            0    client wifi S  0    0    0    {option}
            0.1  server wifi SA 0    1    0    {option}
            20   client wifi A  1    1    0    {option}
            30   client wifi A  1    1    1000 {dss}
            30   server wifi A  1    1001 0    {}
            1000 client new  {packet}
            1000 server new  R  1    0    0
            ",
            dss.replace("1 1 1000, ack 1", "ack 1001"),
        );
        let tables = rebound().run(&text);
        assert_eq!((only(&tables).subflows, subflow(&tables, 1).handshake), (2, "stray"), "{packet}");
        assert_eq!(transfer(&tables, Up).bytes, 1000, "{packet}");
        assert_eq!(only(&tables).ended, "open", "{packet}");
        // Another server, port, or number is another connection.
        let elsewhere = text.replace("client new", "client far").replace("server new", "server far");
        assert_eq!(rebound().run(&elsewhere).connections.len(), 2, "{packet}");
        let beyond = text.replace("new  A  1001", "new  A  90000000").replace("new  A  1 ", "new  A  90000000 ");
        assert_eq!(rebound().run(&beyond.replace("dss4(", "ts(1) # ")).connections.len(), 2, "{packet}");
        // Nor is it stray if the server knows it.
        let known = text.replace("server new  R  1 ", "server new  A  1 ");
        assert!(rebound().run(&known).subflows.iter().all(|row| row.handshake != "stray"), "{packet}");
    }
}

/// Two connections at once, 8-byte numbers far apart.
#[test]
fn connections_are_kept_apart_by_data_sequence_numbers() {
    let other = Script { data_bases: Some([1 << 40, 1 << 50]), number: 1, ..begun() };
    let mut packets = begun().packets(TWO_SUBFLOWS);
    packets.extend(other.packets(TWO_SUBFLOWS));
    let tables = analyze(packets);
    assert_eq!(tables.connections.iter().map(|row| row.subflows).collect::<Vec<_>>(), [2, 2]);
    assert_eq!(tables.transfers.iter().map(|row| row.bytes).collect::<Vec<_>>(), [0, 3000, 0, 3000]);
}

/// The first segment seen lies within its mapping: where the mapping began shows when the next one begins.
#[test]
fn capture_begins_within_a_mapping() {
    let tables = begun().run(
        "
        0  server wifi A 50501 7001  500  dss(90001 50001 1000, ack 301)   # its second half
        1  server wifi A 51001 7001  500  dss(91001 51001 1000, ack 301)
        2  server wifi A 51501 7001  500  dss(91001 51001 1000, ack 301)
        2  client wifi A 7001  52001 0    dss(ack 92001)
        ",
    );
    // Only the second mapping's place is certain.
    assert_eq!(flow(&tables, 0, Down).bytes, 1500);
    assert_eq!(flow(&tables, 0, Down).delivered_bytes, Some(1000));
    let unmapped = tables.diagnostics.iter().find(|row| row.diagnostic == "unmapped_bytes").unwrap();
    assert_eq!(unmapped.count, Some(500));
}

/// A join tells the token, so that it finds its connection; and that the other side is known by its SYN.
#[test]
fn join_to_a_connection_begun_before_the_capture() {
    let tables = begun().run(
        "
        0  server wifi A  50001 7001 1000 dss(90001 50001 1000, ack 301)
        0  client wifi A  7001  51001 0   dss(ack 91001)
        10 client lte  S  0     0    0    join(2)
        60 server lte  SA 0     1    0    join(0)
        60 client lte  A  1     1    0    join(2)
        90 server lte  A  1     1    1000 dss(91001 1 1000, ack 301)
        90 client lte  A  1     1001 0    dss(ack 92001)
        ",
    );
    assert_eq!(only(&tables).subflows, 2);
    assert_eq!((subflow(&tables, 1).kind, subflow(&tables, 1).opened_by), ("join", Some("client")));
    assert_eq!(transfer(&tables, Down).bytes, 2000);
    assert_eq!(subflow(&tables, 1).handshake_rtt_ms, Some(50.0));
}

/// Plain TCP: what is acknowledged counts from the first byte seen.
#[test]
fn plain_tcp() {
    let tables = Script::default().run(
        "
        0  server wifi A 5001 7001 1000
        20 client wifi A 7001 6001 0
        30 server wifi A 6001 7001 1000
        50 client wifi A 7001 7001 0
        ",
    );
    assert_eq!((only(&tables).began, transfer(&tables, Down).bytes), ("midway", 2000));
    assert_eq!((subflow(&tables, 0).kind, subflow(&tables, 0).handshake), ("tcp", "unseen"));
    // Without the SYNs the window's scale is not known.
    assert_eq!(flow(&tables, 0, Down).window_bytes_max, None);
}

/// Ports do not tell the server: then who is seen first is the client.
#[test]
fn orientation_without_a_handshake() {
    let addresses = ["10.0.0.1:8000", "10.0.0.2:8000"].map(|address| address.parse().unwrap());
    let script = Script { addresses: [("wifi", addresses)].into(), ..Script::default() };
    let tables = script.run("0 client wifi A 1 1 100");
    assert_eq!(only(&tables).client_address, Some([10, 0, 0, 1].into()));
    let tables = script.run("0 server wifi A 1 1 100");
    assert_eq!(only(&tables).client_address, Some([10, 0, 0, 2].into()));
}

/// The third packet shows both keys: the connection is known by its tokens although its SYNs were missed.
#[test]
fn keys_on_the_third_packet() {
    let script = Script::default();
    let tables = script.run(
        "
        0   client wifi A  1   1   0   mp_capable
        1   client wifi A  1   1   100 mp_capable
        21  server wifi A  1   101 50  dss(1 1 50, ack 101)
        21  client wifi A  101 51  0   dss(ack 51)
        30  client lte  S  0   0   0   join(2)
        80  server lte  SA 0   1   0   join(0)
        80  client lte  A  1   1   0   join(2)
        ",
    );
    assert_eq!((only(&tables).subflows, only(&tables).mptcp_version), (2, Some(1)));
    assert_eq!(only(&tables).server_token, Some(script.token(Host::Server)));
    assert_eq!((transfer(&tables, Up).bytes, transfer(&tables, Down).bytes), (100, 50));
    assert_eq!(subflow(&tables, 1).hmac_valid, Some(true));
}

/// What shows an option of MPTCP is no plain TCP, whatever its version is.
#[test]
fn mptcp_of_a_version_that_is_not_known() {
    let cases = [
        ("a join to a connection that is not there", "0 client lte S 0 0 0 join(2)\n50 server lte SA 0 1 0 join(0)"),
        ("a data acknowledgement", "0 client wifi A 1 1 0 dss(ack 1)"),
        ("a shorter one", "0 client wifi A 1 1 0 dss4(ack 1)"),
        ("an address", "0 client wifi A 1 1 0 add_addr(3 10.1.2.3)"),
        ("the reason of a reset", "0 client wifi R 1 0 0 tcprst(1)"),
    ];
    let plain: String = (0..20).map(|number| format!("{number} client wifi A {} 1 100\n", 1 + 100 * number)).collect();
    let late = format!("{plain}30 client wifi A 2001 1 100 dss(2001 2001 100)");
    for (what, text) in cases.into_iter().chain([("data after much without", late.as_str())]) {
        let tables = Script::default().run(text);
        assert_eq!((only(&tables).protocol, only(&tables).mptcp_version), ("mptcp", None), "{what}");
    }
    assert_eq!(only(&Script::default().run(&plain)).protocol, "tcp");
}
