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

/// RFC 8033 §3: the average waiting time is the target's, whatever the rate.
#[test]
fn pie_holds_its_target() {
    for (target_ms, rate) in [(15, 5_000_000), (15, 20_000_000), (15, 60_000_000), (30, 20_000_000)] {
        let found = mean(&waits(rate, &json!({"queue": "pie", "target": target_ms * MS, "packets": 10_000})));
        let off = found / target_ms as f64 - 1.0;
        assert!(off.abs() < 0.1, "{found} ms for {target_ms} ms at {rate} bit/s");
    }
    // Without it they fill what there is: 320 ms.
    assert!(mean(&waits(5_000_000, &json!({"queue": "drop-tail", "bytes": 200_000}))) > 200.0);
}

/// A flow beside four others has a fifth, of which headers take 52 bytes in 1500.
#[test]
fn fq_codel_shares_between_flows() {
    for rate in [5_000_000, 20_000_000] {
        let mut scenario = beside(rate, &json!({"queue": "fq-codel"}), 4);
        scenario["transfer"]["size_bytes"] = json!(rate / 8 * 4);
        let (outcome, _, _) = run(&scenario);
        let share = outcome.bytes_down as f64 * 8.0 / outcome.virtual_ns as f64 * 1e9 / rate as f64;
        let fair = 0.2 * 1448.0 / 1500.0;
        // CoDel drops of each flow by itself, which costs a CUBIC flow up to a tenth of its rate, with Linux, too.
        assert!((0.9..1.05).contains(&(share / fair)), "{share} at {rate} bit/s");
    }
}

/// Small answers between large queues take a round trip of 40 ms, and wait for the one packet of 2.4 ms that is being
/// sent at most.
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
    let (fair, managed, full) = (
        trip_ms(json!({"queue": "fq-codel"})),
        trip_ms(json!({"queue": "codel"})),
        trip_ms(json!({"queue": "drop-tail", "bytes": 100_000})),
    );
    // The packets themselves take 1.2 ms; 101 handshakes and requests are reckoned to 100.
    assert!(fair < 41.2 * 1.01 + 2.4, "{fair} ms");
    assert!(managed > 1.3 * fair && full > 3.0 * fair, "{fair} ms, {managed} ms with CoDel, {full} ms without");
}

/// UM-CS-2012-022, figure 5 and table II: round trips of 40 ms grow to 200 ms and fall back at a loss, at 15.6 Mbit/s.
/// Drains give somewhat more than the rate.
/// With the same queue at one rate, as much of it stays as the halved window holds.
#[test]
fn a_base_station_drains_its_queue_after_a_loss() {
    let rate = 16_300_000;
    let base_station = json!({"element": "base-station", "rate": rate, "drain_rate": 3 * rate, "delay": 160 * MS});
    let drop_tail = json!({"element": "rate", "rate": rate, "queue": {"queue": "drop-tail", "delay": 160 * MS}});
    let least_ms = |element: &Value, controller: &str| {
        let mut scenario = beside(rate, &json!({"queue": "drop-tail"}), 1);
        scenario["cross_traffic"] = json!([]);
        scenario["transport"]["server"]["congestion_control"] = json!(controller);
        scenario["links"]["wifi"]["downlink"][0] = element.clone();
        scenario["transfer"] =
            json!({"application": "bulk", "direction": "down", "size_bytes": null, "duration_ns": 60 * S});
        scenario["settings"]["sample_ns"] = json!(10 * MS);
        let (outcome, _, records) = run(&scenario);
        let mbps = outcome.bytes_down as f64 * 8e3 / outcome.virtual_ns as f64;
        assert!((15.0..18.0).contains(&mbps), "{mbps} Mbit/s with {controller}");
        let mut tables = Tables::default();
        records.into_tables(&mut tables);
        let late = |one: &&Queue| (20.0..60.0).contains(&one.at_s) && one.direction == tables::Direction::Down;
        let waits: Vec<f64> = tables.queues.iter().filter(late).map(|one| one.queue_delay_ms).collect();
        let most = waits.iter().copied().fold(0.0, f64::max);
        assert!((150.0..160.0).contains(&most), "{most} ms with {controller}");
        waits.iter().copied().fold(most, f64::min)
    };
    for controller in ["reno", "cubic"] {
        let (drained, kept) = (least_ms(&base_station, controller), least_ms(&drop_tail, controller));
        assert!(drained < 10.0 && kept > 30.0, "{drained} ms and {kept} ms with {controller}");
    }
}
