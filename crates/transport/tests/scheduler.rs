//! Where bytes go in given situations, with the rule that says so.

#[path = "scheduler/opportunistic.rs"]
mod opportunistic;
#[path = "scheduler/waiting.rs"]
mod waiting;

use parameters::Table;
use proptest::prelude::*;
use serde_json::json;
use transport::scheduler::{self, Choice, Chunk, NAMES, PathView, Scheduler, descriptions};
use wire::Time;

const MS: i64 = 1_000_000;
const MSS: u64 = 1000;
const NOW: Time = Time::from_nanos(1_000 * MS);
const WAIT: Choice = Choice::Wait(Time::MAX);

/// A subflow with a window of 10 packets, 4 of them in flight, that sends a packet per millisecond.
fn path(subflow: usize, srtt_ms: i64) -> PathView {
    PathView {
        subflow,
        joined: subflow as u32,
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
            ("of equals the first", chunk(1000), vec![idle(slow), idle(fast)], to(0, 1000)),
            ("that joined", chunk(1000), vec![PathView { joined: 2, ..idle(slow) }, idle(fast)], to(1, 1000)),
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
