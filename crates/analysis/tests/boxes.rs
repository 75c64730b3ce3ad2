//! What middleboxes did, from what both ends saw.

mod script;

use script::*;

/// RFC 8684 §3.7: the SYN/ACK loses its option. The client speaks TCP, and so does the server once it hears it do so. The
/// captures show one connection, whichever end's clock is ahead.
#[test]
fn an_option_stripped_from_the_syn_ack() {
    for (version, server_clock_ns) in [(0, 0), (1, 0), (1, -60_000_000), (1, 60_000_000)] {
        let script = Script { version, server_clock_ns, ..Script::default() };
        let tables = script.run(
            "
            0|20   client wifi S  0    0    0    mp_capable
            -|20.1 server wifi SA 0    1    0    mp_capable
            40|-   server wifi SA 0    1    0
            41|61  client wifi A  1    1    0
            82|62  server wifi A  1    1    1000
            83|103 client wifi A  1    1001 0
            ",
        );
        let connection = only(&tables);
        assert_eq!((connection.mptcp_version, connection.client_token, connection.server_token), (None, None, None));
        assert_eq!(connection.fallback, Some("the SYN/ACK came without MP_CAPABLE"));
        assert_eq!(connection.vantage, Some("both"));
        assert_eq!(transfer(&tables, Down).bytes, 1000);
        assert!(diagnostics(&tables).contains(&"options_stripped"), "{:?}", diagnostics(&tables));
        let stripped = tables.diagnostics.iter().find(|row| row.diagnostic == "options_stripped").unwrap();
        assert!(stripped.message.starts_with("the SYN/ACK left with"), "{}", stripped.message);
    }
}

/// The SYN loses it: the client asked, and was not heard.
#[test]
fn an_option_stripped_from_the_syn() {
    let tables = Script::default().run(
        "
        0|-     client wifi S  0    0    0    mp_capable
        -|20    client wifi S  0    0    0
        40|20.1 server wifi SA 0    1    0
        41|61   client wifi A  1    1    0
        ",
    );
    assert_eq!(only(&tables).fallback, Some("the SYN/ACK came without MP_CAPABLE"));
    let stripped = tables.diagnostics.iter().find(|row| row.diagnostic == "options_stripped").unwrap();
    assert!(stripped.message.starts_with("the SYN left with"), "{}", stripped.message);
}

/// A download over Wi-Fi, whose join over LTE lost its option: from the SYN, or from the SYN/ACK. The client resets what is no
/// subflow (RFC 8684 §3.2).
fn join_without_option(syn: &str, syn_ack: &str) -> Vec<Captured> {
    failed_join(&format!(
        "
        100|-    client lte  S  0 0 0 join(2)
        -|130    client lte  S  0 0 0 {syn}
        -|130.1  server lte  SA 0 1 0 {syn_ack}
        160|-    server lte  SA 0 1 0
        160.1|190 client lte R  1 0 0 tcprst(1)"
    ))
}

/// A download over Wi-Fi, and a join over LTE that fails: `lines` are its packets.
fn failed_join(lines: &str) -> Vec<Captured> {
    let data = (0..100).map(|number| {
        let (at, from) = (200 + 20 * number, 1 + 10_000 * number);
        format!(
            "{}|{at} server wifi A {from} 1 10000 dss({from} {from} 10000, ack 1)\n{}|{} client wifi A 1 {to} 0 dss(ack {to})\n",
            at + 20,
            at + 20,
            at + 40,
            to = from + 10_000
        )
    });
    Script::default().packets(&format!(
        "
        0|20     client wifi S  0 0 0 mp_capable
        40|20.1  server wifi SA 0 1 0 mp_capable
        41|61    client wifi A  1 1 0 mp_capable
        {lines}
        {}",
        data.collect::<String>()
    ))
}

/// Whichever of the two lost it, a finding names it, and what would help; the SYN that arrived bare is no connection of its own.
#[test]
fn an_option_stripped_from_a_join() {
    for (syn, syn_ack, lost_by) in [("", "", "the SYN left with"), ("join(2)", "join(0)", "the SYN/ACK left with")] {
        let packets = join_without_option(syn, syn_ack);
        let tables = analyze(packets.clone());
        assert_eq!(only(&tables).subflows, 2);
        let stripped = tables.diagnostics.iter().find(|row| row.diagnostic == "options_stripped").unwrap();
        assert!(stripped.message.starts_with(lost_by), "{}", stripped.message);
        assert_eq!(stripped.subflow, Some(1));
        let refused = tables.findings.iter().find(|row| row.kind == "join_refused").unwrap();
        assert!(refused.message.contains("a middlebox removes MP_JOIN"), "{}", refused.message);
        assert!(refused.remedy.contains("another port"), "{}", refused.remedy);
        let event = tables.events.iter().find(|row| row.event == "join_refused").unwrap();
        let removed = if syn.is_empty() { "the SYN" } else { "the SYN/ACK" };
        assert_eq!(event.detail.unwrap(), format!("a middlebox removes MP_JOIN from {removed}"));

        // The client alone cannot know where it was lost; that the server's limits are not to blame it can.
        let tables = analyze(packets.into_iter().filter(|packet| packet.host == Host::Client).collect());
        let refused = tables.findings.iter().find(|row| row.kind == "join_refused").unwrap();
        assert!(refused.message.contains("came without MP_JOIN"), "{}", refused.message);
        assert!(refused.remedy.contains("a capture at the server"), "{}", refused.remedy);
        assert!(!refused.remedy.contains("limits"), "{}", refused.remedy);
    }
}

/// Whose reset it was, and how far the SYN came, is reported as far as the captures show it; the limits are blamed only where they can be.
#[test]
fn who_turned_a_join_away() {
    let syn = "100|130 client lte S 0 0 0 join(2)\n";
    let finding = |lines: &str, client_alone: bool| {
        let mut packets = failed_join(lines);
        packets.retain(|packet| !client_alone || packet.host == Host::Client);
        let tables = analyze(packets);
        let row =
            tables.findings.iter().find(|row| row.kind.starts_with("join_")).expect("a finding of the join").clone();
        let foreign = tables.events.iter().any(|row| row.event == "reset" && row.detail == Some("sent by a middlebox"));
        assert_eq!(foreign, row.message.contains("a middlebox reset it"), "{}", row.message);
        assert!(row.message.contains("was never used: its join was"), "{}", row.message);
        let why = row.message.split_once('(').unwrap().1.trim_end_matches(')').to_owned();
        (why, row.remedy.contains("limits"), row.record)
    };
    let lost = "100|- client lte S 0 0 0 join(2)\n";
    for (lines, why, limits) in [
        (format!("{lost} 130|- server lte RA 0 1 0"), "a middlebox reset it: the SYN never reached the server", false),
        (
            format!("{syn} -|130.1 server lte SA 0 1 0 join(0)\n 160|- server lte RA 0 1 0"),
            "a middlebox reset it: the server had sent a SYN/ACK, and no reset",
            false,
        ),
        (format!("{syn} 160|130.1 server lte RA 0 1 0"), "the server answered the SYN with a reset", true),
        (
            format!("{syn} 160|130.1 server lte RA 0 1 0 tcprst(3)"),
            "the server answered the SYN with a reset: it does not take a further subflow (administratively prohibited",
            true,
        ),
        (
            format!(
                "{syn} 160|130.1 server lte SA 0 1 0 join(0)
                160|- client lte A 1 1 0 join(2)
                -|190 client lte A 1 1 0
                220|190.1 server lte RA 1 1 0 tcprst(1)"
            ),
            "a middlebox removes MP_JOIN from the third packet",
            false,
        ),
        (lost.to_owned(), "no SYN/ACK came: the SYN never reached the server", false),
        (syn.to_owned(), "no SYN/ACK came: the SYN reached the server, which did not answer", false),
        (
            format!("{syn} -|130.1 server lte SA 0 1 0 join(0)"),
            "no SYN/ACK came: the server sent one, which was lost",
            false,
        ),
    ] {
        let (found_why, found_limits, _) = finding(&lines, false);
        assert_eq!((found_why.as_str(), found_limits), (why, limits), "{lines}");
    }
    // The client alone knows only what a reason says: a host that turns joins away gives one, a firewall does not.
    let reset = |reason: &str| finding(&format!("{lost} 130|- server lte RA 0 1 0 {reason}"), true);
    let (why, limits, record) = reset("tcprst(3)");
    let meant = "the SYN was answered by a reset: it does not take a further subflow (administratively prohibited";
    assert_eq!((why.as_str(), limits), (meant, true));
    assert_eq!(record, Some(5), "the reset shows it");
    let (why, ..) = reset("");
    assert_eq!(why, "the SYN was answered by a reset");
}

/// Linux asks for MPTCP with three SYNs, and for TCP from the fourth on. `ms` of each is its times at the two ends; the last is
/// answered.
fn asked(with: [&str; 3], without: &[&str]) -> tables::Tables {
    let lines = with.map(|ms| format!("{ms} client wifi S 0 0 0 mp_capable\n"));
    let plain: String = without.iter().map(|ms| format!("{ms} client wifi S 0 0 0\n")).collect();
    Script::default().run(&format!(
        "
        {}{plain}
        15040|15020.1 server wifi SA 0 1 0
        15041|15061   client wifi A  1 1 0
        15082|15062   server wifi A  1 1 1000
        15083|15103   client wifi A  1 1001 0
        ",
        lines.concat()
    ))
}

/// Nobody refused anything where the client itself left MP_CAPABLE out, and the captures tell as much as they can.
#[test]
fn syns_that_were_lost_are_not_the_servers_fault() {
    let gone = ["0|-", "1000|-", "3000|-"];
    let came = ["0|20", "1000|1020", "3000|3020"];
    let by_chance = "chance, or a middlebox drops them";
    for (with, without, became) in [
        (gone, &["15000|15020"][..], by_chance),
        (gone, &["7000|-", "15000|15020"], "the path lost both kinds"),
        (came, &["15000|15020"], "it answered only the one without"),
    ] {
        let tables = asked(with, without);
        assert_eq!(only(&tables).fallback, Some("the client left MP_CAPABLE out of the SYN that was answered"));
        assert!(!diagnostics(&tables).contains(&"options_stripped"), "{:?}", diagnostics(&tables));
        let row = tables.diagnostics.iter().find(|row| row.diagnostic == "capable_left_out").unwrap();
        assert!(row.message.contains(became), "{}", row.message);
        assert_eq!(row.count, Some(3));
        let found: Vec<_> = tables.findings.iter().filter(|row| row.kind == "never_began").collect();
        assert!(found.len() == 1 && found[0].message.contains(became), "{found:?}");
    }
    // The client's capture alone.
    let only_client = |without: &[&str]| {
        let with = gone.map(|ms| format!("{ms} client wifi S 0 0 0 mp_capable\n")).concat();
        let plain: String = without.iter().map(|ms| format!("{ms}|- client wifi S 0 0 0\n")).collect();
        let rest = "15040|- server wifi SA 0 1 0\n15041|- client wifi A 1 1 0\n15082|- server wifi A 1 1 1000\n15083|- client wifi A 1 1001 0";
        let tables = Script::default().run(&format!("{with}{plain}{rest}"));
        tables.diagnostics.iter().find(|row| row.diagnostic == "capable_left_out").unwrap().message.to_string()
    };
    assert!(only_client(&["15000"]).ends_with("this capture cannot show which"));
    assert!(only_client(&["7000", "15000"]).contains("the path lost both kinds"));
}

/// Offloads merge what a sender sends first; what it sends again after time-outs is single, and as large as the path forbids.
#[test]
fn large_segments_that_vanish_show_behind_offloads() {
    let again = [300, 700, 1500].map(|ms| format!("-|{ms} server wifi A 1 1 1448 dss(1 1 1448, ack 1)\n")).concat();
    let tables = Script::default().run(&format!(
        "
        -|20  client wifi S  0    0    0    mp_capable
        0|-   client wifi S  0    0    0    mp_capable
        -|20.1 server wifi SA 0   1    0    mp_capable
        40|-  server wifi SA 0    1    0    mp_capable
        41|61 client wifi A  1    1    0    mp_capable
        -|62  server wifi A  1    1    2896 dss(1 1 2896, ack 1)
        82|62.1 server wifi A 2897 1   500  dss(2897 2897 500, ack 1)
        83|103 client wifi A 1    1    0    sack(2897 3397)
        {again}"
    ));
    assert!(diagnostics(&tables).contains(&"merged_segments"), "{:?}", diagnostics(&tables));
    assert!(diagnostics(&tables).contains(&"large_segments_lost"), "{:?}", diagnostics(&tables));
}

/// Of a first window without a short segment no data arrives at all. What shows that the path is not dead is an acknowledgement
/// that left after it: the capture of Linux 6.18 over a path for packets of 1000 bytes shows this.
#[test]
fn large_segments_vanish_where_only_bare_packets_arrive() {
    let lost = [62, 300, 900, 2000].map(|ms| format!("-|{ms} server wifi A 1 1 1424 dss(1 1 1424, ack 1)\n")).concat();
    for (after, expected) in [("5522|5500 server wifi A 1425 1 0", true), ("-|5500 server wifi A 1425 1 0", false)] {
        let tables = Script::default().run(&format!(
            "
            0|20  client wifi S  0    0    0    mp_capable
            40|20.1 server wifi SA 0  1    0    mp_capable
            41|61 client wifi A  1    1    0    mp_capable
            {lost}{after}"
        ));
        let row = tables.diagnostics.iter().find(|row| row.diagnostic == "large_segments_lost");
        assert_eq!(row.map(|row| row.count), expected.then_some(Some(0)), "{after}");
        let found = tables.findings.iter().filter(|row| row.kind == "large_segments_lost").count();
        assert_eq!(found, usize::from(expected), "{:?}", tables.findings);
    }
}

/// Two connections with the same sequence numbers: with keys at both ends nobody takes one for the other.
#[test]
fn keys_tell_apart_what_sequence_numbers_do_not() {
    let mut packets = Vec::new();
    for number in [1, 2] {
        let mut script = Script::numbered(number);
        script.initial.insert("wifi", [0, 0]);
        // Of the second, the client's capture has nothing.
        let (client, syn_ack) = if number == 1 { ("0|20", "40|20.1") } else { ("-|30", "-|30.1") };
        packets.extend(script.packets(&format!(
            "
            {client}  client wifi S  0 0 0 mp_capable
            {syn_ack} server wifi SA 0 1 0 mp_capable
            "
        )));
    }
    let tables = analyze(packets);
    assert_eq!(tables.connections.len(), 2);
    let vantages: Vec<_> = tables.connections.iter().map(|row| row.vantage).collect();
    assert_eq!(vantages.iter().filter(|vantage| **vantage == Some("both")).count(), 1, "{vantages:?}");
}

/// Two segments become one, whose options are those of the first: the rest has no mapping, and on its only subflow the
/// receiver falls back (RFC 8684 §3.7), which its ACKs show: they have no DATA_ACK any more.
const JOINED: &str = "
    0|20    client wifi S  0    0    0    mp_capable
    40|20.1 server wifi SA 0    1    0    mp_capable
    41|61   client wifi A  1    1    0    mp_capable
    -|62    server wifi A  1    1    1000 dss(1 1 1000, ack 1)
    -|62.1  server wifi A  1001 1    1000 dss(1001 1001 1000, ack 1)
    82|-    server wifi A  1    1    2000 dss(1 1 1000, ack 1)
    -|63    server wifi A  2001 1    1000 dss(2001 2001 1000, ack 1)
    83|-    server wifi A  2001 1    1000 dss(2001 2001 1000, ack 1)
    84|104  client wifi A  1    2001 0
    85|105  client wifi A  1    3001 0
    126|106 server wifi A  3001 1    1000
    127|147 client wifi A  1    4001 0
";

#[test]
fn a_fall_back_after_segments_were_joined() {
    let both = Script::default().run(JOINED);
    assert_eq!(only(&both).fallback, Some("data came that no mapping covers"));
    assert!(events(&both).contains(&"fallback"), "{:?}", events(&both));
    assert!(diagnostics(&both).contains(&"segments_joined"), "{:?}", diagnostics(&both));
    assert!(!diagnostics(&both).contains(&"unmapped_bytes"));
    assert_eq!(transfer(&both, Down).bytes, 4000);

    let of = |host| {
        let packets = Script::default().packets(JOINED).into_iter();
        analyze(packets.filter(|packet| packet.host == host).collect())
    };
    // The client's capture shows the same by itself; the server's, where all that is sent is mapped, that it was given up.
    let client = of(Host::Client);
    assert_eq!(only(&client).fallback, Some("data came that no mapping covers"));
    assert_eq!(transfer(&client, Down).bytes, 4000);
    let server = of(Host::Server);
    assert_eq!(only(&server).fallback, Some("data came without DSS"));
    assert_eq!(transfer(&server, Down).bytes, 4000);
}

/// A join that was refused, or not answered yet, is no other subflow: the receiver falls back all the same.
#[test]
fn a_fall_back_while_a_join_fails() {
    let asks = "82.5|110 client lte S 0 0 0 join(2)\n";
    let refuses = "150|112 server lte RA 0 1 0 tcprst(3)\n";
    for join in [asks.to_owned(), format!("{asks}{refuses}")] {
        let tables = Script::default().run(&format!("{JOINED}{join}"));
        assert_eq!(only(&tables).fallback, Some("data came that no mapping covers"), "{join}");
        assert_eq!(transfer(&tables, Down).bytes, 4000, "{join}");
    }
}

/// Nobody falls back who has two subflows: the one whose data has no mapping would be reset.
#[test]
fn no_fall_back_beside_a_join() {
    let join = "
        10|30   client lte S  0 0 0 join(2)
        50|30.1 server lte SA 0 1 0 join(3)
        51|71   client lte A  1 1 0 join(4)
    ";
    let tables = Script::default().run(&format!("{JOINED}{join}"));
    assert_eq!(only(&tables).fallback, None);
}

/// A gap in the mappings to which the receiver answers with DATA_ACKs is the capture's.
#[test]
fn no_fall_back_where_the_peer_goes_on() {
    let goes_on: String = JOINED
        .lines()
        .map(|line| if line.ends_with("01 0") { format!("{line} dss(ack 4001)\n") } else { format!("{line}\n") })
        .collect();
    let tables = Script::default().run(&goes_on);
    assert_eq!(only(&tables).fallback, None);
    assert!(diagnostics(&tables).contains(&"unmapped_bytes"));
}

#[test]
fn a_proxy_that_answers_a_join_is_found() {
    let lines = "
        100|- client lte S  0 0 0 join(2)
        164|- server lte SA 0 1 0
        164|- client lte R  1 0 0
        ";
    let packets = failed_join(lines);
    let tables = analyze(packets.clone());
    let refused = tables.findings.iter().find(|row| row.kind == "join_refused").unwrap();
    assert!(refused.message.contains("a proxy on the path answered"), "{}", refused.message);
    assert!(refused.remedy.starts_with("avoid the proxy"), "{}", refused.remedy);

    let tables = analyze(packets.into_iter().filter(|packet| packet.host == Host::Client).collect());
    let refused = tables.findings.iter().find(|row| row.kind == "join_refused").unwrap();
    assert!(!refused.message.contains("proxy"), "{}", refused.message);
}
