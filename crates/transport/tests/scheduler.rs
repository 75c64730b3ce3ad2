//! Where bytes go in given situations, with the rule that says so.

use parameters::Table;
use proptest::prelude::*;
use serde_json::json;
use transport::congestion::Window;
use transport::scheduler::{self, Choice, Chunk, NAMES, Opportunistic, PathView, Scheduler, descriptions};
use wire::Time;

const MS: i64 = 1_000_000;
const MSS: u64 = 1000;
const NOW: Time = Time::from_nanos(1_000 * MS);
const WAIT: Choice = Choice::Wait(Time::MAX);

/// A subflow with a window of 10 packets, 4 of them in flight, that sends a packet per millisecond.
fn path(subflow: usize, srtt_ms: i64) -> PathView {
    PathView {
        subflow,
        srtt_ns: Some(srtt_ms * MS),
        rttvar_ns: 0,
        cwnd_packets: 10,
        ssthresh_packets: 5.0,
        in_flight_packets: 4,
        queued_bytes: 0,
        unacknowledged_packets: 4,
        send_buffer_bytes: 46_080,
        pacing_bytes_per_second: 1_000_000,
        mss_bytes: MSS as u32,
        backup: false,
        stale: false,
        in_loss: false,
    }
}

fn full(path: PathView) -> PathView {
    PathView { in_flight_packets: path.cwnd_packets, ..path }
}

fn backup(path: PathView) -> PathView {
    PathView { backup: true, ..path }
}

fn stale(path: PathView) -> PathView {
    PathView { stale: true, ..path }
}

fn timed_out(path: PathView) -> PathView {
    PathView { in_loss: true, ..path }
}

fn chunk(bytes: u64) -> Chunk {
    Chunk { in_pages: 0, bytes, window_bytes: 1_000_000, peer_window_bytes: 1_000_000, reinjection: false, sent_on: 0 }
}

fn again(sent_on: u64) -> Chunk {
    Chunk { reinjection: true, sent_on, ..chunk(1000) }
}

fn build(name: &str) -> Option<Box<dyn Scheduler>> {
    scheduler::build(name, &Table::new()).ok()
}

fn to(subflow: usize, bytes: u64) -> Choice {
    Choice::Send { subflows: 1 << subflow, bytes }
}

#[track_caller]
fn check(name: &str, cases: &[(&str, Chunk, Vec<PathView>, Choice)]) {
    for (rule, chunk, paths, expected) in cases {
        assert_eq!(build(name).unwrap().choose(NOW, chunk, paths), *expected, "{rule}");
    }
}

#[test]
fn schedulers_are_known_by_name() {
    assert_eq!(NAMES, ["lowest-rtt", "linux", "round-robin", "redundant", "blest", "ecf"]);
    assert!(NAMES.iter().all(|name| build(name).is_some()));
    assert!(descriptions().iter().all(|one| !one.summary.is_empty() && !one.summary.contains('\n')));
    assert!(build("weighted").is_none());
    let built = || NAMES.iter().map(|name| (*name, build(name).unwrap()));
    assert!(built().all(|(name, scheduler)| scheduler.queues_ahead() == (name == "linux")));
    assert!(built().all(|(name, scheduler)| scheduler.copies() == (name == "redundant")));
}

/// `net/mptcp/mptcp_sched.c` of the out-of-tree kernel.
#[test]
fn lowest_rtt_chooses() {
    let (near, far) = (path(0, 10), path(1, 40));
    let unknown = PathView { srtt_ns: None, ..path(2, 0) };
    let queued = PathView { queued_bytes: 5_500, ..near };
    check(
        "lowest-rtt",
        &[
            ("get_subflow_from_selectors: least srtt", chunk(1000), vec![far, near], to(0, 1000)),
            ("of equals the first", chunk(1000), vec![path(1, 10), near], to(1, 1000)),
            ("no sample is an srtt of 0", chunk(1000), vec![near, far, unknown], to(2, 1000)),
            ("as much as fits its window", chunk(90_000), vec![near, far], to(0, 6_000)),
            ("the last segment whole", chunk(90_000), vec![queued, far], to(0, 1_000)),
            ("mptcp_is_temp_unavailable: window full", chunk(1000), vec![full(near), far], to(1, 1000)),
            ("its queue fills it", chunk(1000), vec![PathView { queued_bytes: 6_000, ..near }, far], to(1, 1000)),
            ("CA_Loss", chunk(1000), vec![timed_out(near), far], to(1, 1000)),
            ("mptcp_is_def_unavailable: failed", chunk(1000), vec![stale(near), far], to(1, 1000)),
            ("all full", chunk(1000), vec![full(near), full(far)], WAIT),
            ("no subflow", chunk(1000), vec![], WAIT),
            ("the peer's window", Chunk { window_bytes: 1500, ..chunk(9000) }, vec![near, far], to(0, 1500)),
            ("it is closed", Chunk { window_bytes: 0, ..chunk(9000) }, vec![near, far], WAIT),
            ("subflow_is_active first", chunk(1000), vec![backup(near), far], to(1, 1000)),
            ("a busy one is waited for", chunk(1000), vec![backup(near), full(far)], WAIT),
            ("backups when no other works", chunk(1000), vec![backup(near), stale(far)], to(0, 1000)),
            ("path_mask: not where it was", again(0b01), vec![near, far], to(1, 1000)),
            ("nor when the other is busy", again(0b01), vec![near, full(far)], WAIT),
            ("a backup takes what all others had", again(0b01), vec![near, backup(far)], to(1, 1000)),
            ("all had it: anybody again", again(0b11), vec![near, far], to(0, 1000)),
            ("a failed one is not waited for", again(0b01), vec![near, stale(far)], to(0, 1000)),
        ],
    );
}

/// `net/mptcp/protocol.c` of Linux.
#[test]
fn linux_chooses() {
    let (slow, fast) = (path(0, 10), PathView { pacing_bytes_per_second: 5_000_000, ..path(1, 40) });
    let idle = |path| PathView { in_flight_packets: 0, unacknowledged_packets: 0, ..path };
    let wide = |path| PathView { send_buffer_bytes: 1 << 20, ..path };
    let brimful = |path| PathView { queued_bytes: 46_080 - 4 * 1480, ..path };
    check(
        "linux",
        &[
            ("get_send: least queue / rate, not least srtt", chunk(1000), vec![slow, fast], to(1, 1000)),
            ("an empty queue wins", chunk(1000), vec![idle(slow), fast], to(0, 1000)),
            ("of equals the first", chunk(1000), vec![idle(fast), idle(slow)], to(1, 1000)),
            ("ahead of the window", chunk(1000), vec![full(slow)], to(0, 1000)),
            ("sk_stream_memory_free", chunk(1000), vec![brimful(slow)], WAIT),
            ("what is lost is held, too", chunk(1000), vec![PathView { unacknowledged_packets: 32, ..slow }], WAIT),
            (
                "only of the best",
                chunk(1000),
                vec![PathView { send_buffer_bytes: 92_160, ..brimful(slow) }, brimful(fast)],
                WAIT,
            ),
            ("MPTCP_SEND_BURST_SIZE, in whole fragments", chunk(1 << 20), vec![wide(slow)], to(0, 2 * 32_728)),
            (
                "from within a fragment",
                Chunk { in_pages: 30_000, ..chunk(1 << 20) },
                vec![wide(slow)],
                to(0, 3 * 32_728 - 30_000),
            ),
            ("until memory is full", chunk(1 << 20), vec![PathView { queued_bytes: 20_000, ..slow }], to(0, 32_728)),
            ("the peer's window", Chunk { window_bytes: 1500, ..chunk(9000) }, vec![slow], to(0, 1500)),
            ("SSK_MODE_ACTIVE first", chunk(1000), vec![slow, backup(idle(fast))], to(0, 1000)),
            ("also when it has no room", chunk(1000), vec![brimful(slow), backup(idle(fast))], WAIT),
            ("nr_active 0: the best backup", chunk(1000), vec![stale(slow), backup(fast)], to(1, 1000)),
            ("mptcp_subflow_active: not stale", chunk(1000), vec![stale(idle(slow)), fast], to(1, 1000)),
            ("all stale: TCP alone goes on", chunk(1000), vec![stale(slow), stale(backup(fast))], WAIT),
            ("no rate yet", chunk(1000), vec![PathView { pacing_bytes_per_second: 0, ..slow }, fast], to(1, 1000)),
            ("what a failed one held is like new", again(0b01), vec![stale(slow), fast], to(1, 1000)),
        ],
    );
}

/// avg_pacing_rate: 4 segments of 1480 bytes held at 1 MB/s, then a window of as much at 3 MB/s, are 2 MB/s, however little
/// waits.
#[test]
fn linux_weighs_rates() {
    let mut linux = build("linux").unwrap();
    let before = path(0, 10);
    let few = Chunk { window_bytes: 4 * 1480, ..chunk(1) };
    assert_eq!(linux.choose(NOW, &few, &[before]), to(0, 1));
    let faster = PathView { pacing_bytes_per_second: 3_000_000, ..before };
    assert_eq!(linux.choose(NOW, &few, &[faster]), to(0, 1));
    let rival = |subflow, rate| PathView { pacing_bytes_per_second: rate, ..path(subflow, 10) };
    let none = Chunk { window_bytes: 1, ..few };
    assert_eq!(linux.choose(NOW, &none, &[faster, rival(1, 1_900_000)]), to(0, 1));
    assert_eq!(linux.choose(NOW, &none, &[faster, rival(2, 2_100_000)]), to(2, 1));
}

/// `net/mptcp/mptcp_rr.c` of the out-of-tree kernel: a segment each, the oldest first: subflows are
/// inserted at the head of its list, and the last of it that has not had its turn is taken.
#[test]
fn round_robin_takes_turns() {
    let mut turns = build("round-robin").unwrap();
    let paths = [path(0, 10), path(1, 40), path(2, 20)];
    for subflow in [0, 1, 2, 0, 1, 2, 0] {
        assert_eq!(turns.choose(NOW, &chunk(90_000), &paths), to(subflow, 1000));
    }
    let (one, other, busy) = (path(0, 10), path(1, 40), full(path(2, 20)));
    for subflow in [1, 0, 1, 0] {
        assert_eq!(turns.choose(NOW, &chunk(90_000), &[one, other, busy]), to(subflow, 1000), "cwnd_limited");
    }
    check(
        "round-robin",
        &[
            ("less than a segment", chunk(300), vec![one], to(0, 300)),
            ("the peer's window", Chunk { window_bytes: 0, ..chunk(9000) }, vec![one, other], WAIT),
            ("none has room", chunk(1000), vec![full(one), full(other)], WAIT),
            ("CA_Loss", chunk(1000), vec![one, timed_out(other)], to(0, 1000)),
            ("failed", chunk(1000), vec![one, stale(other)], to(0, 1000)),
            ("no backup", chunk(1000), vec![one, backup(other)], to(0, 1000)),
            ("backups alone", chunk(1000), vec![stale(one), backup(other)], to(1, 1000)),
            ("what is given again, by round-trip time", again(0b10), vec![one, other], to(0, 1000)),
        ],
    );
}

fn set(name: &str, parameters: serde_json::Value) -> Option<Box<dyn Scheduler>> {
    scheduler::build(name, parameters.as_object().unwrap()).ok()
}

#[test]
fn round_robin_has_a_quota_and_may_wait_for_all() {
    let paths = [path(0, 10), path(1, 40)];
    let mut pairs = set("round-robin", json!({"quota": 2})).unwrap();
    for (subflow, bytes) in [(0, 500), (0, 1000), (1, 2000), (0, 2000)] {
        assert_eq!(pairs.choose(NOW, &chunk(bytes), &paths), to(subflow, bytes));
    }
    let mut waiting = set("round-robin", json!({"cwnd_limited": false})).unwrap();
    assert!(waiting.queues_ahead());
    // Room for 46080 bytes, of which 4 segments that are under way take 1480 each.
    let behind = |queued_bytes| [PathView { queued_bytes, ..full(path(0, 10)) }, full(path(1, 40))];
    assert_eq!(waiting.choose(NOW, &chunk(9000), &behind(40_159)), to(0, 1000));
    assert_eq!(waiting.choose(NOW, &chunk(9000), &behind(40_160)), to(1, 1000));
    assert_eq!(waiting.choose(NOW, &chunk(9000), &behind(40_160)), WAIT, "it is its turn");
    assert!(set("round-robin", json!({"quota": 0})).is_none());
}

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

/// Everything to everyone with room; each bit is a subflow.
#[test]
fn redundant_sends_everywhere() {
    let (near, far) = (path(0, 10), path(1, 40));
    let everywhere = |bytes| Choice::Send { subflows: 0b11, bytes };
    let copy = |sent_on| Chunk { sent_on, ..chunk(1000) };
    let narrow = PathView { in_flight_packets: 8, ..far };
    check(
        "redundant",
        &[
            ("both", chunk(1000), vec![near, far], everywhere(1000)),
            ("as much as both have room for", chunk(90_000), vec![near, narrow], everywhere(2000)),
            ("a full one catches up later", chunk(90_000), vec![near, full(far)], to(0, 6000)),
            ("by itself", copy(0b01), vec![near, far], to(1, 1000)),
            ("none lacks it", copy(0b11), vec![near, far], WAIT),
            ("CA_Loss", chunk(1000), vec![near, timed_out(far)], to(0, 1000)),
            ("failed", copy(0b01), vec![near, stale(far)], WAIT),
            ("backups carry no copies", copy(0b01), vec![near, backup(far)], WAIT),
            ("what is given again, once", again(0b100), vec![near, far], to(0, 1000)),
        ],
    );
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

fn window(cwnd: f64, ssthresh: f64) -> Window {
    Window {
        cwnd_packets: cwnd,
        ssthresh_packets: ssthresh,
        srtt_ns: None,
        min_rtt_ns: None,
        mss_bytes: MSS as u32,
        recovering: false,
        usable: true,
    }
}

/// Subflow 0 is free, subflow 1 (in avoidance) holds the head of the connection's window.
fn blocked(helper: &mut Opportunistic, now: Time, sent_on: u64, paths: &[PathView], all: &mut [Window]) -> Choice {
    helper.blocked(now, &again(sent_on), paths, all, &mut *build("lowest-rtt").unwrap())
}

/// mptcp_rcv_buf_optimization
#[test]
fn blocked_windows_are_opened_by_copies() {
    let near = path(0, 10);
    let small = |path| PathView { cwnd_packets: 4, ..path };
    let cases = [
        ("more than four times as slow", 0b10, vec![near, full(path(1, 41))], to(0, 1000)),
        ("four times is not more", 0b10, vec![near, full(path(1, 40))], WAIT),
        ("but a small window is helped", 0b10, vec![near, full(small(path(1, 12)))], to(0, 1000)),
        ("it had it", 0b11, vec![near, full(path(1, 100))], WAIT),
        ("the holder is gone", 0b100, vec![near, path(1, 100)], WAIT),
        ("none is free", 0b10, vec![full(near), full(path(1, 100))], WAIT),
        ("one of two holders is near", 0b110, vec![near, full(path(1, 100)), full(path(2, 20))], WAIT),
    ];
    for (rule, sent_on, paths, expected) in cases {
        let mut all = [window(10.0, 5.0); 3];
        let mut helper = Opportunistic::new(true, false);
        assert_eq!(blocked(&mut helper, NOW, sent_on, &paths, &mut all), expected, "{rule}");
        assert_eq!(all, [window(10.0, 5.0); 3], "{rule}");
        let mut off = Opportunistic::new(false, false);
        assert_eq!(blocked(&mut off, NOW, sent_on, &paths, &mut all), WAIT, "{rule}");
    }
}

#[test]
fn slow_holders_are_penalised() {
    let paths = [path(0, 10), full(path(1, 20))];
    let penalised = |before: Window, paths: &[PathView]| {
        let mut all = [window(10.0, 5.0), before];
        blocked(&mut Opportunistic::new(false, true), NOW, 0b10, paths, &mut all);
        assert_eq!(all[0], window(10.0, 5.0), "the free subflow is left alone");
        (all[1].cwnd_packets, all[1].ssthresh_packets)
    };
    assert_eq!(penalised(window(10.0, 8.0), &paths), (5.0, 4.0));
    assert_eq!(penalised(window(10.0, 80.0), &paths), (5.0, 80.0), "slow start goes on");
    assert_eq!(penalised(window(1.5, 1.0), &paths), (1.0, 2.0), "floors");
    assert_eq!(penalised(Window { recovering: true, ..window(10.0, 8.0) }, &paths), (10.0, 8.0), "CA_Open only");
    assert_eq!(penalised(window(10.0, 8.0), &[path(0, 20), full(path(1, 20))]), (10.0, 8.0), "slower ones only");
}

#[test]
fn penalties_wait_for_a_round_trip() {
    let paths = [path(0, 10), full(path(1, 20))];
    let mut all = [window(16.0, 8.0); 2];
    let mut helper = Opportunistic::new(false, true);
    for (at_ms, expected) in [(0, 8.0), (9, 8.0), (10, 4.0), (19, 4.0), (20, 2.0)] {
        blocked(&mut helper, NOW + at_ms * MS, 0b10, &paths, &mut all);
        assert_eq!(all[1].cwnd_packets, expected, "{at_ms} ms");
    }
}

/// Also what only forged time stamps and ACKs make of a path.
fn any_path() -> impl Strategy<Value = PathView> {
    let flags = (prop::bool::weighted(0.3), prop::bool::weighted(0.2), prop::bool::weighted(0.2));
    let srtt_ns = prop_oneof![8 => MS..500 * MS, 1 => 0..3_i64, 1 => Just(100_000_000 * MS)];
    let cwnd_packets = prop_oneof![9 => 1..50_u32, 1 => Just(1 << 30)];
    let rate = prop_oneof![9 => 0..9_000_000_u64, 1 => Just(u64::MAX)];
    (prop::option::of(srtt_ns), cwnd_packets, 0..50_u32, 0..80_000_u64, rate, flags).prop_map(
        |(srtt_ns, cwnd_packets, in_flight_packets, queued_bytes, rate, (backup, stale, in_loss))| PathView {
            srtt_ns,
            cwnd_packets,
            in_flight_packets,
            queued_bytes,
            pacing_bytes_per_second: rate,
            backup,
            stale,
            in_loss,
            ..path(0, 1)
        },
    )
}

proptest! {
    #[test]
    fn choices_are_sound(
        situations in prop::collection::vec(
            (prop::collection::vec(any_path(), 0..5), 0..200_000_u64, 0..200_000_u64, any::<bool>(), 0..32_u64),
            1..20,
        ),
    ) {
        for name in NAMES {
            let mut scheduler = build(name).unwrap();
            for (paths, bytes, window_bytes, reinjection, sent_on) in &situations {
                let paths: Vec<_> =
                    paths.iter().enumerate().map(|(subflow, path)| PathView { subflow, ..*path }).collect();
                let sent_on = if *reinjection { *sent_on } else { 0 };
                let chunk = Chunk {
                    in_pages: 0,
                    bytes: *bytes,
                    window_bytes: *window_bytes,
                    peer_window_bytes: *window_bytes,
                    reinjection: *reinjection,
                    sent_on,
                };
                let Choice::Send { subflows, bytes } = scheduler.choose(NOW, &chunk, &paths) else { continue };
                prop_assert!(bytes > 0 && bytes <= chunk.bytes && bytes <= chunk.window_bytes);
                prop_assert!(subflows.count_ones() == 1 || scheduler.copies() && subflows > 0);
                for chosen in paths.iter().filter(|path| path.bit() & subflows != 0) {
                    prop_assert!(!chosen.stale, "{} chose a failed subflow", name);
                    let active_without_it =
                        |path: &PathView| !path.stale && !path.backup && chunk.sent_on & path.bit() == 0;
                    if chosen.backup {
                        let moving = paths.iter().any(active_without_it);
                        prop_assert!(!moving, "{} chose a backup", name);
                    }
                    if !scheduler.queues_ahead() {
                        prop_assert!(chosen.free_bytes() > 0 && bytes < chosen.free_bytes() + MSS);
                        prop_assert!(!chosen.in_loss);
                    }
                }
            }
        }
    }

    #[test]
    fn whoever_can_send_does(paths in prop::collection::vec(any_path(), 1..5), bytes in 1..200_000_u64) {
        let paths: Vec<_> = paths.iter().enumerate().map(|(subflow, path)| PathView { subflow, ..*path }).collect();
        let free = |path: &&PathView| !path.backup && !path.stale && !path.in_loss && path.free_bytes() > 0;
        let best = paths.iter().filter(free).map(|path| path.srtt_ns.unwrap_or(0)).min();
        let choice = build("lowest-rtt").unwrap().choose(NOW, &chunk(bytes), &paths);
        if let Some(best) = best {
            let Choice::Send { subflows, .. } = choice else { panic!("waits though a subflow is free") };
            prop_assert_eq!(paths[subflows.trailing_zeros() as usize].srtt_ns.unwrap_or(0), best);
        }
    }
}
