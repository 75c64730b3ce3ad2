//! Schedulers held to what they promise, over whole transfers.

mod common;

use common::{MS, link, path, run_with, wifi_lte};
use serde_json::{Value, json};
use sim::Observer;
use wire::mptcp::{DataNumber, Dss, Mptcp};
use wire::{CaptureDirection, L4, Packet, TcpOption, Time};

/// What the client saw of a download.
#[derive(Default)]
struct Counts {
    /// When its last DATA_ACK that says something new went out.
    delivered: Time,
    data_ack: u64,
    /// Bytes that came in, by path.
    bytes: [u64; 2],
}

impl Observer for Counts {
    fn passed(&mut self, at: Time, point: usize, direction: CaptureDirection, packet: &Packet) {
        let (true, L4::Tcp(tcp)) = (point < self.bytes.len(), &packet.frame.l4) else { return };
        if direction == CaptureDirection::Inbound {
            self.bytes[point] += u64::from(packet.frame.payload.len);
        }
        for option in tcp.options.iter().flatten() {
            if let TcpOption::Mptcp(Mptcp::Dss(Dss { data_ack: Some(DataNumber::Long(data_ack)), .. })) = option
                && direction == CaptureDirection::Outbound
                && data_ack != self.data_ack
            {
                (self.delivered, self.data_ack) = (at, data_ack);
            }
        }
    }
}

impl Counts {
    fn of(scenario: &Value) -> Counts {
        let (outcome, counts, _) = run_with(scenario, Counts::default());
        assert!(outcome.finished, "{}: {scenario}", outcome.reason);
        counts
    }

    fn seconds(&self) -> f64 {
        (self.delivered.as_nanos() - EPOCH_NS) as f64 / 1e9
    }
}

const EPOCH_NS: i64 = 1_735_689_600_000_000_000;

/// A download with Reno on each subflow.
fn with(scheduler: &str, bytes: u64, seed: u64, links: Value) -> Value {
    let mut scenario = wifi_lte(bytes);
    scenario["seed"] = json!(seed);
    scenario["links"] = links;
    scenario["epoch_ns"] = json!(EPOCH_NS);
    for end in ["client", "server"] {
        scenario["transport"][end]["mptcp"]["scheduler"] = json!(scheduler);
        scenario["transport"][end]["congestion_control"] = json!("reno");
    }
    scenario
}

fn lossy(rate: u64, delay_ms: i64, queue_bytes: u64, loss: f64) -> Value {
    let mut both = link(rate, delay_ms * MS, queue_bytes);
    both["downlink"].as_array_mut().unwrap().push(json!({"element": "loss", "ratio": loss}));
    both
}

/// 20 Mbit/s at 20 ms beside 1 Mbit/s at 300 ms, a receive buffer far below 2 ΣBW RTTmax = 1.6 MB, and some loss.
fn asymmetric(scheduler: &str, seed: u64, buffer_bytes: u64) -> Counts {
    let links = json!({"wifi": lossy(20_000_000, 10, 60_000, 0.0005), "lte": lossy(1_000_000, 150, 60_000, 0.0005)});
    let mut scenario = with(scheduler, 10_000_000, seed, links);
    scenario["transport"]["client"]["tcp"]["receive_buffer_bytes"] = json!(buffer_bytes);
    scenario["transport"]["client"]["tcp"]["receive_buffer_tuning"] = json!(false);
    Counts::of(&scenario)
}

#[test]
fn blest_and_ecf_are_not_worse_over_asymmetric_paths() {
    let seeds = 1..=8;
    for buffer_bytes in [65_536, 131_072, 262_144] {
        let mean = |scheduler| {
            let each: Vec<_> = seeds.clone().map(|seed| asymmetric(scheduler, seed, buffer_bytes).seconds()).collect();
            println!("{buffer_bytes} {scheduler}: {each:.2?}");
            each.iter().sum::<f64>() / each.len() as f64
        };
        let [lowest, blest, ecf] = ["lowest-rtt", "blest", "ecf"].map(mean);
        println!("{buffer_bytes} bytes: lowest-rtt {lowest:.3} s, blest {blest:.3} s, ecf {ecf:.3} s");
        assert!(blest <= lowest && ecf <= lowest, "{lowest} s, BLEST {blest} s, ECF {ecf} s");
    }
}

#[test]
fn redundant_is_as_fast_as_the_best_path() {
    let wifi = || lossy(8_000_000, 20, 60_000, 0.005);
    for bytes in [20_000, 500_000, 3_000_000] {
        // Over several seeds: what hosts take to look at packets is drawn, and moves losses of a single one.
        let (mut redundant, mut best) = (0.0, 0.0);
        for seed in 1..=4 {
            let links = json!({"wifi": wifi(), "lte": lossy(2_000_000, 60, 60_000, 0.005)});
            let both = Counts::of(&with("redundant", bytes, seed, links.clone())).seconds();
            let alone = ["wifi", "lte"].map(|name| {
                let mut scenario = with("redundant", bytes, seed, links.clone());
                scenario["paths"] = json!([path(1, name)]);
                Counts::of(&scenario).seconds()
            });
            println!("{seed} {bytes}: {both:.3} s, alone {alone:.3?}");
            redundant += both;
            best += alone[0].min(alone[1]);
        }
        assert!(redundant <= 1.01 * best, "{redundant} s, alone {best}");
    }
}

#[test]
fn round_robin_splits_evenly() {
    for seed in 1..=4 {
        let same = || lossy(10_000_000, 20, 100_000, 0.0001);
        let counts = Counts::of(&with("round-robin", 20_000_000, seed, json!({"wifi": same(), "lte": same()})));
        let [one, other] = counts.bytes.map(|bytes| bytes as f64);
        println!("{seed}: {one} and {other}");
        assert!((one / (one + other) - 0.5).abs() < 0.02, "{one} and {other} bytes");
    }
}
