//! How connections and subflows begin, and when they do not.

#[path = "handshake/joins.rs"]
mod joins;
mod script;

use script::Host::{Client, Server};
use script::*;

/// RFC 8684 §3.1: in version 1 the SYN carries no key, the SYN/ACK the server's, the third packet both; tokens are the
/// leftmost 32 bits of the keys' SHA-256.
#[test]
fn version_1() {
    let script = Script::default();
    let tables = script.run(
        "
        0   client wifi S  0 0 0 mp_capable
        20  server wifi SA 0 1 0 mp_capable
        21  client wifi A  1 1 0 mp_capable
        ",
    );
    let connection = only(&tables);
    assert_eq!(connection.mptcp_version, Some(1));
    assert_eq!(connection.client_token, Some(script.token(Client)));
    assert_eq!(connection.server_token, Some(script.token(Server)));
    assert_eq!((connection.began, connection.fallback, connection.ended), ("handshake", None, "open"));
    assert_eq!(connection.checksums, Some(false));
    let subflow = subflow(&tables, 0);
    assert_eq!((subflow.kind, subflow.opened_by, subflow.handshake), ("initial", Some("client"), "established"));
    assert_eq!(subflow.path.as_deref(), Some("wifi"));
    assert_eq!(subflow.client_mss_bytes, Some(1460));
    // 20 of 21 ms passed beyond the capture: it was taken at the client. One handshake says so.
    assert_eq!(connection.vantage, Some("client"));
    close(connection.vantage_confidence, 10.0 / 11.0);
    // SYN to SYN/ACK at the client.
    assert_eq!(subflow.handshake_rtt_ms, Some(20.0));
    assert_eq!(subflow.join_time_ms, Some(21.0));
    assert_eq!(events(&tables), ["mptcp_established"]);
}

/// RFC 6824 §3.1: in version 0 both keys are on the SYNs; tokens come from SHA-1.
#[test]
fn version_0() {
    let script = Script { version: 0, ..Script::at(Server) };
    let tables = script.run(
        "
        0    client wifi S  0 0 0 mp_capable(checksum)
        0.5  server wifi SA 0 1 0 mp_capable
        20   client wifi A  1 1 0 mp_capable(checksum)
        21   client wifi A  1 1 100 dss4(1 1 100, ack 1)
        21.5 server wifi A  1 101 0 dss4(ack 101)
        ",
    );
    let connection = only(&tables);
    assert_eq!(connection.mptcp_version, Some(0));
    assert_eq!(connection.client_token, Some(script.token(Client)));
    assert_eq!(connection.server_token, Some(script.token(Server)));
    // RFC 6824 §3.1: checksums are used if either side asks for them.
    assert_eq!(connection.checksums, Some(true));
    assert_eq!(connection.vantage, Some("server"));
    // SYN/ACK to ACK at the server.
    assert_eq!(subflow(&tables, 0).handshake_rtt_ms, Some(19.5));
    assert_eq!(transfer(&tables, Up).bytes, 100);
}

const HANDSHAKE: &str = "
    0   client wifi S  0 0 0 mp_capable
    20  server wifi SA 0 1 0 mp_capable
    20  client wifi A  1 1 0 mp_capable
    ";

/// RFC 8684 §3.7: a SYN/ACK without MP_CAPABLE, and the connection is plain TCP: ACKs say what was delivered.
#[test]
fn fallback_when_the_server_does_not_know_mptcp() {
    let tables = Script::default().run(
        "
        0  client wifi S  0 0 0 mp_capable
        20 server wifi SA 0 1 0
        20 client wifi A  1 1 0
        21 client wifi A  1 1 100
        41 server wifi A  1 101 0
        ",
    );
    let connection = only(&tables);
    assert_eq!(connection.mptcp_version, None);
    assert_eq!(connection.fallback, Some("the SYN/ACK came without MP_CAPABLE"));
    assert_eq!(transfer(&tables, Up).bytes, 100);
    assert_eq!(flow(&tables, 0, Up).delivered_bytes, Some(100));
    assert_eq!(flow(&tables, 0, Up).share, Some(1.0));
    assert_eq!(events(&tables), ["tcp_established"]);
    assert_eq!(subflow(&tables, 0).handshake_remark, connection.fallback);
}

/// RFC 8684 §3.7: data without DSS at the very beginning: MPTCP options do not get through.
#[test]
fn fallback_when_data_comes_without_dss() {
    let tables = Script::default().run(&format!(
        "{HANDSHAKE}
        21 client wifi A  1   1   100
        41 server wifi A  1   101 0
        42 server wifi A  1   101 500
        43 client wifi A  101 501 0
        "
    ));
    let connection = only(&tables);
    assert_eq!(connection.mptcp_version, Some(1));
    assert_eq!(connection.fallback, Some("data came without DSS"));
    assert_eq!((transfer(&tables, Up).bytes, transfer(&tables, Down).bytes), (100, 500));
    assert_eq!(events(&tables), ["mptcp_established", "fallback"]);
    assert_eq!(diagnostics(&tables), [] as [&str; 0]);
}

/// The same where both ends were captured: each end's bytes count.
#[test]
fn fallback_when_data_comes_without_dss_seen_from_both_ends() {
    let tables = Script::default().run(
        "
        0|10  client wifi S  0   0   0 mp_capable
        20|10 server wifi SA 0   1   0 mp_capable
        20|30 client wifi A  1   1   0 mp_capable
        21|31 client wifi A  1   1   100
        41|31 server wifi A  1   101 0
        42|32 server wifi A  1   101 500
        43|53 client wifi A  101 501 0
        ",
    );
    assert_eq!(only(&tables).fallback, Some("data came without DSS"));
    assert_eq!((transfer(&tables, Up).bytes, transfer(&tables, Down).bytes), (100, 500));
    assert_eq!((flow(&tables, 0, Up).delivered_bytes, flow(&tables, 0, Down).delivered_bytes), (Some(100), Some(500)));
    assert_eq!(diagnostics(&tables), ["clock_offset"]);
}

/// RFC 8684 §3.7: MP_FAIL reports a wrong checksum; an infinite mapping says that from now on there are no DSS, in either
/// direction.
#[test]
fn fallback_by_mp_fail_and_infinite_mapping() {
    let tables = Script::default().run(&format!(
        "{HANDSHAKE}
        30 server wifi A  1   1   100 dss(1 1 100, ack 1)
        31 client wifi A  1   101 50  dss(1 1 50, ack 101)
        32 client wifi A  51  101 0   fail(1)
        60 server wifi A  101 51  100 dss(101 101 0)
        61 server wifi A  201 51  100
        62 client wifi A  51  301 70
        90 server wifi A  301 121 0
        "
    ));
    let connection = only(&tables);
    assert_eq!(connection.fallback, Some("infinite mapping"));
    assert_eq!(events(&tables), ["mptcp_established", "fail", "fallback"]);
    // 100 under DSS, 200 under the infinite mapping; 50 under DSS and 70 after the fallback.
    assert_eq!((transfer(&tables, Down).bytes, transfer(&tables, Up).bytes), (300, 120));
    assert_eq!((flow(&tables, 0, Down).delivered_bytes, flow(&tables, 0, Up).delivered_bytes), (Some(300), Some(120)));
    assert_eq!(diagnostics(&tables), [] as [&str; 0]);
}

#[test]
fn plain_tcp() {
    let tables = Script::default().run(
        "
        0   client wifi S  0   0   0
        20  server wifi SA 0   1   0
        20  client wifi A  1   1   0
        21  client wifi A  1   1   100
        41  server wifi A  1   101 1000
        41  client wifi A  101 1001 0
        42  client wifi FA 101 1001 0
        62  server wifi FA 1001 102 0
        62  client wifi A  102 1002 0
        ",
    );
    let connection = only(&tables);
    assert_eq!((connection.mptcp_version, connection.client_token, connection.fallback), (None, None, None));
    assert_eq!((connection.began, connection.ended), ("handshake", "closed"));
    let subflow = subflow(&tables, 0);
    assert_eq!((subflow.kind, subflow.handshake, subflow.ended), ("tcp", "established", "fin"));
    assert_eq!((transfer(&tables, Up).bytes, transfer(&tables, Down).bytes), (100, 1000));
    // MPTCP's figures are empty for plain TCP.
    assert_eq!(transfer(&tables, Up).reinjected_bytes, None);
    assert_eq!(events(&tables), ["tcp_established"]);
}

/// RFC 7413 §2: TCP Fast Open carries data on the SYN; a server without the cookie acknowledges the SYN alone.
#[test]
fn fast_open() {
    let taken = Script::default().run(
        "
        0   client wifi S  0   0   100
        20  server wifi SA 0   101 0
        20  client wifi A  101 1   50
        40  server wifi A  1   151 0
        ",
    );
    assert_eq!(transfer(&taken, Up).bytes, 150);
    assert_eq!(flow(&taken, 0, Up).retransmitted_packets, Some(0));
    let refused = Script::default().run(
        "
        0   client wifi S  0   0   100
        20  server wifi SA 0   1   0
        20  client wifi A  1   1   150
        40  server wifi A  1   151 0
        ",
    );
    assert_eq!(transfer(&refused, Up).bytes, 150);
    // 100 of the 150 bytes had been sent before.
    assert_eq!(flow(&refused, 0, Up).retransmitted_bytes, Some(100));
}

/// RFC 8684 §B.2: what the SYN carries has no place in the data, and mappings count from behind it.
#[test]
fn fast_open_of_mptcp() {
    let tables = Script::default().run(
        "
        0   client wifi S  0    0    24   mp_capable
        20  server wifi SA 0    25   0    mp_capable
        20  client wifi A  25   1    0    mp_capable
        21  client wifi A  25   1    1000 dss(1 1 1000, ack 1)
        22  client wifi A  1025 1    1000 dss(1001 1001 1000, ack 1)
        41  server wifi A  1    2025 0    dss(ack 2001)
        ",
    );
    assert_eq!(transfer(&tables, Up).bytes, 2000);
    assert_eq!(flow(&tables, 0, Up).share, Some(1.0));
}

/// RFC 9293 §3.5, figure 8: both open at once, with a SYN each; that is one connection.
#[test]
fn simultaneous_open() {
    let tables = Script::default().run(
        "
        0   client wifi S  0   0   0
        5   server wifi S  0   0   0
        5   client wifi SA 0   1   0
        25  server wifi SA 0   1   0
        30  client wifi A  1   1   100
        50  server wifi A  1   101 0
        ",
    );
    assert_eq!(only(&tables).client_address, Some([10, 0, 1, 1].into()));
    assert_eq!(transfer(&tables, Up).bytes, 100);
}

/// RFC 8684 §3.4: addresses come and go; HMACs of ADD_ADDR are checked with the keys. RFC 8684 §3.3.8: MP_PRIO.
#[test]
fn address_signalling_and_priorities() {
    let tables = Script::default().run(&format!(
        "{HANDSHAKE}
        30 server wifi A 1 1 0 add_addr(7 10.255.0.2:8080)
        31 client wifi A 1 1 0 add_addr(7 10.255.0.2:8080 echo)
        32 server wifi A 1 1 0 add_addr(8 2001:db8::1)
        33 server wifi A 1 1 0 add_addr(9 10.255.0.3 wrong)
        34 client wifi A 1 1 0 prio(backup)
        35 client wifi A 1 1 0 remove_addr(2 3)
        "
    ));
    let listed: Vec<_> = tables
        .events
        .iter()
        .map(|row| (row.event, row.direction.unwrap(), row.address_id, row.port, row.detail))
        .collect();
    assert_eq!(
        listed,
        [
            ("mptcp_established", Up, None, None, None),
            ("add_addr", Down, Some(7), Some(8080), Some("HMAC valid")),
            ("add_addr_echo", Up, Some(7), Some(8080), None),
            ("add_addr", Down, Some(8), None, Some("HMAC valid")),
            ("add_addr", Down, Some(9), None, Some("HMAC wrong")),
            ("prio", Up, None, None, Some("backup")),
            ("remove_addr", Up, Some(2), None, None),
            ("remove_addr", Up, Some(3), None, None),
        ]
    );
    assert_eq!(event(&tables, "add_addr_echo").address, Some([10, 255, 0, 2].into()));
    assert_eq!(event(&tables, "remove_addr").record, 9);
    assert!(subflow(&tables, 0).backup);
}

/// RFC 8684 §3.5: MP_FASTCLOSE on a reset ends the whole connection.
#[test]
fn fast_close() {
    let tables = Script::default().run(&format!(
        "{HANDSHAKE}
        30 client wifi RA 1 1 0 fastclose
        "
    ));
    assert_eq!(only(&tables).ended, "fastclose");
    assert_eq!(subflow(&tables, 0).ended, "reset");
    assert_eq!(events(&tables), ["mptcp_established", "fastclose", "reset"]);
}

/// RFC 8684 §3.3.3: the connection is closed when both DATA_FINs are acknowledged, whatever becomes of its subflows.
#[test]
fn closed_by_data_fin() {
    let tables = Script::default().run(&format!(
        "{HANDSHAKE}
        30 client wifi A  1   1   100 mp_capable
        50 server wifi A  1   101 0   dss(ack 101)
        51 client wifi A  101 1   0   dss(fin 101, ack 1)
        71 server wifi A  1   101 0   dss(fin 1, ack 102)
        71 client wifi A  101 1   0   dss(ack 2)
        72 client wifi R  101 0   0
        "
    ));
    assert_eq!(only(&tables).ended, "closed");
    // DATA_FIN takes a number but is no byte (RFC 8684 §3.3.3).
    assert_eq!((transfer(&tables, Up).bytes, transfer(&tables, Down).bytes), (100, 0));
    let half = Script::default().run(&format!(
        "{HANDSHAKE}
        51 client wifi A  1   1   0   dss(fin 1, ack 1)
        71 server wifi A  1   1   0   dss(ack 2)
        "
    ));
    assert_eq!(only(&half).ended, "half-closed");
}
