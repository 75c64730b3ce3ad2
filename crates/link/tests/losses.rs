//! Losses have the frequencies and bursts that theory gives, and each direction its own luck.

mod common;

use common::{Fate, MS, element, packet};
use link::{Direction, Reason};
use serde_json::{Value, json};

const PACKETS: usize = 200_000;

/// Which of many packets, `gap` apart, are lost.
fn lost(value: &Value, gap: i64) -> Vec<bool> {
    let fate = Fate::of(&mut *element(value, 4, "a"), (0..PACKETS as i64).map(|n| n * gap), 100, i64::MAX);
    assert_eq!(fate.sent.len() + fate.dropped.len(), PACKETS);
    assert!(fate.dropped.iter().all(|one| one.3 == Reason::Loss));
    let mut lost = vec![false; PACKETS];
    fate.dropped.iter().for_each(|one| lost[one.2 as usize] = true);
    lost
}

fn share(lost: &[bool]) -> f64 {
    lost.iter().filter(|lost| **lost).count() as f64 / lost.len() as f64
}

/// Mean number of packets lost in a row.
fn burst(lost: &[bool]) -> f64 {
    let begins = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count();
    lost.iter().filter(|lost| **lost).count() as f64 / begins as f64
}

fn assert_near(value: f64, expected: f64, tolerance: f64) {
    assert!((value / expected - 1.0).abs() < tolerance, "{value} against {expected}");
}

#[test]
fn periodic() {
    let lost = lost(&json!({"element": "periodic-loss", "every": 7}), 1);
    assert!(lost.iter().enumerate().all(|(n, lost)| *lost == (n % 7 == 6)));
}

#[test]
fn independent() {
    let lost = lost(&json!({"element": "loss", "ratio": 0.05}), 1);
    assert_near(share(&lost), 0.05, 0.03);
    assert_near(burst(&lost), 1.0 / 0.95, 0.02);
}

#[test]
fn none_and_all() {
    assert_eq!(share(&lost(&json!({"element": "loss", "ratio": 0}), 1)), 0.0);
    assert_eq!(share(&lost(&json!({"element": "loss", "ratio": 1}), 1)), 1.0);
}

/// Of rounds of eight 1 − (1−p)⁸ lose packets, and then the whole rest (Padhye et al. 1998 §2).
#[test]
fn rounds() {
    let value = json!({"element": "round-loss", "ratio": 0.05, "rest": MS});
    let times = (0..PACKETS as i64).map(|n| n / 8 * 10 * MS);
    let fate = Fate::of(&mut *element(&value, 4, "a"), times, 100, i64::MAX);
    let mut lost = vec![false; PACKETS];
    fate.dropped.iter().for_each(|one| lost[one.2 as usize] = true);
    assert!(lost.chunks(8).all(|round| round.is_sorted()));
    let hit = lost.chunks(8).filter(|round| round[7]).count();
    assert_near(hit as f64 / (PACKETS / 8) as f64, 1.0 - 0.95_f64.powi(8), 0.03);
}

/// Bad with p/(p+r), for 1/r packets (Gilbert 1960).
#[test]
fn gilbert_elliott() {
    let bad = lost(&json!({"element": "gilbert-elliott", "p": 0.01, "r": 0.2}), 1);
    assert_near(share(&bad), 0.01 / 0.21, 0.05);
    assert_near(burst(&bad), 5.0, 0.05);
    let both = json!({"element": "gilbert-elliott", "p": 0.01, "r": 0.2, "good_loss": 0.001, "bad_loss": 0.5});
    assert_near(share(&lost(&both, 1)), 0.01 / 0.21 * 0.5 + 0.20 / 0.21 * 0.001, 0.05);
}

/// The share of time, whatever the distance of packets.
#[test]
fn gilbert_elliott_in_time() {
    let value = json!({"element": "gilbert-elliott-time", "good_time": 900 * MS, "bad_time": 100 * MS});
    let dense = lost(&value, 20 * MS);
    assert_near(share(&dense), 0.1, 0.08);
    // Seen every 20 ms, a bad time goes on with exp(−20/100) but for those that begin anew.
    assert_near(burst(&dense), 1.0 / (1.0 - (-0.2_f64).exp()), 0.08);
    assert_near(share(&lost(&value, 200 * MS)), 0.1, 0.08);
}

#[test]
fn directions_do_not_touch_each_others_luck() {
    let all = [
        json!({"element": "loss", "ratio": 0.3}),
        json!({"element": "gilbert-elliott", "p": 0.2, "r": 0.3}),
        json!({"element": "round-loss", "ratio": 0.05, "rest": MS}),
        json!({"element": "gilbert-elliott-time", "good_time": MS, "bad_time": MS, "bad_loss": 0.5}),
    ];
    for value in all {
        let up_lost = |with_down: bool| {
            let mut element = element(&value, 4, "a");
            let mut fate = Fate::default();
            for number in 0..1000 {
                let now = common::at(i64::from(number) * MS / 10);
                fate.push(&mut *element, now, Direction::Up, packet(number, 100));
                if with_down {
                    fate.push(&mut *element, now, Direction::Down, packet(number, 100));
                }
            }
            let up = fate.dropped.iter().filter(|one| one.1 == Direction::Up);
            up.map(|one| one.2).collect::<Vec<_>>()
        };
        assert_eq!(up_lost(false), up_lost(true), "{value}");
    }
}

#[test]
fn seeds_and_names_make_the_difference() {
    let value = json!({"element": "loss", "ratio": 0.5});
    let numbers = |seed, name| Fate::of(&mut *element(&value, seed, name), 0..100, 100, i64::MAX).numbers();
    assert_eq!(numbers(1, "a"), numbers(1, "a"));
    assert_ne!(numbers(1, "a"), numbers(2, "a"));
    assert_ne!(numbers(1, "a"), numbers(1, "b"));
}
