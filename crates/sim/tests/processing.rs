//! Hosts take a time that is drawn until they see what came, so that runs with different seeds differ where nothing else is
//! drawn.

mod common;

use common::{MS, run, wifi_lte};
use serde_json::{Value, json};

/// A plain TCP download beside a flow of a neighbour, through one full queue: nothing else is left to chance.
fn shared(seed: u64, processing_ns: i64) -> Value {
    let mut scenario = wifi_lte(4_000_000);
    scenario["seed"] = json!(seed);
    scenario["run"] = json!({"kind": "tcp", "path": "wifi"});
    scenario["cross_traffic"] = json!([{
        "name": "near", "kind": "tcp", "link": "wifi", "direction": "down", "flows": 2, "congestion_control": "reno",
        "start_ns": 0, "stop_ns": null,
    }]);
    scenario["processing_ns"] = json!(processing_ns);
    scenario
}

fn took_ns(scenario: &Value) -> i64 {
    let (outcome, _, _) = run(scenario);
    assert!(outcome.finished, "{}", outcome.reason);
    outcome.virtual_ns
}

#[test]
fn seeds_differ_only_where_hosts_take_time() {
    let distinct = |processing_ns| {
        let mut times: Vec<_> = (1..=4).map(|seed| took_ns(&shared(seed, processing_ns)) / MS).collect();
        times.sort_unstable();
        times.dedup();
        times.len()
    };
    // Initial sequence numbers differ, and nothing hangs on them.
    assert_eq!(distinct(0), 1);
    assert_eq!(distinct(100_000), 4);
}

#[test]
fn one_seed_is_one_run() {
    let scenario = shared(3, 100_000);
    assert_eq!(run(&scenario).1, run(&scenario).1);
}

#[test]
fn round_trips_are_longer_by_what_both_hosts_take() {
    // One packet at a time: each way ends at a host that takes half of 2 ms on average.
    let mut scenario = wifi_lte(1);
    scenario["transfer"] = json!({
        "application": "request-response", "direction": "down", "request_bytes": 100, "response_bytes": 100,
        "requests": 200, "think_ns": 0,
    });
    let at_once = took_ns(&scenario);
    scenario["processing_ns"] = json!(2 * MS);
    let longer_ms = (took_ns(&scenario) - at_once) as f64 / MS as f64 / 200.0;
    assert!((1.7..2.3).contains(&longer_ms), "{longer_ms}");
}
