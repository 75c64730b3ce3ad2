//! What radios do to packets: closed forms, order, and evolution with time alone.

mod common;

use common::{Fate, MS, S, at, element, packet};
use link::{Direction, Reason};
use serde_json::{Value, json};

const PACKETS: i64 = 100_000;

/// Packets in slots of their own, half a millisecond into each.
fn apart(value: &Value, gap: i64) -> Fate {
    Fate::of(&mut *element(value, 5, "a"), (0..PACKETS).map(|n| n * gap + MS / 2), 100, i64::MAX)
}

fn assert_near(value: f64, expected: f64, tolerance: f64) {
    assert!((value / expected - 1.0).abs() < tolerance, "{value} against {expected}");
}

/// How long each packet that left took, in ms.
fn delays(fate: &Fate, gap: i64) -> Vec<f64> {
    let took = |(at, _, number): &(i64, Direction, u32)| (at - i64::from(*number) * gap - MS / 2) as f64 / 1e6;
    fate.sent.iter().map(took).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Of tries that fail with p, as many as n: pⁿ is lost, and what is not takes Σ k·R·pᵏ(1−p)/(1−pⁿ).
#[test]
fn arq_turns_loss_into_delay() {
    for (p, q, tries) in [(0.1, 0.1, 4), (0.4, 0.4, 3), (0.5, 0.2, 2), (0.3, 0.3, 1)] {
        let value = json!({"element": "arq", "error_ratio": p, "retry_error_ratio": q, "tries": tries});
        // Retries of one packet are over before the next is sent.
        let (gap, round_trip) = (50 * MS, 8.0);
        let fate = apart(&value, gap);
        let fails = |k: i32| if k == 0 { 1.0 } else { p * f64::powi(q, k - 1) };
        let lost = fails(tries);
        assert_near(fate.dropped.len() as f64, PACKETS as f64 * lost, if lost < 0.01 { 0.4 } else { 0.03 });
        assert!(fate.dropped.iter().all(|one| one.3 == Reason::GivenUp));
        let took: f64 = (0..tries).map(|k| f64::from(k) * round_trip * (fails(k) - fails(k + 1))).sum();
        match tries {
            1 => assert_eq!(mean(&delays(&fate, gap)), 0.0),
            _ => assert_near(mean(&delays(&fate, gap)), took / (1.0 - lost), 0.03),
        }
        // Given up a round trip after the last try.
        let wasted = i64::from(tries) * 8 * MS;
        assert!(fate.dropped.iter().all(|one| one.0 == i64::from(one.2) * gap + MS / 2 + wasted));
    }
}

/// The k-th wait is uniform up to a window that doubles: on average R + w·2ᵏ/2.
#[test]
fn arq_backs_off() {
    let value = json!({"element": "arq", "error_ratio": 1, "retry_error_ratio": 0.5, "tries": 100, "round_trip": MS,
                       "back_off": 4 * MS, "longest_back_off": 16 * MS, "in_order": false});
    let fate = apart(&value, 20 * MS);
    let took = delays(&fate, 20 * MS);
    // Windows of 4, 8, 16, 16, … ms: after k failures, with probability 2⁻ᵏ for k from 1.
    let windows = |k: u32| (0..k).map(|n| 1.0 + f64::from((4_u32 << n.min(2)).min(16)) / 2.0).sum::<f64>();
    let expected: f64 = (1..40).map(|k| windows(k) * 0.5_f64.powi(k as i32)).sum();
    // A retry within the slot of another fails with it.
    assert_near(mean(&took), expected, 0.05);
}

#[test]
fn arq_keeps_order_where_it_promises_to() {
    for in_order in [true, false] {
        let value = json!({"element": "arq", "error_ratio": 0.3, "in_order": in_order});
        let fate = Fate::of(&mut *element(&value, 5, "a"), (0..10_000).map(|n| n * MS), 100, i64::MAX);
        assert_eq!(fate.numbers().is_sorted(), in_order);
        assert_eq!(fate.sent.len() + fate.dropped.len(), 10_000);
        assert!(fate.times().is_sorted());
    }
}

/// A millisecond's fate is the same whether or not others are used.
#[test]
fn arq_evolves_with_time() {
    let value = json!({"element": "arq", "error_ratio": 0.3, "in_order": false});
    let left = |every: i64| {
        let fate = Fate::of(&mut *element(&value, 5, "a"), (0..6000 / every).map(|n| n * every * MS), 100, i64::MAX);
        let all = fate.sent.iter().map(|(at, _, number)| (i64::from(*number) * every, *at));
        let mut some: Vec<_> = all.filter(|(sent, _)| sent % 6 == 0).collect();
        some.sort_unstable();
        some
    };
    assert_eq!(left(1), left(3));
    assert_eq!(left(1).len(), left(2).len());
}

fn sent(fate: &Fate) -> Vec<(i64, u32)> {
    fate.sent.iter().map(|(at, _, number)| (at / MS, *number)).collect()
}

#[test]
fn a_radio_wakes_once_after_idling() {
    let value = json!({"element": "promotion", "takes": 260 * MS, "idle_after": 10 * S});
    let times = [0, 100, 260, 300, 10_299, 20_300, 20_560, 30_560];
    let fate = Fate::of(&mut *element(&value, 1, "a"), times.map(|ms| ms * MS), 100, i64::MAX);
    // At 20.3 s it has been idle for 10.001 s, at 30.56 s for 10 s.
    let left = [260, 260, 260, 300, 10_299, 20_560, 20_560, 30_820];
    assert_eq!(sent(&fate), left.into_iter().zip(0..).collect::<Vec<_>>());
}

/// One radio for both directions: the answer to what woke it does not wait again.
#[test]
fn both_directions_wake_one_radio() {
    let mut radio = element(&json!({"element": "promotion", "takes": 2 * S, "idle_after": 5 * S}), 1, "a");
    let mut fate = Fate::default();
    fate.push(&mut *radio, at(0), Direction::Up, packet(0, 100));
    fate.push(&mut *radio, at(2100 * MS), Direction::Down, packet(1, 100));
    fate.push(&mut *radio, at(7100 * MS), Direction::Up, packet(2, 100));
    fate.run(&mut *radio, at(i64::MAX));
    assert_eq!(sent(&fate), [(2000, 0), (2100, 1), (9100, 2)]);
}

#[test]
fn a_shared_channel_passes_small_packets() {
    let value = json!({"element": "promotion", "takes": 2 * S, "idle_after": 12 * S, "shared_after": 5 * S,
                       "shared_takes": 1500 * MS, "shared_bytes": 500});
    let mut radio = element(&value, 1, "a");
    let mut fate = Fate::default();
    // Large and small: dedicated at 2 s, shared from 7 s, used there at 8 and 19 s, so dedicated only when a large one
    // asks at 20 s; shared from 26.5 s on, and idle 12 s later.
    for (number, (ms, bytes)) in
        [(0, 1500), (8_000, 100), (19_000, 500), (20_000, 501), (20_100, 40), (38_400, 40), (50_399, 40), (62_399, 40)]
            .into_iter()
            .enumerate()
    {
        fate.push(&mut *radio, at(ms * MS), Direction::Up, packet(number as u32, bytes));
    }
    fate.run(&mut *radio, at(i64::MAX));
    let left = [2_000, 8_000, 19_000, 21_500, 21_500, 38_400, 50_399, 64_399];
    assert_eq!(sent(&fate), left.into_iter().zip(0..).collect::<Vec<_>>());
}

/// The times at which a handover is found to go on, whoever looks.
fn paused(value: &Value, every: i64) -> Vec<bool> {
    let count = 400 * S / every;
    let fate = Fate::of(&mut *element(value, 3, "a"), (0..count).map(|n| n * every), 100, i64::MAX);
    let mut paused = vec![true; count as usize];
    fate.sent.iter().filter(|one| one.0 == i64::from(one.2) * every).for_each(|one| paused[one.2 as usize] = false);
    paused
}

#[test]
fn handovers_pause_for_their_share_of_time() {
    let value = |lossy: bool| json!({"element": "handover", "every": 900 * MS, "shortest": 50 * MS, "longest": 150 * MS, "lossy": lossy});
    let share = |paused: &[bool]| paused.iter().filter(|on| **on).count() as f64 / paused.len() as f64;
    let fine = paused(&value(false), MS);
    assert_near(share(&fine), 0.1, 0.1);
    let lengths: Vec<usize> = fine.chunk_by(|a, b| a == b).filter(|run| run[0]).map(<[bool]>::len).collect();
    assert!(lengths.iter().all(|ms| (49..=302).contains(ms)), "{lengths:?}");
    assert_near(lengths.len() as f64, 400.0, 0.15);
    let coarse = paused(&value(false), 10 * MS);
    assert!(coarse.iter().enumerate().all(|(n, on)| *on == fine[10 * n]));
    assert_eq!(paused(&value(true), MS), fine);
}

#[test]
fn a_handover_holds_or_loses_packets() {
    let run = |lossy: bool| {
        let value =
            json!({"element": "handover", "every": S, "shortest": 100 * MS, "longest": 100 * MS, "lossy": lossy});
        Fate::of(&mut *element(&value, 3, "a"), (0..20_000).map(|n| n * MS), 100, i64::MAX)
    };
    let (held, lost) = (run(false), run(true));
    assert_eq!(held.numbers(), (0..20_000).collect::<Vec<_>>());
    assert!(held.sent.iter().all(|(at, _, number)| (0..=100 * MS).contains(&(at - i64::from(*number) * MS))));
    assert!(lost.dropped.iter().all(|one| one.3 == Reason::Handover));
    let late = held.sent.iter().filter(|(at, _, number)| *at > i64::from(*number) * MS).map(|one| one.2);
    assert_eq!(late.collect::<Vec<_>>(), lost.dropped.iter().map(|one| one.2).collect::<Vec<_>>());
}

/// From half a slot's middle to its end, then 1/s − 1 slots that are others' on average.
#[test]
fn packets_wait_for_grants() {
    for share in [1.0, 0.5, 0.1] {
        let fate = apart(&json!({"element": "grants", "share": share}), 500 * MS);
        assert!(fate.times().iter().all(|at| at % MS == 0));
        assert_near(mean(&delays(&fate, 500 * MS)), 0.5 + 1.0 / share - 1.0, 0.02);
    }
}

/// Who has nothing waiting asks first; what comes meanwhile goes with it.
#[test]
fn grants_are_asked_for() {
    let value = json!({"element": "grants", "slot": 5 * MS, "request": 12 * MS});
    let fate = Fate::of(&mut *element(&value, 1, "a"), [0, 1, 14, 15, 40].map(|ms| ms * MS), 100, i64::MAX);
    assert_eq!(sent(&fate), [(15, 0), (15, 1), (15, 2), (30, 3), (55, 4)]);
}

#[test]
fn slots_are_granted_by_time() {
    let value = json!({"element": "grants", "share": 0.2});
    let slots = |every: i64| {
        let fate = Fate::of(&mut *element(&value, 1, "a"), (0..6 * S / every).map(|n| n * every), 100, i64::MAX);
        let mut times = fate.times();
        times.dedup();
        times
    };
    let (all, some) = (slots(MS), slots(7 * MS));
    assert!(some.iter().all(|time| all.contains(time)));
    assert!(some.len() < all.len());
}

/// 1500 bytes take 1 ms, or a quarter of it while the queue drains; 10 wait at most.
#[test]
fn a_base_station_drains_after_a_loss() {
    let value = json!({"element": "base-station", "rate": 12_000_000, "drain_rate": 48_000_000, "delay": 10 * MS});
    let run =
        |count: i64| Fate::of(&mut *element(&value, 1, "a"), (0..count).map(|_| 0).chain([20 * MS, 20 * MS]), 1500, S);
    let full = run(11);
    assert!(full.dropped.is_empty());
    assert_eq!(full.times()[..11], (1..=11).map(|n| n * MS).collect::<Vec<_>>());
    let over = run(12);
    assert_eq!(over.dropped, [(0, Direction::Up, 11, Reason::QueueFull)]);
    // The first is being sent when the loss comes; the ten behind it take 2.5 ms. Then all is as before.
    assert_eq!(over.times()[..11], (0..11).map(|n| MS + n * MS / 4).collect::<Vec<_>>());
    assert_eq!(over.times()[11..], [21 * MS, 22 * MS]);
}
