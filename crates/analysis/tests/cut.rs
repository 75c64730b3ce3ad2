//! A short snap length cuts TCP options. What is not there proves nothing.

mod script;

use script::*;

const UNKNOWN: &str = "the snap length cut the TCP options: whether it is MPTCP is unknown";

fn cut_options(tables: &tables::Tables) -> Option<u64> {
    tables.diagnostics.iter().find(|row| row.diagnostic == "options_cut").map(|row| row.count.expect("a count"))
}

/// The SYN/ACK's MP_CAPABLE and all DSS are cut: the connection neither fell back nor is its data known.
#[test]
fn a_cut_answer_is_no_fallback() {
    let tables = Script::default().run(
        "
        0   client wifi S  0 0    0    mp_capable
        20  server wifi SA 0 1    0    mp_capable cut(4)
        21  client wifi A  1 1    0    mp_capable cut(0)
        25  client wifi A  1 1    1000 dss(1 1 1000, ack 1) cut(8)
        50  server wifi A  1 1001 0    dss(ack 1001) cut(8)
        ",
    );
    let connection = only(&tables);
    assert_eq!((connection.mptcp_version, connection.fallback), (Some(1), None));
    let subflow = subflow(&tables, 0);
    assert_eq!((subflow.kind, subflow.handshake, subflow.handshake_remark), ("initial", "established", Some(UNKNOWN)));
    // Neither claims that MPTCP was established nor that it was not.
    assert_eq!(events(&tables), [""; 0]);
    assert_eq!(cut_options(&tables), Some(4));
    assert!(diagnostics(&tables).contains(&"unmapped_bytes"));
    // No byte is known to be the connection's.
    assert_eq!((transfer(&tables, Up).bytes, transfer(&tables, Up).throughput_mbps), (0, None));
    assert_eq!(flow(&tables, 0, Up).throughput_mbps, None);
    assert_eq!(flow(&tables, 0, Up).packets, 2 + 1);
}

/// A third packet that shows the keys settles it.
#[test]
fn keys_on_the_third_packet_show_mptcp() {
    let script = Script::default();
    let tables = script.run(
        "
        0   client wifi S  0 0    0    mp_capable cut(4)
        20  server wifi SA 0 1    0    mp_capable
        21  client wifi A  1 1    0    mp_capable
        25  client wifi A  1 1    1000 dss(1 1 1000, ack 1)
        50  server wifi A  1 1001 0    dss(ack 1001)
        ",
    );
    let connection = only(&tables);
    assert_eq!((connection.mptcp_version, connection.fallback), (Some(1), None));
    assert_eq!(connection.server_token, Some(script.token(Host::Server)));
    assert_eq!(subflow(&tables, 0).handshake_remark, None);
    assert_eq!(events(&tables), ["mptcp_established"]);
    assert_eq!(transfer(&tables, Up).bytes, 1000);
    assert!(transfer(&tables, Up).throughput_mbps.is_some());
    assert_eq!(cut_options(&tables), Some(1));
}

#[test]
fn a_cut_handshake_may_be_mptcp() {
    let tables = Script::default().run(
        "
        0   client wifi S  0 0    0    mp_capable cut(4)
        20  server wifi SA 0 1    0    mp_capable cut(4)
        21  client wifi A  1 1    0    mp_capable cut(4)
        25  client wifi A  1 1    1000 dss(1 1 1000, ack 1) cut(8)
        50  server wifi A  1 1001 0    dss(ack 1001) cut(8)
        ",
    );
    assert_eq!(only(&tables).mptcp_version, None);
    let subflow = subflow(&tables, 0);
    assert_eq!((subflow.kind, subflow.handshake_remark), ("tcp", Some(UNKNOWN)));
    assert_eq!(events(&tables), [""; 0]);
    assert_eq!(cut_options(&tables), Some(5));
    // As of plain TCP.
    assert_eq!(transfer(&tables, Up).bytes, 1000);
}

/// Where one side's options are whole and hold no MP_CAPABLE, the connection is plain TCP whatever the other side's are.
#[test]
fn one_whole_side_without_mp_capable_is_proof() {
    for (syn, syn_ack) in [("mp_capable cut(4)", ""), ("", "ts(1) cut(4)")] {
        let tables = Script::default().run(&format!(
            "
            0   client wifi S  0 0    0    {syn}
            20  server wifi SA 0 1    0    {syn_ack}
            21  client wifi A  1 1    0
            25  client wifi A  1 1    1000
            50  server wifi A  1 1001 0
            "
        ));
        assert_eq!(
            (only(&tables).mptcp_version, subflow(&tables, 0).handshake_remark),
            (None, None),
            "{syn} {syn_ack}"
        );
        assert_eq!(events(&tables), ["tcp_established"]);
        assert_eq!(cut_options(&tables), Some(1));
    }
    let tables = Script::default().run(
        "
        0   client wifi S  0 0 0 mp_capable
        20  server wifi SA 0 1 0
        21  client wifi A  1 1 0
        ",
    );
    assert_eq!(only(&tables).fallback, Some("the SYN/ACK came without MP_CAPABLE"));
}

const HANDSHAKE: &str = "
    0   client wifi S  0 0 0 mp_capable
    20  server wifi SA 0 1 0 mp_capable
    20  client wifi A  1 1 0 mp_capable
    ";

#[test]
fn data_whose_options_are_cut_is_no_fallback() {
    let tables = Script::default().run(&format!(
        "{HANDSHAKE}
        25  client wifi A  1    1    1000 dss(1 1 1000, ack 1) cut(8)
        30  client wifi A  1001 1    1000 dss(1001 1001 1000, ack 1)
        60  server wifi A  1    2001 0    dss(ack 2001)
        "
    ));
    assert_eq!(only(&tables).fallback, None);
    assert_eq!(events(&tables), ["mptcp_established"]);
    assert_eq!(flow(&tables, 0, Up).delivered_bytes, Some(2000));
    let whole = Script::default().run(&format!("{HANDSHAKE} 25 client wifi A 1 1 1000"));
    assert_eq!(only(&whole).fallback, Some("data came without DSS"));
}

#[test]
fn a_cut_answer_to_a_join_is_no_refusal() {
    let join = |cut: &str| {
        Script::default().run(&format!(
            "{HANDSHAKE}
            100 client lte S  0 0 0 join(2)
            150 server lte SA 0 1 0 {cut}
            150 client lte A  1 1 0 join(2)
            200 server lte A  1 1 0
            "
        ))
    };
    let cut = join("join(0) cut(4)");
    assert_eq!((subflow(&cut, 1).handshake, subflow(&cut, 1).handshake_remark), ("established", None));
    assert_eq!(subflow(&cut, 1).hmac_valid, None);
    assert_eq!(subflow(&join(""), 1).handshake, "refused");
}

/// A window scale that was cut is not a window that is not scaled.
#[test]
fn a_cut_window_scale_is_unknown() {
    let limited = |cut: &str| {
        let tables = Script::default().run(&format!(
            "
            0   client wifi S  0     0    0    mss(1460) ws(7) {cut}
            20  server wifi SA 0     1    0    mss(1460) ws(7)
            21  client wifi A  1     1    0
            25  client wifi A  1     1    1000
            50  server wifi A  1     1001 0    win(10)
            60  client wifi A  1001  1    1000
            90  server wifi A  1     2001 0    win(10)
            "
        ));
        subflow(&tables, 0).client_window_scale
    };
    assert_eq!((limited(""), limited("cut(4)")), (Some(7), None));
}
