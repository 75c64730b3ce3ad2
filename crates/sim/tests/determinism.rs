//! The same scenario and seed give the same packets at the same times, bytes and all, in whatever slices it is run.

mod common;

use common::{MS, S, Seen, run, wifi_lte};
use serde_json::{Value, json};
use sim::Simulation;
use tables::Tables;

/// Everything that draws or happens.
fn lively() -> Value {
    let mut scenario = wifi_lte(3_000_000);
    for link_direction in ["uplink", "downlink"] {
        scenario["links"]["wifi"][link_direction]
            .as_array_mut()
            .unwrap()
            .push(json!({"element": "loss", "ratio": 0.01}));
    }
    scenario["timeline"] = json!([
        {"at_ns": 400 * MS, "path": "wifi", "verb": "blackout"},
        {"at_ns": 900 * MS, "path": "wifi", "verb": "restore"},
        {"at_ns": 1200 * MS, "path": "lte", "verb": "rebind", "address": "10.0.2.99"},
    ]);
    scenario["cross_traffic"] = json!([{
        "kind": "tcp", "name": "neighbour", "link": "wifi", "direction": "down", "flows": 2, "start_ns": 100 * MS,
        "stop_ns": S, "congestion_control": "reno",
    }]);
    scenario
}

#[test]
fn the_same_seed_gives_the_same_packets() {
    let first = run(&lively());
    let second = run(&lively());
    assert_eq!((&first.0, &first.1), (&second.0, &second.1));
    let tables = [first.2, second.2].map(|records| {
        let mut tables = Tables::default();
        records.into_tables(&mut tables);
        tables
    });
    assert_eq!(tables[0].drops, tables[1].drops);
    assert_eq!(tables[0].queues, tables[1].queues);
    assert!(!tables[0].drops.is_empty());
}

#[test]
fn slices_change_nothing() {
    let (outcome, whole, _) = run(&lively());
    let mut simulation = Simulation::from_json(&lively().to_string()).unwrap();
    let mut seen = Seen::default();
    let in_slices = (1..).find_map(|slice| simulation.run(&mut seen, slice % 7)).unwrap();
    assert_eq!((in_slices, seen), (outcome, whole));
}

#[test]
fn another_seed_gives_other_packets() {
    let mut other = lively();
    other["seed"] = json!(2);
    assert_ne!(run(&lively()).1.hash, run(&other).1.hash);
}
