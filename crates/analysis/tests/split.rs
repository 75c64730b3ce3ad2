//! Connections that a proxy splits, from the captures of both ends.

mod script;

use script::*;

/// The client's half: the proxy is 16 ms away, and brings it `bytes`.
fn near(bytes: u32) -> Vec<Captured> {
    Script::default().packets(&format!(
        "
        0|-  client wifi S  0    0    0
        16|- server wifi SA 0    1    0
        17|- client wifi A  1    1    0
        40|- server wifi A  1    1    {bytes}
        41|- client wifi A  1    {}   0
        ",
        bytes + 1
    ))
}

/// The server's, which the proxy begins after `at` milliseconds: 80 ms away, other sequence numbers, 1000 bytes.
fn far(mut script: Script, at: u32) -> Vec<Captured> {
    script.initial.insert("wifi", [700_000, 900_000]);
    let [syn, syn_ack, ack, data, acked] = [0, 1, 80, 81, 161].map(|after| at + after);
    script.packets(&format!(
        "
        -|{syn}     client wifi S  0 0    0
        -|{syn_ack} server wifi SA 0 1    0
        -|{ack}     client wifi A  1 1    0
        -|{data}    server wifi A  1 1    1000
        -|{acked}   client wifi A  1 1001 0
        "
    ))
}

#[test]
fn halves_of_one_connection_are_told() {
    let tables = analyze([near(1000), far(Script::default(), 20)].concat());
    assert_eq!(tables.connections.len(), 2);
    let vantages: Vec<_> = tables.connections.iter().map(|row| row.vantage).collect();
    assert_eq!(vantages, [Some("client"), Some("server")]);
    let split: Vec<_> = tables.diagnostics.iter().filter(|row| row.diagnostic == "split_connection").collect();
    assert_eq!(split.iter().map(|row| row.connection).collect::<Vec<_>>(), [Some(0)]);
    assert!(split[0].message.starts_with("at the server it is connection 1,"), "{}", split[0].message);
}

#[test]
fn what_may_be_another_is_not_paired() {
    let cases = [
        ("the server's began when the client's was over", near(1000), far(Script::default(), 2000)),
        ("the client got what the server never sent", near(1001), far(Script::default(), 20)),
        ("another port", near(1000), far(Script::numbered(2), 20)),
    ];
    for (why, near, far) in cases {
        let tables = analyze([near, far].concat());
        assert_eq!(tables.connections.len(), 2, "{why}");
        assert!(!diagnostics(&tables).contains(&"split_connection"), "{why}");
    }
    assert!(!diagnostics(&analyze(near(1000))).contains(&"split_connection"), "one capture shows nothing");
}
