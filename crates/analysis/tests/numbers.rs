//! Sequence numbers of both levels: wrap-around, widths, mappings, segments merged by offloads, overlaps.

mod script;

use script::Host::Server;
use script::*;

const HANDSHAKE_AT_SERVER: &str = "
    0    client wifi S  0 0 0 mp_capable
    0.1  server wifi SA 0 1 0 mp_capable
    20   client wifi A  1 1 0 mp_capable
    ";

/// Subflow sequence numbers pass 2³² (RFC 9293 §3.4).
#[test]
fn sequence_numbers_wrap_around() {
    let script = Script { initial: [("wifi", [5, u32::MAX - 1500])].into(), ..Script::at(Server) };
    let tables = script.run(&format!(
        "{HANDSHAKE_AT_SERVER}
        100 server wifi A 1    1    1000 dss(1 1 1000, ack 1)
        101 server wifi A 1001 1    1000 dss(1001 1001 1000, ack 1)     # over the edge
        120 client wifi A 1    1001 0    dss(ack 1001)
        121 client wifi A 1    2001 0    dss(ack 2001)
        130 server wifi A 1001 1    1000 dss(1001 1001 1000, ack 1)     # again
        140 server wifi A 2001 1    1000 dss(2001 2001 1000, ack 1)
        160 client wifi A 1    3001 0    dss(ack 3001)
        "
    ));
    let down = flow(&tables, 0, Down);
    assert_eq!((transfer(&tables, Down).bytes, down.bytes, down.delivered_bytes), (3000, 3000, Some(3000)));
    assert_eq!((down.retransmitted_packets, down.rtt_samples), (Some(1), Some(3)));
}

/// A key whose SHA-256 ends in …fffffa5a: the low half of its data sequence numbers ends after 1446 more.
const NEAR_THE_EDGE: u64 = 0x3d9a2;

/// Data sequence numbers of 4 bytes pass 2³²; those of 8 bytes mix with them (RFC 8684 §3.3.1).
#[test]
fn data_sequence_numbers_wrap_around_and_mix_widths() {
    let keys = [Script::default().keys[0], NEAR_THE_EDGE];
    let edge = (1u64 << 32) - (wire::mptcp::crypto::initial_data_seq(1, NEAR_THE_EDGE) & 0xffff_ffff);
    assert_eq!(edge, 1446, "within the second segment");
    let script = Script { keys, ..Script::at(Server) };
    let tables = script.run(&format!(
        "{HANDSHAKE_AT_SERVER}
        100 server wifi A 1    1    1000 dss4(1 1 1000, ack 1)
        101 server wifi A 1001 1    1000 dss4(1001 1001 1000, ack 1)
        102 server wifi A 2001 1    1000 dss(2001 2001 1000, ack 1)
        120 client wifi A 1    1001 0    dss(ack 1001)
        121 client wifi A 1    2001 0    dss4(ack 2001)
        122 client wifi A 1    3001 0    dss4(ack 3001)
        130 server wifi A 3001 1    1000 dss4(3001 3001 1000 fin, ack 1)
        150 client wifi A 1    4001 0    dss4(ack 4002)
        "
    ));
    assert_eq!(transfer(&tables, Down).bytes, 4000);
    assert_eq!(transfer(&tables, Down).reinjected_bytes, Some(0));
    assert_eq!(flow(&tables, 0, Down).delivered_bytes, Some(4000));
}

/// One mapping may cover many segments, and need be said once only (RFC 8684 §3.3.1); Linux says it on each.
#[test]
fn one_mapping_over_many_segments() {
    for again in ["", "dss(1 1 3000, ack 1)"] {
        let tables = Script::at(Server).run(&format!(
            "{HANDSHAKE_AT_SERVER}
            100 server wifi A 1    1    1000 dss(1 1 3000, ack 1)
            101 server wifi A 1001 1    1000 {again}
            102 server wifi A 2001 1    1000 {again}
            120 client wifi A 1    3001 0    dss(ack 3001)
            121 server wifi A 3001 1    1000 dss(3001 3001 1000, ack 1)
            141 client wifi A 1    4001 0    dss(ack 4001)
            "
        ));
        assert_eq!(transfer(&tables, Down).bytes, 4000);
        assert_eq!(flow(&tables, 0, Down).delivered_bytes, Some(4000));
        assert_eq!((only(&tables).fallback, diagnostics(&tables)), (None, vec![]));
    }
}

/// Data sent again may come under mappings cut or joined otherwise; they must agree, and each byte keeps its meaning.
#[test]
fn mappings_said_again_in_other_pieces() {
    let tables = Script::default().run(
        "
        0   client wifi S  0    0    0    mp_capable mss(9000)
        20  server wifi SA 0    1    0    mp_capable
        20  client wifi A  1    1    0    mp_capable
        100 server wifi A  1    1    1000 dss(1 1 3000, ack 1)
        110 server wifi A  1    1    500  dss(1 1 500, ack 1)         # shorter than the first
        120 server wifi A  1001 1    1000                             # still under the first
        130 server wifi A  501  1    1500 dss(501 501 1500, ack 1)
        140 server wifi A  2001 1    1000
        140 client wifi A  1    3001 0    dss(ack 3001)
        150 server wifi A  3001 1    500  dss(3001 3001 500, ack 1)
        160 server wifi A  3001 1    1000 dss(3001 3001 1000, ack 1)  # longer than the one before
        160 client wifi A  1    4001 0    dss(ack 4001)
        ",
    );
    assert_eq!(transfer(&tables, Down).bytes, 4000);
    assert_eq!(flow(&tables, 0, Down).delivered_bytes, Some(4000));
    assert_eq!(transfer(&tables, Down).reinjected_bytes, Some(0));
    assert_eq!(diagnostics(&tables), [] as [&str; 0]);
}

/// Segments larger than the MSS were merged on the capturing host and count as many packets as they were made of: the MSS
/// less what options take (RFC 6691).
#[test]
fn segments_merged_by_offloads() {
    let tables = Script::at(Server).run(
        "
        0   client wifi S  0    0    0    mss(1460) ts(1)
        0.1 server wifi SA 0    1    0    mss(1400) ts(1)
        20  client wifi A  1    1    0    ts(2)
        100 server wifi A  1    1    4344 ts(2)      # 3 × 1448: TSO
        101 server wifi A  4345 1    1448 ts(2)      # one
        130 server wifi A  1449 1    1448 ts(2)      # the middle of the first again
        150 client wifi A  1    5793 0    ts(2)
        160 client wifi A  1    5793 1388 ts(2)      # one: 1400 − 12
        161 client wifi A  1389 5793 2777 ts(2)      # 2 × 1388 + 1: three
        ",
    );
    let down = flow(&tables, 0, Down);
    assert_eq!((down.data_packets, down.merged_segments), (5, Some(1)));
    assert_eq!((down.retransmitted_packets, down.loss_rate_percent), (Some(1), Some(20.0)));
    let up = flow(&tables, 0, Up);
    assert_eq!((up.data_packets, up.merged_segments), (4, Some(1)));
    assert_eq!(diagnostics(&tables), ["merged_segments"]);
}

#[test]
fn partial_overlaps() {
    let tables = Script::at(Server).run(&format!(
        "{HANDSHAKE_AT_SERVER}
        100 server wifi A 1    1    1000 dss(1 1 1000, ack 1)
        101 server wifi A 501  1    1000 dss(501 501 1000, ack 1)       # half old, half new
        102 server wifi A 2001 1    1000 dss(2001 2001 1000, ack 1)
        103 server wifi A 1001 1    1400 dss(1001 1001 1400, ack 1)     # old, the gap, old
        120 client wifi A 1    3001 0    dss(ack 3001)
        "
    ));
    let down = flow(&tables, 0, Down);
    assert_eq!((down.bytes, down.data_bytes), (3000, 4400));
    // 500 of the second; 500 before the gap and 400 behind it of the fourth.
    assert_eq!((down.retransmitted_packets, down.retransmitted_bytes), (Some(2), Some(1400)));
    assert_eq!((down.duplicate_packets, down.gap_filled_packets), (Some(0), Some(1)));
    assert_eq!(transfer(&tables, Down).bytes, 3000);
    assert_eq!(transfer(&tables, Down).reinjected_bytes, Some(0));
}

/// MP_CAPABLE with data stands for a mapping at the very beginning (RFC 8684 §3.1), also when sent again.
#[test]
fn data_on_mp_capable() {
    let tables = Script::default().run(
        "
        0   client wifi S  0   0   0   mp_capable
        20  server wifi SA 0   1   0   mp_capable
        20  client wifi A  1   1   0   mp_capable
        21  client wifi A  1   1   200 mp_capable
        300 client wifi A  1   1   200 mp_capable
        301 client wifi A  201 1   100 dss(201 201 100, ack 1)
        320 server wifi A  1   301 0   dss(ack 301)
        ",
    );
    assert_eq!(transfer(&tables, Up).bytes, 300);
    assert_eq!(flow(&tables, 0, Up).delivered_bytes, Some(300));
    assert_eq!(flow(&tables, 0, Up).retransmitted_packets, Some(1));
    assert_eq!(transfer(&tables, Up).reinjected_bytes, Some(0));
}
