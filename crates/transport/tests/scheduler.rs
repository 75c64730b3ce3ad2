//! Where bytes go in given situations, with the rule that says so.

use proptest::prelude::*;
use transport::congestion::Window;
use transport::scheduler::{Choice, Chunk, NAMES, Opportunistic, PathView, build, summaries};
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
    Chunk { bytes, window_bytes: 1_000_000, reinjection: false, sent_on: 0 }
}

fn again(sent_on: u64) -> Chunk {
    Chunk { reinjection: true, sent_on, ..chunk(1000) }
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
    assert_eq!(NAMES, ["lowest-rtt", "linux"]);
    assert!(NAMES.iter().all(|name| build(name).is_some()));
    assert!(summaries().iter().all(|(_, summary)| !summary.is_empty() && !summary.contains('\n')));
    assert!(build("round-robin").is_none());
    assert!(!build("lowest-rtt").unwrap().queues_ahead() && build("linux").unwrap().queues_ahead());
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
    let idle = |path| PathView { in_flight_packets: 0, queued_bytes: 0, ..path };
    let brimful = |path| PathView { queued_bytes: 16_000, ..path };
    check(
        "linux",
        &[
            ("get_send: least queue / rate, not least srtt", chunk(1000), vec![slow, fast], to(1, 1000)),
            ("an empty queue wins", chunk(1000), vec![idle(slow), fast], to(0, 1000)),
            ("of equals the first", chunk(1000), vec![idle(fast), idle(slow)], to(1, 1000)),
            ("ahead of the window", chunk(1000), vec![full(slow)], to(0, 1000)),
            ("sk_stream_memory_free", chunk(1000), vec![brimful(slow)], WAIT),
            (
                "only of the best",
                chunk(1000),
                vec![PathView { cwnd_packets: 40, ..brimful(slow) }, brimful(fast)],
                WAIT,
            ),
            ("MPTCP_SEND_BURST_SIZE", chunk(1 << 20), vec![slow], to(0, 65_428)),
            ("the peer's window", Chunk { window_bytes: 1500, ..chunk(9000) }, vec![slow], to(0, 1500)),
            ("SSK_MODE_ACTIVE first", chunk(1000), vec![slow, backup(idle(fast))], to(0, 1000)),
            ("also when it has no room", chunk(1000), vec![brimful(slow), backup(idle(fast))], WAIT),
            ("nr_active 0: the best backup", chunk(1000), vec![stale(slow), backup(fast)], to(1, 1000)),
            ("mptcp_subflow_active: not stale", chunk(1000), vec![stale(idle(slow)), fast], to(1, 1000)),
            ("all stale: TCP alone goes on", chunk(1000), vec![stale(slow), stale(backup(fast))], WAIT),
            ("no rate yet", chunk(1000), vec![PathView { pacing_bytes_per_second: 0, ..slow }, fast], to(1, 1000)),
            ("get_retrans: only idle ones", again(0b01), vec![slow, fast], WAIT),
            ("the first", again(0b10), vec![idle(slow), fast], to(0, 1000)),
            ("no backup while others move", again(0b01), vec![slow, backup(idle(fast))], WAIT),
            ("a backup when they are stuck", again(0b10), vec![stale(slow), backup(idle(fast))], to(1, 1000)),
            ("what a failed one held is like new", again(0b01), vec![stale(slow), fast], to(1, 1000)),
        ],
    );
}

/// avg_pacing_rate: 4 KB held at 1 MB/s, then 4 KB at 3 MB/s, are 2 MB/s.
#[test]
fn linux_weighs_rates() {
    let mut linux = build("linux").unwrap();
    let before = path(0, 10);
    assert_eq!(linux.choose(NOW, &chunk(1), &[before]), to(0, 1));
    let faster = PathView { pacing_bytes_per_second: 3_000_000, ..before };
    assert_eq!(linux.choose(NOW, &chunk(4000), &[faster]), to(0, 4000));
    let rival = |subflow, rate| PathView { pacing_bytes_per_second: rate, ..path(subflow, 10) };
    assert_eq!(linux.choose(NOW, &chunk(1), &[faster, rival(1, 1_900_000)]), to(0, 1));
    assert_eq!(linux.choose(NOW, &chunk(1), &[faster, rival(2, 2_100_000)]), to(2, 1));
}

/// What is resent to an idle subflow goes there in a burst, though it is idle no more.
#[test]
fn linux_resends_in_bursts() {
    let mut linux = build("linux").unwrap();
    let idle = PathView { in_flight_packets: 0, ..path(0, 10) };
    assert_eq!(linux.choose(NOW, &again(0b10), &[idle, path(1, 10)]), to(0, 1000));
    let busy = |bytes| PathView { queued_bytes: bytes, ..idle };
    for given in 1..65 {
        assert_eq!(linux.choose(NOW, &again(0b10), &[busy(given * 1000), path(1, 10)]), to(0, 1000));
    }
    assert_eq!(linux.choose(NOW, &again(0b10), &[busy(65_000), path(1, 10)]), to(0, 428), "64 KiB less headers");
    assert_eq!(linux.choose(NOW, &again(0b10), &[busy(65_428), path(1, 10)]), WAIT);
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

fn any_path() -> impl Strategy<Value = PathView> {
    let flags = (prop::bool::weighted(0.3), prop::bool::weighted(0.2), prop::bool::weighted(0.2));
    (prop::option::of(1..500_i64), 1..50_u32, 0..50_u32, 0..80_000_u64, 0..9_000_000_u64, flags).prop_map(
        |(srtt_ms, cwnd_packets, in_flight_packets, queued_bytes, rate, (backup, stale, in_loss))| PathView {
            srtt_ns: srtt_ms.map(|srtt| srtt * MS),
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
                let chunk =
                    Chunk { bytes: *bytes, window_bytes: *window_bytes, reinjection: *reinjection, sent_on };
                let Choice::Send { subflows, bytes } = scheduler.choose(NOW, &chunk, &paths) else { continue };
                prop_assert!(bytes > 0 && bytes <= chunk.bytes && bytes <= chunk.window_bytes);
                prop_assert_eq!(subflows.count_ones(), 1);
                let chosen = paths[subflows.trailing_zeros() as usize];
                prop_assert!(!chosen.stale, "{} chose a failed subflow", name);
                let active_without_it =
                    |path: &PathView| !path.stale && !path.backup && chunk.sent_on & path.bit() == 0;
                if chosen.backup {
                    let moving = paths.iter().any(active_without_it);
                    prop_assert!(!moving || chunk.reinjection && *name == "linux", "{} chose a backup", name);
                }
                if !scheduler.queues_ahead() {
                    prop_assert!(chosen.free_bytes() > 0 && bytes < chosen.free_bytes() + MSS);
                    prop_assert!(!chosen.in_loss);
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
