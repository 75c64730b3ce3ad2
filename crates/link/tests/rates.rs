//! Rates are exact: no nanosecond is lost to rounding, whatever the rate does.

mod common;

use common::{Fate, MS, S, element};
use proptest::prelude::*;
use serde_json::json;

const ENDLESS: u64 = 1_000_000_000;

fn endless() -> serde_json::Value {
    json!({"queue": "drop-tail", "packets": ENDLESS})
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn packets_leave_at_exact_times(rate in 1_000..10_000_000_000_u64, bytes in 40..9_000_u32, count in 1..300_u64, start in 0..S) {
        let mut rate_element = element(&json!({"element": "rate", "rate": rate, "queue": endless()}), 1, "a");
        let fate = Fate::of(&mut *rate_element, (0..count).map(|_| start), bytes, i64::MAX);
        let exact = |n: u64| start + (u128::from(n * u64::from(bytes) * 8) * 1_000_000_000).div_ceil(rate.into()) as i64;
        prop_assert_eq!(fate.times(), (1..=count).map(exact).collect::<Vec<_>>());
    }

    /// Every nanosecond's capacity is used while packets wait, whatever the rate does: the same rate gives the same
    /// times for packets of any size.
    #[test]
    fn a_changing_rate_serves_small_and_large_packets_alike(seed in any::<u64>(), small in 1..15_u32) {
        let process = json!({"element": "rate-process", "mean": 8_000_000, "deviation": 4_000_000,
                             "correlation": 50 * MS, "step": MS, "queue": endless()});
        let run = |bytes: u32, count: u32| {
            Fate::of(&mut *element(&process, seed, "a"), (0..count).map(|_| 0), bytes, 100 * S).times()
        };
        let (large, small_times) = (run(small * 100, 50), run(100, 50 * small));
        let every: Vec<i64> = small_times.into_iter().skip(small as usize - 1).step_by(small as usize).collect();
        prop_assert_eq!(large, every);
    }
}

#[test]
fn a_rate_of_0_stalls() {
    let mut stalled = element(&json!({"element": "rate", "rate": 0}), 1, "a");
    assert_eq!(Fate::of(&mut *stalled, [0, 1], 1500, i64::MAX), Fate::default());
    let mut states = Vec::new();
    stalled.queues(&mut states);
    assert_eq!((states[0].element, states[0].packets, states[0].bytes), ("a", 1, 1500));
}

/// Packets leave while the state is high, and at its rate; the share of time follows from the mean times.
#[test]
fn markov_gives_its_mean_rate() {
    let markov = json!({"element": "rate-markov", "high": 12_000_000, "low": 1_200_000, "high_time": 300 * MS,
                        "low_time": 100 * MS, "queue": endless()});
    let fate = Fate::of(&mut *element(&markov, 3, "a"), (0..1_000_000).map(|_| 0), 1500, 600 * S);
    let rate = fate.sent.len() as f64 * 12_000.0 / 600.0;
    let mean = 0.75 * 12e6 + 0.25 * 1.2e6;
    assert!((rate / mean - 1.0).abs() < 0.03, "{rate} against {mean}");
    let gaps: Vec<i64> = fate.times().windows(2).map(|pair| pair[1] - pair[0]).collect();
    let at = |nanos: i64| gaps.iter().filter(|gap| **gap == nanos).count() as f64 / gaps.len() as f64;
    assert!(at(MS) > 0.9 && at(10 * MS) > 0.02 && at(MS) + at(10 * MS) > 0.98);
}

/// Mean, standard deviation and correlation at one and at two correlation times, of the rate in each 10 ms.
#[test]
fn the_process_has_the_moments_it_was_given() {
    let process = json!({"element": "rate-process", "mean": 80_000_000, "deviation": 16_000_000,
                         "correlation": 100 * MS, "queue": endless()});
    let steps = 40_000;
    let mut counts = vec![0.0; steps];
    let end = steps as i64 * 10 * MS;
    for time in Fate::of(&mut *element(&process, 5, "a"), (0..4_200_000).map(|_| 0), 1000, end - 1).times() {
        counts[(time / (10 * MS)) as usize] += 8000.0 / 0.01;
    }
    let n = steps as f64;
    let mean = counts.iter().sum::<f64>() / n;
    let covariance =
        |lag: usize| counts.iter().zip(&counts[lag..]).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>() / n;
    let deviation = covariance(0).sqrt();
    assert!((mean / 80e6 - 1.0).abs() < 0.02, "{mean}");
    assert!((deviation / 16e6 - 1.0).abs() < 0.04, "{deviation}");
    for (lag, expected) in [(10, (-1.0_f64).exp()), (20, (-2.0_f64).exp())] {
        let correlation = covariance(lag) / covariance(0);
        assert!((correlation - expected).abs() < 0.05, "{lag}: {correlation}");
    }
}

/// Two runs with one seed meet the same radio: how many packets there were before changes nothing.
#[test]
fn processes_evolve_with_time_and_not_with_packets() {
    let process =
        json!({"element": "rate-process", "mean": 8_000_000, "deviation": 4_000_000, "correlation": 100 * MS});
    let last = |before: i64| {
        let times = (0..before).map(|n| n * 20 * MS).chain([5 * S]);
        *Fate::of(&mut *element(&process, 9, "a"), times, 1500, 100 * S).times().last().unwrap()
    };
    assert_eq!(last(0), last(200));
}
