//! How subflows are joined, and when they are not.

use crate::HANDSHAKE;
use crate::script::Host::Server;
use crate::script::*;

/// Linux with MPTCP v0 sends DATA_ACKs on a subflow that still waits for its SYN/ACK: no third packet.
#[test]
fn an_ack_before_the_syn_ack_ends_no_handshake() {
    let script = Script::default();
    let tables = script.run(&format!(
        "{HANDSHAKE}
        100 client lte S  0 0 0 join(2)
        101 client lte A  0 0 0 dss(ack 1)
        150 server lte SA 0 1 0 join(0)
        150 client lte R  1 0 0
        "
    ));
    let join = subflow(&tables, 1);
    assert_eq!((join.handshake, join.handshake_remark), ("refused", Some("the opener reset it after the SYN/ACK")));
    assert_eq!(events(&tables), ["mptcp_established", "join_refused", "reset"]);
}

/// RFC 8684 §3.2: the SYN of a join names the connection by the receiver's token; HMACs prove the keys.
#[test]
fn join_from_the_client() {
    let script = Script::default();
    let tables = script.run(&format!(
        "{HANDSHAKE}
        100 client lte S  0 0 0 join(2 backup)
        150 server lte SA 0 1 0 join(0)
        150 client lte A  1 1 0 join(2)
        200 server lte A  1 1 0
        "
    ));
    assert_eq!(only(&tables).subflows, 2);
    let join = subflow(&tables, 1);
    assert_eq!((join.kind, join.opened_by, join.handshake), ("join", Some("client"), "established"));
    assert_eq!((join.client_address_id, join.server_address_id), (Some(2), Some(0)));
    assert_eq!((join.hmac_valid, join.backup), (Some(true), true));
    assert_eq!((join.handshake_rtt_ms, join.join_time_ms), (Some(50.0), Some(150.0)));
    assert_eq!(join.path.as_deref(), Some("lte"));
    assert_eq!(events(&tables), ["mptcp_established", "join_established"]);
    assert_eq!(event(&tables, "join_established").address_id, Some(2));
}

/// How long it took is counted from the connection's beginning: without that, as where only the second interface was captured, it is unknown.
#[test]
fn join_of_a_connection_that_began_elsewhere() {
    let tables = Script::default().run(
        "100 client lte S  0 0 0 join(2)
        150 server lte SA 0 1 0 join(0)
        150 client lte A  1 1 0 join(2)
        200 server lte A  1 1 0
        ",
    );
    let join = subflow(&tables, 0);
    assert_eq!((join.kind, join.handshake), ("join", "established"));
    assert_eq!((join.handshake_rtt_ms, join.join_time_ms), (Some(50.0), None));
}

/// RFC 8684 §3.2: either host may open a subflow; then the token is the client's, and so is the address, whoever sent
/// the SYN.
#[test]
fn join_from_the_server() {
    let tables = Script::default().run(&format!(
        "{HANDSHAKE}
        100   server lte S  0 0 0 join(3)
        100.1 client lte SA 0 1 0 join(4)
        150   server lte A  1 1 0 join(3)
        150   client lte A  1 1 0
        "
    ));
    let join = subflow(&tables, 1);
    assert_eq!((join.kind, join.opened_by, join.handshake), ("join", Some("server"), "established"));
    assert_eq!((join.client_address_id, join.server_address_id), (Some(4), Some(3)));
    assert_eq!(join.client_address, Some([10, 0, 2, 1].into()));
    assert_eq!(join.server_address, Some([10, 255, 0, 1].into()));
    assert_eq!(join.hmac_valid, Some(true));
    // The client's capture stands at the acceptor's end here: SYN/ACK to ACK.
    assert_eq!(join.handshake_rtt_ms, Some(49.9));
    assert_eq!(only(&tables).vantage, Some("client"));
}

/// An address translator changed its mind while the SYN was on its way: the server answered both with random numbers of
/// their own, and the client knows one of them.
#[test]
fn join_that_was_answered_twice() {
    let tables = Script::default().run(&format!(
        "{HANDSHAKE}
        100 client lte S  0 0 0 join(2)
        150 server lte SA 0 1 0 join(0)
        151 server lte SA 0 1 0 join(0 anew)
        152 client lte A  1 1 0 join(2)
        "
    ));
    assert_eq!(subflow(&tables, 1).hmac_valid, Some(true));
}

/// RFC 8684 §3.2: a wrong HMAC is answered by a reset.
#[test]
fn join_with_a_wrong_hmac() {
    let tables = Script::default().run(&format!(
        "{HANDSHAKE}
        100 client lte S  0 0 0 join(2)
        150 server lte SA 0 1 0 join(0)
        150 client lte A  1 1 0 join(2 wrong)
        200 server lte R  1 0 0 tcprst(1)
        "
    ));
    let join = subflow(&tables, 1);
    assert_eq!((join.hmac_valid, join.ended), (Some(false), "reset"));
    assert_eq!(join.reset_reason, Some("MPTCP-specific error"));
    assert_eq!(join.handshake, "refused");
    assert!(diagnostics(&tables).contains(&"hmac_wrong"));
}

/// The key is in no packet of the join, so that validity cannot be known without the first handshake.
#[test]
fn join_without_the_keys_has_no_verdict() {
    let script = Script::default();
    let tables = script.run(
        "
        100 client lte S  0 0 0 join(2)
        150 server lte SA 0 1 0 join(0)
        150 client lte A  1 1 0 join(2)
        200 server lte A  1 1 0
        ",
    );
    let connection = only(&tables);
    assert_eq!((connection.began, connection.mptcp_version), ("midway", None));
    // But whose token it was is known.
    assert_eq!(connection.server_token, Some(script.token(Server)));
    assert_eq!(subflow(&tables, 0).kind, "join");
    assert_eq!(subflow(&tables, 0).hmac_valid, None);
}

/// Both joins name the same token: they belong together although nothing else of their connection was captured.
#[test]
fn joins_of_one_unseen_connection_belong_together() {
    let tables = Script::default().run(
        "
        0    client lte  S   0 0 0 join(2)
        50   server lte  SA  0 1 0 join(0)
        50   client lte  A   1 1 0 join(2)
        100  server lte  A   1 1 100 dss(1 1 100, ack 1)
        101  client wifi S   0 0 0 join(3)
        121  server wifi SA  0 1 0 join(0)
        121  client wifi A   1 1 0 join(3)
        150  server wifi A   1 1 100 dss(101 1 100, ack 1)
        150  client wifi A   1 101 0 dss(ack 201)
        ",
    );
    assert_eq!(only(&tables).subflows, 2);
    assert_eq!(transfer(&tables, Down).bytes, 200);
    assert_eq!(only(&tables).began, "midway");
    assert!(diagnostics(&tables).contains(&"midway"));
}

/// The third packet was lost: the SYN/ACK comes again (RFC 9293 §3.8.1). SYN/ACK to ACK has two beginnings then.
#[test]
fn third_packet_lost() {
    let tables = Script::at(Server).run(
        "
        0    client wifi S  0 0 0 mp_capable
        0.1  server wifi SA 0 1 0 mp_capable
        1000 server wifi SA 0 1 0 mp_capable
        1020 client wifi A  1 1 0 mp_capable
        1021 client wifi A  1 1 100 dss(1 1 100, ack 1)
        1021 server wifi A  1 101 0 dss(ack 101)
        ",
    );
    let subflow = subflow(&tables, 0);
    assert_eq!((subflow.handshake, subflow.handshake_rtt_ms), ("established", None));
    assert_eq!(transfer(&tables, Up).bytes, 100);
}

/// Data may confirm the handshake in place of the third packet that was lost (RFC 8684 §3.1).
#[test]
fn first_data_stands_in_for_the_third_packet() {
    let tables = Script::at(Server).run(
        "
        0   client wifi S  0 0 0 mp_capable
        0.1 server wifi SA 0 1 0 mp_capable
        20  client wifi A  1 1 100 mp_capable
        20  server wifi A  1 101 0 dss(ack 101)
        ",
    );
    assert_eq!(subflow(&tables, 0).handshake, "established");
    assert_eq!(transfer(&tables, Up).bytes, 100);
    assert_eq!(only(&tables).fallback, None);
}

/// A SYN sent twice: the SYN/ACK answers either (Karn's rule for handshakes).
#[test]
fn syn_retransmitted() {
    let tables = Script::default().run(
        "
        0    client wifi S  0 0 0 mp_capable
        1000 client wifi S  0 0 0 mp_capable
        1020 server wifi SA 0 1 0 mp_capable
        1020 client wifi A  1 1 0 mp_capable
        ",
    );
    let subflow = subflow(&tables, 0);
    assert_eq!((subflow.handshake, subflow.handshake_rtt_ms), ("established", None));
    assert_eq!(subflow.join_time_ms, Some(1020.0));
}

/// RFC 8684 §3.2: who does not know the token resets the subflow.
#[test]
fn refused_join() {
    let tables = Script::default().run(&format!(
        "{HANDSHAKE}
        100 client lte S  0 0 0 join(2)
        150 server lte RA 0 1 0 tcprst(3)
        "
    ));
    let join = subflow(&tables, 1);
    assert_eq!((join.kind, join.handshake, join.ended), ("join", "refused", "reset"));
    assert_eq!(join.reset_reason, Some("administratively prohibited"));
    assert_eq!(join.handshake_remark, Some("the SYN was answered by a reset"));
    assert!(events(&tables).contains(&"join_refused"));
    assert_eq!(join.join_time_ms, None);
}

/// Each RST has the reason that stands on it (RFC 8684 §3.6): one without gives none.
#[test]
fn reset_by_both_sides() {
    let tables = Script::default().run(&format!(
        "{HANDSHAKE}
        100 client lte S  0 0 0 join(2)
        150 server lte SA 0 1 0 join(0)
        150 client lte A  1 1 0 join(2)
        200 server lte R  1 1 0 tcprst(3)
        201 client lte R  1 1 0
        "
    ));
    let resets = tables.events.iter().filter(|row| row.event == "reset");
    let details: Vec<_> = resets.map(|row| (row.direction, row.detail)).collect();
    assert_eq!(details, [(Some(Down), Some("administratively prohibited")), (Some(Up), None)]);
    assert_eq!(subflow(&tables, 1).reset_reason, Some("administratively prohibited"));
}

/// RFC 8684 §3.7 and Appendix C: a middlebox strips MP_JOIN from the SYN/ACK; the opener resets the subflow.
#[test]
fn join_whose_option_was_stripped() {
    let tables = Script::default().run(&format!(
        "{HANDSHAKE}
        100 client lte S  0 0 0 join(2)
        150 server lte SA 0 1 0
        150 client lte R  1 0 0
        "
    ));
    let join = subflow(&tables, 1);
    assert_eq!((join.kind, join.handshake), ("join", "refused"));
    assert!(join.handshake_remark.unwrap().contains("without MP_JOIN"));
}

#[test]
fn unanswered_join() {
    let tables = Script::default().run(&format!(
        "{HANDSHAKE}
        100  client lte S  0 0 0 join(2)
        1100 client lte S  0 0 0 join(2)
        3100 client lte S  0 0 0 join(2)
        "
    ));
    assert_eq!(only(&tables).subflows, 2);
    let join = subflow(&tables, 1);
    assert_eq!((join.kind, join.handshake, join.ended), ("join", "unanswered", "open"));
    assert_eq!(join.handshake_rtt_ms, None);
    assert!(events(&tables).contains(&"join_unanswered"));
}

/// A join that had no time to come about did not fail: the capture, or the connection, ended first.
#[test]
fn pending_joins() {
    let ended_by = |ending: &str| {
        let tables = Script::default().run(&format!("{HANDSHAKE} {ending}"));
        let join = subflow(&tables, 1);
        let failed =
            events(&tables).iter().any(|event| ["join_refused", "join_unanswered", "join_unfinished"].contains(event));
        (join.handshake, join.handshake_remark.unwrap_or_default(), failed)
    };
    let syn = "100 client lte S 0 0 0 join(2)";
    let capture = ("pending", "the capture ended first", false);
    assert_eq!(ended_by(syn), capture);
    assert_eq!(ended_by(&format!("{syn}\n 150 server lte SA 0 1 0 join(0)")), capture);
    let over = ("pending", "the connection ended first", false);
    let fastclose = "120 client wifi A 1 1 0 fastclose";
    assert_eq!(ended_by(&format!("{syn}\n {fastclose}\n 150 server lte RA 0 1 0\n 9000 server wifi A 1 1 0")), over);
    assert_eq!(ended_by(&format!("{syn}\n {fastclose}\n 9000 client lte S 0 0 0 join(2)")), over);
    let fins = "110 client wifi A 1 1 0 dss(fin 1, ack 1)\n 120 server wifi A 1 1 0 dss(fin 1, ack 2)\n 121 client wifi A 1 1 0 dss(ack 2)";
    assert_eq!(ended_by(&format!("{syn}\n {fins}\n 150 server lte RA 0 1 0")), over);
    // Refused before: the connection that ends later has nothing to do with it.
    let refused = ended_by(&format!("{syn}\n 110 server lte RA 0 1 0\n {fastclose}"));
    assert_eq!((refused.0, refused.2), ("refused", true));
    // It had had its second.
    let unanswered = ended_by(&format!("{syn}\n 1200 client wifi A 1 1 0 fastclose"));
    assert_eq!((unanswered.0, unanswered.2), ("unanswered", true));
}

/// The fourth packet tells that the join came about (RFC 8684 §3.2): a reset long after it, of a subflow that was never needed,
/// is no refusal. Without it a reset is one.
#[test]
fn joins_that_are_reset_later() {
    let joined = format!(
        "{HANDSHAKE}
        100 client lte S  0 0 0 join(2 backup)
        150 server lte SA 0 1 0 join(0)
        150 client lte A  1 1 0 join(2)"
    );
    let lived = Script::default().run(&format!("{joined}\n 200 server lte A 1 1 0\n 9000 server lte R 1 1 0"));
    assert_eq!((subflow(&lived, 1).handshake, subflow(&lived, 1).ended), ("established", "reset"));
    assert!(!events(&lived).contains(&"join_refused"));
    let refused = Script::default().run(&format!("{joined}\n 200 server lte R 1 1 0\n 9000 server wifi A 1 1 0"));
    assert_eq!((subflow(&refused, 1).handshake, subflow(&refused, 1).ended), ("refused", "reset"));
    // Who ends the connection resets its subflows at once; at the other end the longer path brings the word of it later.
    for (reset, fastclose) in [(200.0, 200.4), (200.0, 230.0)] {
        let closed = Script::default()
            .run(&format!("{joined}\n {reset} client lte R 1 1 0\n {fastclose} client wifi RA 1 1 0 fastclose\n 9000 server wifi A 1 1 0"));
        let join = subflow(&closed, 1);
        assert_eq!((join.handshake, join.handshake_remark), ("pending", Some("the connection ended first")));
        assert!(!events(&closed).contains(&"join_refused"));
    }
    // The server's reset is none of those, nor is one long before.
    for (from, reset) in [("server", 200.0), ("client", 140.5)] {
        let text = joined.replace("150 ", "110 ");
        let closed =
            Script::default().run(&format!("{text}\n {reset} {from} lte R 1 1 0\n 201 client wifi RA 1 1 0 fastclose"));
        assert_eq!(subflow(&closed, 1).handshake, "refused", "{from}");
    }
    // The connection was ended while the server still waited for the third packet.
    let late = Script::default().run(&format!(
        "{joined}
        1150 server lte SA 0 1 0 join(0)
        3000 client wifi A 1 1 0 fastclose
        3010 client lte R 1 1 0"
    ));
    assert_eq!(subflow(&late, 1).handshake, "unfinished");
    // The opener's third packet never came, and its FIN carries nothing; no reset told it so, or one did at the very end.
    for ending in ["", "3500 server lte RA 1 1 0"] {
        let unheard = Script::default().run(&format!(
            "{joined}
            1150 server lte SA 0 1 0 join(0)
            1150 client lte A  1 1 0 join(2)
            3000 client wifi A 1 1 0 fastclose
            3010 client lte FA 1 1 0
            {ending}"
        ));
        assert_eq!(subflow(&unheard, 1).handshake, "unfinished", "{ending}");
        assert!(events(&unheard).contains(&"join_unfinished"));
    }
    // What is answered, however late, came about.
    let answered = Script::default().run(&format!(
        "{joined}\n 1150 server lte SA 0 1 0 join(0)\n 1200 server lte A 1 1 0\n 9000 client wifi A 1 1 0"
    ));
    assert_eq!(subflow(&answered, 1).handshake, "established");
}
