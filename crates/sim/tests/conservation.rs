//! Over random scenarios: all bytes arrive once and in order, or the connection says why; no connection is stuck
//! while a path works; no link delivers what was not sent.

mod common;

use common::{MS, S, path, wifi_lte};
use proptest::prelude::*;
use serde_json::{Value, json};
use sim::{Observer, Simulation};
use transport::{congestion, path_manager, scheduler};
use wire::{Direction, Packet, Time};

/// Packets out and in, by host: what arrives was sent.
#[derive(Default)]
struct Balance {
    sent: [u64; 2],
    arrived: [u64; 2],
    server: usize,
}

impl Observer for Balance {
    fn passed(&mut self, _: Time, point: usize, direction: Direction, _: &Packet) {
        let host = usize::from(point == self.server);
        match direction {
            Direction::Outbound => self.sent[host] += 1,
            Direction::Inbound => self.arrived[host] += 1,
        }
        assert!(self.arrived[host] <= self.sent[1 - host], "more arrives than was sent");
    }
}

fn queue() -> impl Strategy<Value = Value> {
    prop_oneof![
        (5_000u64..200_000).prop_map(|bytes| json!({"queue": "drop-tail", "bytes": bytes})),
        (4u64..100).prop_map(|packets| json!({"queue": "drop-head", "packets": packets})),
        Just(json!({"queue": "codel"})),
    ]
}

fn elements() -> impl Strategy<Value = Value> {
    let rate = (200_000u64..50_000_000, queue())
        .prop_map(|(rate, queue)| json!({"element": "rate", "rate": rate, "queue": queue}));
    let delay = (0i64..200, 0i64..30, any::<bool>()).prop_map(|(delay, jitter, reorder)| {
        json!({"element": "delay", "delay": delay * MS, "jitter": jitter * MS, "reorder": reorder})
    });
    let loss = (0.0f64..0.1).prop_map(|ratio| json!({"element": "loss", "ratio": ratio}));
    (rate, delay, proptest::option::of(loss))
        .prop_map(|(rate, delay, loss)| Value::Array([Some(rate), Some(delay), loss].into_iter().flatten().collect()))
}

/// Outages of the second path only, so that one path always works.
fn outages() -> impl Strategy<Value = Vec<Value>> {
    let verbs = prop_oneof![Just(("blackout", "restore")), Just(("hold", "restore")), Just(("detach", "attach"))];
    proptest::collection::vec((0i64..10_000, 1i64..5_000, verbs), 0..3).prop_map(|outages| {
        let mut events = Vec::new();
        for (at, lasts, (begins, ends)) in outages {
            let mut end = json!({"at_ns": (at + lasts) * MS, "path": "lte", "verb": ends});
            if ends == "attach" {
                end["takes_ns"] = json!(100 * MS);
            }
            events.push(json!({"at_ns": at * MS, "path": "lte", "verb": begins}));
            events.push(end);
        }
        events
    })
}

fn scenarios() -> impl Strategy<Value = Value> {
    let policies = (
        proptest::sample::select(congestion::NAMES),
        proptest::sample::select(scheduler::NAMES),
        proptest::sample::select(path_manager::NAMES),
    );
    let links = (elements(), elements(), elements(), elements());
    let switches = proptest::collection::vec(any::<bool>(), 10);
    let transfer = (any::<bool>(), 0u64..400_000, any::<u32>());
    (policies, links, outages(), switches, transfer).prop_map(|(policies, links, timeline, switches, transfer)| {
        let mut scenario = wifi_lte(transfer.1);
        scenario["seed"] = json!(transfer.2);
        scenario["transfer"]["direction"] = json!(if transfer.0 { "up" } else { "down" });
        scenario["links"] = json!({
            "wifi": {"uplink": links.0, "downlink": links.1}, "lte": {"uplink": links.2, "downlink": links.3},
        });
        scenario["paths"] = json!([path(1, "wifi"), path(2, "lte")]);
        scenario["timeline"] = Value::Array(timeline);
        scenario["stop_ns"] = json!(3600 * S);
        scenario["sample_ns"] = json!(0);
        let mut config = scenario["transport"]["client"].clone();
        config["congestion_control"] = json!(policies.0);
        config["mptcp"]["scheduler"] = json!(policies.1);
        config["mptcp"]["path_manager"]["name"] = json!(policies.2);
        let names = ["sack", "timestamps", "rack", "tail_loss_probe", "proportional_rate_reduction", "pacing"];
        for (name, on) in names.iter().zip(&switches) {
            config["tcp"][name] = json!(on);
        }
        let names = ["checksum", "opportunistic_retransmission", "penalisation", "enabled"];
        for (name, on) in names.iter().zip(&switches[6..]) {
            config["mptcp"][name] = json!(on);
        }
        scenario["transport"] = json!({"client": config, "server": config});
        scenario
    })
}

proptest! {
    #[test]
    fn all_bytes_arrive_once(scenario in scenarios()) {
        let text = scenario.to_string();
        let mut simulation = Simulation::from_json(&text).unwrap();
        let mut balance = Balance { server: 2, ..Balance::default() };
        let outcome = simulation.run(&mut balance, u64::MAX).unwrap();
        let bytes = scenario["transfer"]["size_bytes"].as_u64().unwrap();
        let read = outcome.bytes_up + outcome.bytes_down;
        prop_assert!(read <= bytes, "{} of {} bytes: {}\n{}", read, bytes, outcome.reason, text);
        // The first path always works, so there is no reason to give up.
        prop_assert!(outcome.finished && read == bytes, "{} of {} bytes: {}\n{}", read, bytes, outcome.reason, text);
    }
}
