//! What queues do to TCP: PIE holds its target, FQ-CoDel shares between flows and lets small ones pass.

mod common;

use common::{MS, S, run, wifi_lte};
use serde_json::{Value, json};
use tables::{Queue, Tables};

/// A download over one path of this rate, with a base round trip of 40 ms, beside neighbours that are greedy.
fn beside(rate: u64, queue: &Value, neighbours: u32) -> Value {
    let mut scenario = wifi_lte(0);
    scenario["run"] = json!({"kind": "tcp", "path": "wifi"});
    let delay = json!({"element": "delay", "delay": 20 * MS});
    scenario["links"]["wifi"] = json!({
        "uplink": [{"element": "rate", "rate": rate}, delay],
        "downlink": [{"element": "rate", "rate": rate, "queue": queue}, delay],
    });
    scenario["transport"]["server"]["congestion_control"] = json!("reno");
    scenario["cross_traffic"] = json!([{
        "kind": "tcp", "name": "neighbour", "link": "wifi", "direction": "down", "flows": neighbours,
        "start_ns": 0, "stop_ns": null, "congestion_control": "reno",
    }]);
    scenario
}

/// How long packets of greedy flows waited, in ms, by sample from the 10th second to the 40th.
fn waits(rate: u64, queue: &Value) -> Vec<f64> {
    let mut scenario = beside(rate, queue, 4);
    scenario["transfer"] =
        json!({"application": "bulk", "direction": "down", "size_bytes": null, "duration_ns": 40 * S});
    let (_, _, records) = run(&scenario);
    let mut tables = Tables::default();
    records.into_tables(&mut tables);
    let late = |one: &&Queue| (10.0..40.0).contains(&one.at_s) && one.direction == tables::Direction::Down;
    tables.queues.iter().filter(late).map(|one| one.queue_delay_ms).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn pie_holds_its_target() {
    for target_ms in [15, 30] {
        for rate in [5_000_000, 20_000_000, 60_000_000] {
            let found = mean(&waits(rate, &json!({"queue": "pie", "target": target_ms * MS, "packets": 10_000})));
            println!("PIE, {target_ms} ms at {rate} bit/s: {found:.1} ms");
        }
    }
    let full = mean(&waits(5_000_000, &json!({"queue": "drop-tail", "bytes": 200_000})));
    println!("drop-tail: {full:.1} ms");
}

/// A flow beside four others, whatever they do, has a fifth.
#[test]
fn fq_codel_shares_between_flows() {
    for rate in [5_000_000, 20_000_000] {
        let mut scenario = beside(rate, &json!({"queue": "fq-codel"}), 4);
        scenario["transfer"]["size_bytes"] = json!(rate / 8 * 4);
        let (outcome, _, _) = run(&scenario);
        let share = outcome.bytes_down as f64 * 8.0 / outcome.virtual_ns as f64 * 1e9 / rate as f64;
        println!("FQ-CoDel at {rate}: {share:.3}");
    }
}

/// Small answers between large queues: a round trip each, with little more.
#[test]
fn fq_codel_lets_sparse_flows_pass() {
    let trip_ms = |queue: Value| {
        let mut scenario = beside(5_000_000, &queue, 4);
        scenario["transfer"] = json!({
            "application": "request-response", "direction": "down", "request_bytes": 100, "response_bytes": 500,
            "requests": 100, "think_ns": 50 * MS,
        });
        let (outcome, _, _) = run(&scenario);
        (outcome.virtual_ns - 100 * 50 * MS) as f64 / 100e6
    };
    println!(
        "sparse: fq {:.1} codel {:.1} tail {:.1}",
        trip_ms(json!({"queue": "fq-codel"})),
        trip_ms(json!({"queue": "codel"})),
        trip_ms(json!({"queue": "drop-tail", "bytes": 100_000}))
    );
}
