//! BLEST and ECF, which may rather wait for a fast subflow.

use crate::{MS, NOW, WAIT, again, backup, build, check, chunk, full, path, set, stale, to};
use serde_json::json;
use transport::scheduler::{Chunk, PathView};

#[test]
fn blest_and_ecf_take_their_constants() {
    let with_window = |peer_window_bytes| Chunk { peer_window_bytes, ..chunk(90_000) };
    let paths = asymmetric(path(0, 10), path(1, 40));
    let mut blest = set("blest", json!({"lambda": 2.0, "most_lambda": 2.0})).unwrap();
    assert_eq!(blest.choose(NOW, &with_window(125_000), &paths), to(1, 1000), "60 packets by 2, and 5 000");
    assert_eq!(blest.choose(NOW, &with_window(124_999), &paths), WAIT);
    let mut ecf = set("ecf", json!({"beta": 0.5})).unwrap();
    assert_eq!(ecf.choose(NOW, &chunk(29_999), &paths), WAIT);
    assert_eq!(ecf.choose(NOW, &chunk(49_999), &paths), WAIT, "(k + 10 000) 10 < 1.5 10 000 40");
    assert_eq!(ecf.choose(NOW, &chunk(50_000), &paths), to(1, 1000));
    for (name, parameters) in
        [("blest", json!({"lambda": 1.4})), ("blest", json!({"least_lambda": 0})), ("ecf", json!({"beta": -1}))]
    {
        assert!(set(name, parameters.clone()).is_none(), "{name} {parameters}");
    }
}

/// The fast subflow's window of 10 is full, the slow one has room: BLEST's and ECF's question.
fn asymmetric(fast: PathView, slow: PathView) -> Vec<PathView> {
    vec![full(fast), slow]
}

fn last_edge(name: &str, paths: &[PathView], chunk_at: impl Fn(u64) -> Chunk, edge: u64, sends_above: bool) {
    for (bytes, sends) in [(edge, true), (edge - 1, false)] {
        let expected = if sends == sends_above { to(1, 1000) } else { WAIT };
        assert_eq!(build(name).unwrap().choose(NOW, &chunk_at(bytes), paths), expected, "{name} at {bytes}");
    }
}

/// `net/mptcp/mptcp_blest.c`: the smallest window of the peer that a slow segment leaves room enough in.
#[test]
fn blest_estimates_blocking() {
    let with_window = |peer_window_bytes| Chunk { peer_window_bytes, ..chunk(90_000) };
    let slow = path(1, 40);
    // linger 40 ms; 40 / 10 + 1 = 5 rounds; cwnd 10 > ssthresh 5 + 1; (10 + (5 - 1) / 2) 5 = 60 packets; times λ 1.2
    // = 72 000 bytes; beside 1 000 of the segment and 4 000 in flight on the slow one.
    last_edge("blest", &asymmetric(path(0, 10), slow), with_window, 72_000 + 5_000, true);
    // ssthresh 20: from 21 on; (21 + 2) 5 = 115 packets; 138 000 bytes.
    let growing = PathView { ssthresh_packets: 20.0, ..path(0, 10) };
    last_edge("blest", &asymmetric(growing, slow), with_window, 138_000 + 5_000, true);
    // 35 / 10 + 1 = 4 rounds; (4 - 1) / 2 is 1 in whole numbers; (10 + 1) 4 = 44 packets; 52 800 bytes.
    last_edge("blest", &asymmetric(path(0, 10), path(1, 35)), with_window, 52_800 + 5_000, true);
    // The first slow start: 10 (2⁵ - 1) = 310 packets; 372 000 bytes.
    let first = PathView { ssthresh_packets: f64::INFINITY, ..path(0, 10) };
    last_edge("blest", &asymmetric(first, slow), with_window, 372_000 + 5_000, true);
    // 500 bytes wait in the slow one's queue.
    let queued = PathView { queued_bytes: 500, ..slow };
    last_edge("blest", &asymmetric(path(0, 10), queued), with_window, 72_000 + 5_500, true);
    // More rounds than 64 bits have a square for: no window has the room.
    let instant = PathView { srtt_ns: Some(1), ..path(0, 10) };
    let choice = build("blest").unwrap().choose(NOW, &chunk(90_000), &asymmetric(instant, path(1, 100_000)));
    assert_eq!(choice, WAIT);
}

/// The round-trip time that a slow segment meets lies between the least and the greatest, by how full its window is.
#[test]
fn blest_expects_round_trips_to_grow() {
    let with_window = |peer_window_bytes| Chunk { peer_window_bytes, ..chunk(90_000) };
    let edge = |slow: PathView| {
        let mut least = 0;
        for bit in (0..20).rev() {
            let mut blest = build("blest").unwrap();
            for srtt_ms in [120, 40] {
                blest.choose(NOW, &with_window(0), &asymmetric(path(0, 10), path(1, srtt_ms)));
            }
            if blest.choose(NOW, &with_window(least + (1 << bit)), &asymmetric(path(0, 10), slow)) == WAIT {
                least += 1 << bit;
            }
        }
        least + 1
    };
    // 40 + (120 - 40) (4 + 1) / 10 = 80 ms; 9 rounds; (10 + 4) 9 = 126 packets; 151 200 bytes.
    assert_eq!(edge(path(1, 40)), 151_200 + 5_000);
    // With 9 in flight it is the greatest: 120 ms; 13 rounds; (10 + 6) 13 = 208; 249 600.
    assert_eq!(edge(PathView { in_flight_packets: 9, ..path(1, 40) }), 249_600 + 10_000);
    // What it is now, if that is more: 100 ms; 11 rounds; (10 + 5) 11 = 165; 198 000.
    assert_eq!(edge(path(1, 100)), 198_000 + 5_000);
}

/// λ: +0.04 when the window was full, -0.01 when not, once per least round trip of the slow subflow, from 1 to 1.3.
#[test]
fn blest_learns() {
    let paths = asymmetric(path(0, 10), path(1, 40));
    let mut blest = build("blest").unwrap();
    let mut is_lambda = |at_ms: i64, thousandths: u64, blocked: bool| {
        // 60 packets, as above.
        let edge = 60 * thousandths + 5_000;
        for (window, expected) in [(edge - 1, WAIT), (edge, to(1, 1000))] {
            let chunk = Chunk { peer_window_bytes: window, ..chunk(90_000) };
            assert_eq!(blest.choose(NOW + at_ms * MS, &chunk, &paths), expected, "{at_ms} ms");
        }
        if blocked {
            blest.blocked();
        }
    };
    is_lambda(0, 1200, false);
    is_lambda(39, 1200, false);
    is_lambda(40, 1190, false);
    is_lambda(79, 1190, true);
    is_lambda(80, 1230, true);
    is_lambda(120, 1270, true);
    is_lambda(160, 1300, true);
    is_lambda(200, 1300, false);
    for round in 1..=30 {
        is_lambda(200 + 40 * round, 1300 - 10 * round as u64, false);
    }
    is_lambda(1440, 1000, false);
}

/// `net/mptcp/mptcp_ecf.c`: the most bytes that are left to the fast subflow alone.
#[test]
fn ecf_compares_completions() {
    let paths = asymmetric(path(0, 10), path(1, 40));
    // (k + 10 000) 10 < 10 000 40, so k < 30 000; and k 40 ≥ 10 000 20, which holds from 10 000 (a window) on.
    last_edge("ecf", &paths, chunk, 30_000, true);
    assert_eq!(build("ecf").unwrap().choose(NOW, &chunk(1), &paths), WAIT, "a window at least is what it takes");
    // δ = 5 ms of the slow: (k + 10 000) 10 < 10 000 45, k < 35 000.
    let varied = asymmetric(path(0, 10), PathView { rttvar_ns: 5 * MS, ..path(1, 40) });
    last_edge("ecf", &varied, chunk, 35_000, true);
    let varied = asymmetric(PathView { rttvar_ns: 5 * MS, ..path(0, 10) }, path(1, 40));
    last_edge("ecf", &varied, chunk, 35_000, true);
    // R_s 15: (k + 10 000) 10 < 10 000 15 asks for k < 5 000, less than a window.
    assert_eq!(build("ecf").unwrap().choose(NOW, &chunk(1), &asymmetric(path(0, 10), path(1, 15))), to(1, 1));
    // Fast with a window of 20, slow with one of 50: (k + 20 000) 10 < 20 000 40, k < 60 000; and of those only
    // k 40 ≥ 50 000 20, which a window of the slow has already.
    let wide = PathView { cwnd_packets: 20, ..path(0, 10) };
    last_edge("ecf", &asymmetric(wide, PathView { cwnd_packets: 50, ..path(1, 40) }), chunk, 60_000, true);
    // R_s 18, of the second: k 18 ≥ 10 000 20 asks for k ≥ 11 112; (k + 40 000) 10 < 40 000 18 for k < 32 000, with 40.
    let wide = PathView { cwnd_packets: 40, ..path(0, 10) };
    let near = asymmetric(wide, path(1, 18));
    assert_eq!(build("ecf").unwrap().choose(NOW, &chunk(1), &near), to(1, 1), "a window of 40 takes longer");
    // 32 bits would run over: 10 s and 100 MB are 10^18 by nanoseconds, 10^15 by microseconds.
    let vast = asymmetric(path(0, 10_000), path(1, 40_000));
    last_edge("ecf", &vast, chunk, 30_000, true);
}

/// β = 1/4: who waits does so up to (k + 10 000) 10 < 1.25 10 000 40, k < 40 000; then it is 30 000 again.
#[test]
fn ecf_goes_on_waiting() {
    let paths = asymmetric(path(0, 10), path(1, 40));
    let mut ecf = build("ecf").unwrap();
    let steps = [
        (30_000, to(1, 1000)),
        (29_999, WAIT),
        (30_000, WAIT),
        (39_999, WAIT),
        (40_000, to(1, 1000)),
        (39_999, to(1, 1000)),
        (29_999, WAIT),
    ];
    for (bytes, expected) in steps {
        assert_eq!(ecf.choose(NOW, &chunk(bytes), &paths), expected, "{bytes}");
    }
}

/// What BLEST and ECF decide is only whether a slower subflow is worth it.
#[test]
fn slower_subflows_are_all_that_is_waited_over() {
    let tight = |bytes| Chunk { peer_window_bytes: 20_000, ..chunk(bytes) };
    let (near, far) = (path(0, 10), path(1, 40));
    for name in ["blest", "ecf"] {
        check(
            name,
            &[
                ("it would wait", tight(9_000), vec![full(near), far], WAIT),
                ("the fastest has room", tight(9_000), vec![near, far], to(0, 6_000)),
                ("a failed one is not waited for", tight(9_000), vec![stale(full(near)), far], to(1, 6_000)),
                ("nor a backup", tight(9_000), vec![backup(full(near)), far], to(1, 6_000)),
                ("nor one that had it", Chunk { peer_window_bytes: 0, ..again(0b01) }, vec![near, far], to(1, 1000)),
                ("all full", tight(9_000), vec![full(near), full(far)], WAIT),
            ],
        );
    }
}
