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
    // One handshake, which counts as nine acknowledgements.
    close(only(&tables).vantage_confidence, 10.0 / 11.0);
    assert_eq!(only(&tables).vantage_samples, Some(1));
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

/// A client on a LAN whose acknowledgements wait for 20 or 40 ms: the handshake tells, however short, not they.
#[test]
fn delayed_acknowledgements_are_no_distance() {
    let data: String = (0..20)
        .map(|number| {
            let (at, up, down) = (10 + 200 * number, 1 + 100 * number, 1 + 600 * number);
            format!(
                "
                {at}     client wifi A {up} {down} 100
                {at}.5   server wifi A {down} {} 600
                {}.5 client wifi A {} {} 0
                ",
                up + 100,
                at + 40,
                up + 100,
                down + 600
            )
        })
        .collect();
    let handshake = "
        0    client wifi S  0 0 0
        0.4  server wifi SA 0 1 0
        0.42 client wifi A  1 1 0
        ";
    let tables = Script::default().run(&format!("{handshake}{data}"));
    assert_eq!(only(&tables).vantage, Some("client"));
    close(flow(&tables, 0, Up).rtt_ms_mean, 0.5);
    // Without the handshake nobody can tell a delay from a distance.
    let tables = Script::default().run(&data);
    assert_eq!(only(&tables).vantage, None);
    assert_eq!(flow(&tables, 0, Down).rtt_ms_mean, None);
}

/// Two thirds of the way from one end, RTTs are no end's.
#[test]
fn on_a_router_between_the_ends() {
    for (client, server) in [(30.0, 70.0), (70.0, 30.0), (25.0, 75.0)] {
        let tables = Script::default().run(&seen(client, server));
        assert_eq!((only(&tables).vantage, only(&tables).vantage_samples), (None, None), "{client} {server}");
    }
}

/// A bulk transfer after the handshake; two segments are acknowledged at once.
fn bulk(server_answers_ms: f64, client_answers_ms: f64, rounds: u32, options: &str) -> String {
    let round = |number: u32| {
        let (at, up, down) = (200.0 * f64::from(number + 1), 1 + 2920 * number, 1 + 2920 * number);
        format!(
            "
            {at} client wifi A {up} {down} 1460
            {at} client wifi A {} {down} 1460
            {} server wifi A {down} {} 0 {options}
            {} server wifi A {down} {} 1460 {options}
            {} server wifi A {} {} 1460 {options}
            {} client wifi A {} {} 0
            ",
            up + 1460,
            at + server_answers_ms,
            up + 2920,
            at + 100.0,
            up + 2920,
            at + 100.0,
            down + 1460,
            up + 2920,
            at + 100.0 + client_answers_ms,
            up + 2920,
            down + 2920,
        )
    };
    (0..rounds).map(round).collect()
}

/// Without handshakes: by what is acknowledged at once, and never by one sample.
#[test]
fn acknowledgements_that_cannot_wait_tell() {
    let vantage = |text: &str| {
        let tables = Script::default().run(text);
        let connection = only(&tables);
        (connection.vantage, connection.vantage_confidence, connection.vantage_samples)
    };
    assert_eq!(vantage(&bulk(30.0, 0.1, 1, "")), (None, None, None));
    assert_eq!(vantage(&bulk(30.0, 0.1, 3, "")), (Some("client"), Some(0.8), Some(3)));
    assert_eq!(vantage(&bulk(0.1, 30.0, 20, "")), (Some("server"), Some(0.9), Some(20)));
    // Nobody is near who never answered at once.
    assert_eq!(vantage(&bulk(60.0, 10.0, 20, "")), (None, None, None));
}

/// A server that thinks about a SYN for 5 ms, on a LAN of 0.4 ms: it acknowledges data sooner than the client can be away.
#[test]
fn a_slow_answer_to_the_syn_is_no_distance() {
    let opening = "
        0   client wifi S  0    0    0    mss(1460)
        5   server wifi SA 0    1    0    mss(1460)
        5.4 client wifi A  1    1    0
        ";
    let vantage = |text: &str| only(&Script::default().run(text)).vantage;
    assert_eq!(vantage(&(opening.to_owned() + &bulk(0.02, 0.4, 10, ""))), Some("server"));
    assert_eq!(vantage(&(opening.to_owned() + &bulk(5.0, 0.4, 10, ""))), Some("client"));
}

/// What has crossed no router has the time to live that hosts begin with.
#[test]
fn times_to_live_tell() {
    let vantage = |text: &str| only(&Script::default().run(text)).vantage;
    assert_eq!(vantage(&bulk(60.0, 10.0, 1, "ttl(51)")), Some("client"));
    assert_eq!(vantage(&bulk(60.0, 10.0, 1, "ttl(128)")), None);
    // Against the handshake it makes unsure.
    let against = |text: String| text.replace("mp_capable", "ttl(128)").replace("0    client", "0 client");
    let handshake =
        against(seen(39.9, 0.1)).replace("server wifi SA 0    1    0    ttl(128)", "server wifi SA 0 1 0 ttl(51)");
    assert_eq!(vantage(&handshake), None);
}

/// A capture has one end: what one connection hides others show, and none says the contrary.
#[test]
fn judged_over_the_whole_capture() {
    let mut packets = Vec::new();
    let address = |port| [("wifi", [([10, 0, 0, 9], port).into(), ([10, 255, 0, 1], 443).into()])].into();
    for number in 0..40u16 {
        // On a LAN of 0.3 ms each fourth handshake looks turned, and each fourth connection has none.
        let script = Script { addresses: address(2000 + number), ..Script::numbered(number) };
        let at = f64::from(number) * 10.0;
        let (server, client) = if number % 4 == 1 { (0.1, 0.2) } else { (0.3, 0.05) };
        let handshake = format!(
            "
            {at} client wifi S  0 0 0
            {}   server wifi SA 0 1 0
            {}   client wifi A  1 1 0
            ",
            at + server,
            at + server + client
        );
        let data = format!("{} client wifi A 1 1 100\n{} server wifi A 1 101 0", at + 2.0, at + 2.3);
        packets.extend(script.packets(&if number % 4 == 3 { data } else { format!("{handshake}{data}") }));
    }
    let tables = analyze(packets);
    assert_eq!(tables.connections.len(), 40);
    for connection in &tables.connections {
        assert_eq!((connection.vantage, connection.vantage_samples), (Some("client"), Some(20)));
        close(connection.vantage_confidence, 181.0 / 272.0);
    }
}

/// The same where connections are over long before the capture is.
#[test]
fn judged_over_what_comes_later() {
    let mut packets = Vec::new();
    let address = |port| [("wifi", [([10, 0, 0, 9], port).into(), ([10, 255, 0, 1], 443).into()])].into();
    let closing = "
        5000 client wifi FA 1 1 0
        5030 server wifi FA 1 2 0
        5030 client wifi A  2 2 0
        ";
    packets.extend(Script { addresses: address(2000), ..Script::default() }.packets(closing));
    let later = Script { addresses: address(2001), ..Script::numbered(1) };
    let at = "
        90000   client wifi S  0 0 0
        90039.9 server wifi SA 0 1 0
        90040   client wifi A  1 1 0
        ";
    packets.extend(later.packets(at));
    let tables = analyze(packets);
    let vantages: Vec<_> = tables.connections.iter().map(|row| row.vantage).collect();
    assert_eq!(vantages, [Some("client"), Some("client")]);
}

/// Both ends of a connection within one machine are near.
#[test]
fn on_one_machine() {
    let loopback = [("wifi", [([127, 0, 0, 1], 2000).into(), ([127, 0, 0, 1], 443).into()])].into();
    let tables = Script { addresses: loopback, ..Script::default() }.run(&seen(0.005, 0.03));
    assert_eq!(only(&tables).vantage, None);
}
