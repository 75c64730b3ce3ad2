//! Recorded rates, delays and losses give what was recorded, when it was.

mod common;

use common::{Fate, MS, S, element};
use proptest::prelude::*;
use serde_json::{Value, json};

fn fate(value: &Value, times: impl IntoIterator<Item = i64>, bytes: u32) -> Fate {
    Fate::of(&mut *element(value, 1, "link/dish/downlink/0"), times, bytes, 100 * S)
}

#[test]
fn packets_leave_at_the_rate_of_their_time() {
    // 1500 bytes take 12 ms at 1 Mbit/s and 3 ms at 4 Mbit/s; the third has 6 ms of the one and 1.5 ms of the other.
    let value = json!({"element": "rate-trace", "trace": [[0, 1], [30, 4]]});
    assert_eq!(fate(&value, [0; 5], 1500).times(), [24, 48, 63, 69, 75].map(|half_ms| half_ms * MS / 2));
}

#[test]
fn a_rate_of_0_lets_packets_wait() {
    let value = json!({"element": "rate-trace", "trace": [[0, 0], [500, 12]]});
    assert_eq!(fate(&value, [0, 0], 1500).times(), [501 * MS, 502 * MS]);
}

#[test]
fn rates_begin_again_after_the_period() {
    let period = |period: Value| {
        let value = json!({"element": "rate-trace", "trace": [[0, 12], [10, 1.2]], "period": period});
        fate(&value, [0, 10 * MS, 21 * MS], 1500).times()
    };
    assert_eq!(period(json!(20 * MS)), [MS, 20 * MS, 22 * MS]);
    assert_eq!(period(Value::Null), [MS, 20 * MS, 31 * MS]);
}

#[test]
fn delays_are_those_of_their_time_and_order_holds() {
    let mut value = json!({"element": "delay-trace", "trace": [[0, 50, 0], [20, 10, 0]], "period": 30 * MS});
    // The packet at 20 ms would arrive at 30 ms, before the one at 19 ms.
    let times = [0, 19 * MS, 20 * MS, 30 * MS];
    assert_eq!(fate(&value, times, 100).times(), [50 * MS, 69 * MS, 69 * MS, 80 * MS]);
    value["reorder"] = json!(true);
    assert_eq!(fate(&value, times, 100).times(), [30 * MS, 50 * MS, 69 * MS, 80 * MS]);
}

#[test]
fn losses_are_those_of_their_time() {
    let value = json!({"element": "delay-trace", "trace": [[0, 1, 0], [1000, 1, 100], [2000, 1, 25]]});
    let fate = fate(&value, (0..42_000).map(|ms| ms * MS), 100);
    let lost = |from: i64, to: i64| fate.dropped.iter().filter(|one| (from..to).contains(&(one.0 / MS))).count();
    assert_eq!((lost(0, 1000), lost(1000, 2000)), (0, 1000));
    // Binomial: 40 000 with 25 % have a standard deviation of 87.
    let rest = lost(2000, 42_000);
    assert!(rest.abs_diff(10_000) < 400, "{rest}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    /// What is served in each row is what the row's rate allows, however long packets have waited.
    #[test]
    fn as_much_leaves_as_the_rates_allow(rates in prop::collection::vec(1..40_u32, 1..8)) {
        let trace: Vec<_> = rates.iter().enumerate().map(|(n, &rate)| json!([n * 100, rate])).collect();
        let value = json!({"element": "rate-trace", "trace": trace, "period": rates.len() as i64 * 100 * MS,
                           "queue": {"queue": "drop-tail", "packets": 1_000_000}});
        // Mbit/s for 100 ms are 12 500 bytes: 125 packets of 100 bytes.
        let packets: u32 = rates.iter().map(|rate| rate * 125).sum();
        let times = fate(&value, (0..packets).map(|_| 0), 100).times();
        let mut end = 0;
        for (n, rate) in rates.iter().enumerate() {
            end += rate * 125;
            prop_assert_eq!(times[end as usize - 1], (n as i64 + 1) * 100 * MS);
        }
    }
}
