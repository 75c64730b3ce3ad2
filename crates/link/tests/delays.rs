//! Delays: what they are asked to be, in order unless asked otherwise.

mod common;

use common::{Fate, MS, S, element};
use proptest::prelude::*;
use serde_json::json;

#[test]
fn a_fixed_delay() {
    let fate = Fate::of(&mut *element(&json!({"element": "delay", "delay": 7 * MS}), 1, "a"), [0, 1, MS], 100, S);
    assert_eq!(fate.times(), [7 * MS, 7 * MS + 1, 8 * MS]);
}

/// The delays of packets 1 ms apart.
fn delays(settings: serde_json::Value, count: i64) -> Vec<f64> {
    let fate = Fate::of(&mut *element(&settings, 2, "a"), (0..count).map(|n| n * MS), 100, i64::MAX);
    let mut delays = vec![0.0; count as usize];
    fate.sent.iter().for_each(|(at, _, number)| delays[*number as usize] = (at - i64::from(*number) * MS) as f64 / 1e6);
    delays
}

fn moments(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / values.len() as f64;
    (mean, variance.sqrt())
}

#[test]
fn jitter_has_its_distribution() {
    let jitter = |distribution: &str, correlation: i64| {
        delays(
            json!({"element": "delay", "delay": 50 * MS, "jitter": 5 * MS, "distribution": distribution,
                   "correlation": correlation, "reorder": true}),
            100_000,
        )
    };
    let (mean, deviation) = moments(&jitter("normal", 0));
    assert!((mean - 50.0).abs() < 0.1 && (deviation - 5.0).abs() < 0.1, "{mean} {deviation}");
    let uniform = jitter("uniform", 0);
    let (mean, deviation) = moments(&uniform);
    assert!((mean - 50.0).abs() < 0.1 && (deviation - 5.0 / 3.0_f64.sqrt()).abs() < 0.05, "{mean} {deviation}");
    assert!(uniform.iter().all(|x| (45.0..=55.0).contains(x)));
    let correlated = jitter("normal", 20 * MS);
    let (mean, deviation) = moments(&correlated);
    let covariance: f64 = correlated.windows(21).map(|w| (w[0] - mean) * (w[20] - mean)).sum::<f64>();
    let correlation = covariance / correlated.len() as f64 / deviation.powi(2);
    assert!((correlation - (-1.0_f64).exp()).abs() < 0.05, "{correlation}");
}

proptest! {
    #[test]
    fn nothing_overtakes_unless_asked(seed in any::<u64>(), gaps in prop::collection::vec(0..3 * MS, 2..100), jitter in 0..40 * MS) {
        let times = gaps.iter().scan(0, |now, gap| { *now += gap; Some(*now) });
        let value = json!({"element": "delay", "delay": 20 * MS, "jitter": jitter});
        let fate = Fate::of(&mut *element(&value, seed, "a"), times, 100, i64::MAX);
        prop_assert_eq!(fate.numbers(), (0..gaps.len() as u32).collect::<Vec<_>>());
        let starts = gaps.iter().scan(0, |now, gap| { *now += gap; Some(*now) });
        prop_assert!(fate.times().iter().zip(starts).all(|(leaves, came)| *leaves >= came));
    }
}

#[test]
fn with_reordering_packets_overtake() {
    let value = json!({"element": "delay", "delay": 20 * MS, "jitter": 10 * MS, "reorder": true});
    let fate = Fate::of(&mut *element(&value, 1, "a"), (0..1000).map(|n| n * MS), 100, i64::MAX);
    assert_eq!(fate.sent.len(), 1000);
    assert!(!fate.numbers().is_sorted());
    assert!(fate.times().is_sorted());
}
