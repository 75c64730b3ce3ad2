//! Which end a capture was taken at, and what is left empty where that cannot be told.

mod script;

use script::Host::Server;
use script::*;

/// A download; handshake and data as seen at some place: the client's side takes `client` ms to answer, the server's
/// `server`.
fn seen(client: f64, server: f64) -> String {
    let data = server + client + 10.0;
    format!(
        "
        0       client wifi S  0    0    0    mp_capable
        {server} server wifi SA 0    1    0    mp_capable
        {third} client wifi A  1    1    0    mp_capable
        {data}  server wifi A  1    1    1000 dss(1 1 1000, ack 1)
        {ack}   client wifi A  1    1001 0    dss(ack 1001)
        {reply} client wifi A  1    1001 100  dss(1 1 100, ack 1001)
        {last}  server wifi A  1001 101  0    dss(ack 101)
        ",
        third = server + client,
        ack = data + client,
        reply = data + client + 1.0,
        last = data + client + 1.0 + server,
    )
}

#[test]
fn at_the_client() {
    let tables = Script::default().run(&seen(0.1, 39.9));
    assert_eq!(only(&tables).vantage, Some("client"));
    close(only(&tables).vantage_confidence, 39.9 / 40.0);
    // Who sends from here: the client, up.
    assert_eq!((flow(&tables, 0, Up).rtt_samples, flow(&tables, 0, Down).rtt_samples), (Some(1), None));
    assert_eq!(transfer(&tables, Up).reordering_segments, None);
    assert_eq!(transfer(&tables, Down).reordering_segments, Some(1));
}

#[test]
fn at_the_server() {
    let tables = Script::at(Server).run(&seen(39.9, 0.1));
    assert_eq!(only(&tables).vantage, Some("server"));
    assert_eq!((flow(&tables, 0, Up).rtt_samples, flow(&tables, 0, Down).rtt_samples), (None, Some(1)));
    assert_eq!(transfer(&tables, Up).reordering_segments, Some(1));
    assert_eq!(transfer(&tables, Down).reordering_segments, None);
    assert_eq!(subflow(&tables, 0).handshake_rtt_ms, Some(39.9));
}

/// In the middle both sides are as far: what belongs to one end is empty, what can be known anywhere is not.
#[test]
fn in_the_middle() {
    let tables = Script::default().run(&seen(20.0, 21.0));
    assert_eq!((only(&tables).vantage, only(&tables).vantage_confidence), (None, None));
    for direction in [Up, Down] {
        let (flow, transfer) = (flow(&tables, 0, direction), transfer(&tables, direction));
        assert_eq!((flow.rtt_samples, flow.rtt_ms_mean, flow.loss_rate_percent), (None, None, None));
        assert_eq!((flow.retransmitted_packets, flow.in_flight_bytes_max), (None, None));
        assert_eq!((transfer.rtt_ms_mean, transfer.reordering_segments), (None, None));
    }
    assert_eq!(subflow(&tables, 0).handshake_rtt_ms, None);
    assert_eq!((tables.rtt.len(), tables.reordering.len()), (0, 0));
    assert_eq!((transfer(&tables, Down).bytes, transfer(&tables, Up).bytes), (1000, 100));
    assert_eq!(flow(&tables, 0, Down).share, Some(1.0));
    assert!(diagnostics(&tables).contains(&"vantage_unknown"));
}

/// Round-trip times near 0 (one host, namespaces) with nothing between the sides: no guess.
#[test]
fn no_round_trip_time() {
    let tables = Script::default().run(&seen(0.0, 0.0));
    assert_eq!(only(&tables).vantage, None);
    let tables = Script::default().run(&seen(0.02, 0.021));
    assert_eq!(only(&tables).vantage, None);
}

/// Captures that tell which way packets went (Linux cooked, pcapng) settle it, whatever the times.
#[test]
fn direction_flags() {
    let client = Script { directions: true, ..Script::default() }.run(&seen(0.0, 0.0));
    assert_eq!((only(&client).vantage, only(&client).vantage_confidence), (Some("client"), Some(1.0)));
    let server = Script { directions: true, ..Script::at(Server) }.run(&seen(0.0, 0.0));
    assert_eq!(only(&server).vantage, Some("server"));
    assert_eq!(flow(&server, 0, Down).rtt_samples, Some(1));
}

/// A SYN that was lost on its way leaves no handshake RTT, but still tells the end.
#[test]
fn repeated_handshake_packets() {
    let client = Script::default().run(
        "
        0    client wifi S  0    0    0
        1000 client wifi S  0    0    0
        1040 server wifi SA 0    1    0
        1040 client wifi A  1    1    0
        1050 server wifi A  1    1    1000
        1050 client wifi A  1    1001 0
        ",
    );
    assert_eq!(only(&client).vantage, Some("client"));
    assert_eq!(subflow(&client, 0).handshake_rtt_ms, None);
}
