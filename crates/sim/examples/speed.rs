//! How many packets a second are simulated on one core: `cargo run --release -p sim --example speed [connections [seconds]]`.
//!
//! A download for 60 s, or so many, over two paths of 100 Mbit/s and 20 ms round-trip time, coupled by LIA and lowest round-trip time first, without captures.

use serde_json::json;
use sim::Simulation;
use transport::Config;

#[expect(clippy::disallowed_methods, reason = "it measures real time")]
fn main() {
    let connections: u32 = std::env::args().nth(1).map_or(1, |count| count.parse().expect("a number of connections"));
    let seconds: i64 = std::env::args().nth(2).map_or(60, |count| count.parse().expect("a number of seconds"));
    let mut config = Config { congestion_control: "lia".into(), ..Config::default() };
    config.mptcp.scheduler = "lowest-rtt".into();
    config.tcp.max_receive_buffer_bytes = 16 << 20;
    let elements = json!([
        {"element": "rate", "rate": 100_000_000, "queue": {"queue": "drop-tail", "bytes": 250_000}},
        {"element": "delay", "delay": 10_000_000},
    ]);
    let path = |number: u8, name: &str| {
        json!({
            "name": name, "link": name, "address": format!("10.0.{number}.2"), "address6": null, "mtu_bytes": 1500,
            "backup": false, "attached": true,
        })
    };
    let scenario = json!({
        "schema": 1,
        "seed": 1,
        "run": {"kind": "mptcp"},
        "transfer": {
            "application": "bulk", "direction": "down", "size_bytes": null, "duration_ns": seconds * 1_000_000_000,
            "connections": connections,
        },
        "links": {
            "one": {"uplink": elements, "downlink": elements}, "two": {"uplink": elements, "downlink": elements},
        },
        "paths": [path(1, "one"), path(2, "two")],
        "server": {"addresses": ["10.9.0.1"], "port": 8080, "signal": true},
        "transport": {"client": config, "server": config},
        "timeline": [],
        "cross_traffic": [],
        "epoch_ns": 0,
        "settings": {"stop_ns": 120_000_000_000i64, "sample_ns": 0, "processing_ns": 0},
    });
    let mut simulation = Simulation::from_json(&scenario.to_string()).expect("the scenario is right");
    let began = std::time::Instant::now();
    let outcome = simulation.run(&mut (), u64::MAX).expect("it ends");
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{} packets of {connections} connections in {seconds:.2} s, {:.2} million/s; {:.1} Mbit/s; {}",
        outcome.packets,
        outcome.packets as f64 / seconds / 1e6,
        outcome.bytes_down as f64 * 8e3 / outcome.virtual_ns as f64,
        outcome.reason,
    );
}
