//! Scenarios to begin with, and an observer that sums up what it sees.
#![allow(dead_code, reason = "each test uses a part")]

use serde_json::{Value, json};
use sim::{Observer, Outcome, Records, Simulation};
use transport::Config;
use wire::{CaptureDirection, L4, Packet, Time};

/// Milliseconds and seconds in nanoseconds.
pub const MS: i64 = 1_000_000;
pub const S: i64 = 1_000 * MS;

/// A link with the same elements both ways.
pub fn link(rate: u64, delay_ns: i64, queue_bytes: u64) -> Value {
    let elements = json!([
        {"element": "rate", "rate": rate, "queue": {"queue": "drop-tail", "bytes": queue_bytes}},
        {"element": "delay", "delay": delay_ns},
    ]);
    json!({"uplink": elements, "downlink": elements})
}

/// A path on the link of its name.
pub fn path(number: u8, name: &str) -> Value {
    json!({
        "name": name, "link": name, "address": format!("10.0.{number}.2"), "address6": format!("fd00:0:{number}::2"),
        "mtu_bytes": 1500, "backup": false, "attached": true,
    })
}

/// A download of `bytes` over Wi-Fi (20 Mbit/s, 20 ms) and LTE (10 Mbit/s, 50 ms).
pub fn wifi_lte(bytes: u64) -> Value {
    let config = serde_json::to_value(Config::default()).unwrap();
    json!({
        "schema": 1,
        "seed": 1,
        "run": {"kind": "mptcp"},
        "transfer": {"application": "bulk", "direction": "down", "size_bytes": bytes, "duration_ns": null},
        "links": {"wifi": link(20_000_000, 10 * MS, 60_000), "lte": link(10_000_000, 25 * MS, 120_000)},
        "paths": [path(1, "wifi"), path(2, "lte")],
        "server": {"addresses": ["10.9.0.1"], "port": 8080, "signal": true},
        "transport": {"client": config, "server": config},
        "timeline": [],
        "cross_traffic": [],
        "epoch_ns": 1_735_689_600_000_000_000i64,
        "settings": {"stop_ns": 300 * S, "sample_ns": 100 * MS, "processing_ns": 0},
    })
}

/// What an observer saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// FNV-1a over everything observed, in order.
    pub hash: u64,
    /// Packets in and out, by point.
    pub packets: Vec<[u64; 2]>,
    /// Bytes of TCP payload in and out, by point.
    pub payload: Vec<[u64; 2]>,
    /// Time of the last packet, by point.
    pub last: Vec<Time>,
    /// Packets that are not TCP.
    pub others: u64,
    /// Every packet in one line, where wanted.
    pub lines: Option<Vec<String>>,
}

impl Seen {
    fn mix(&mut self, word: u64) {
        self.hash = (self.hash ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
    }
}

impl Observer for Seen {
    fn passed(&mut self, at: Time, point: usize, direction: CaptureDirection, packet: &Packet) {
        let points = self.packets.len().max(point + 1);
        self.last.resize(points, Time::from_nanos(i64::MIN));
        assert!(at > self.last[point], "two packets at one time");
        self.last[point] = at;
        self.packets.resize(points, [0; 2]);
        self.payload.resize(points, [0; 2]);
        let outbound = usize::from(direction == CaptureDirection::Outbound);
        self.packets[point][outbound] += 1;
        self.mix(at.as_nanos() as u64);
        self.mix((point * 2 + outbound) as u64);
        let mut bytes = Vec::new();
        packet.emit(&mut bytes, Some(128)).unwrap();
        bytes.iter().for_each(|&byte| self.mix(byte.into()));
        match &packet.frame.l4 {
            L4::Tcp(tcp) => {
                self.payload[point][outbound] += u64::from(packet.frame.payload.len);
                if let Some(lines) = &mut self.lines {
                    lines.push(format!(
                        "{:.6} {point}{} {:?} seq {} ack {} len {} win {}",
                        (at.as_nanos() % (1000 * S)) as f64 / 1e9,
                        if outbound == 1 { ">" } else { "<" },
                        tcp.flags,
                        tcp.seq,
                        tcp.ack,
                        packet.frame.payload.len,
                        tcp.window
                    ));
                }
            }
            _ => self.others += 1,
        }
    }
}

/// Runs a scenario to its end.
pub fn run(scenario: &Value) -> (Outcome, Seen, Records) {
    run_with(scenario, Seen::default())
}

/// Runs a scenario to its end with this observer.
pub fn run_with<O: Observer>(scenario: &Value, mut observer: O) -> (Outcome, O, Records) {
    let mut simulation = Simulation::from_json(&scenario.to_string()).unwrap_or_else(|error| panic!("{error}"));
    loop {
        if let Some(outcome) = simulation.run(&mut observer, 10_000) {
            return (outcome, observer, simulation.into_records());
        }
    }
}
