//! Path managers held to what they promise, over whole transfers.

mod common;

use common::{MS, S, run_with, wifi_lte};
use serde_json::{Value, json};
use sim::{Observer, Outcome};
use std::collections::BTreeSet;
use transport::path_manager::Budgeted;
use wire::{CaptureDirection, L4, Packet, Time};

/// What came in at the client, by path.
#[derive(Default)]
struct Counts {
    ports: [BTreeSet<u16>; 2],
    bytes: [u64; 2],
    first: [Option<i64>; 2],
    last: [Option<i64>; 2],
}

const EPOCH_NS: i64 = 1_735_689_600_000_000_000;

impl Observer for Counts {
    fn passed(&mut self, at: Time, point: usize, direction: CaptureDirection, packet: &Packet) {
        let (true, CaptureDirection::Inbound, L4::Tcp(tcp)) = (point < 2, direction, &packet.frame.l4) else { return };
        if packet.frame.payload.len > 0 {
            self.ports[point].insert(tcp.destination_port);
            self.bytes[point] += u64::from(packet.frame.payload.len);
            self.first[point].get_or_insert((at.as_nanos() - EPOCH_NS) / MS);
            self.last[point] = Some((at.as_nanos() - EPOCH_NS) / MS);
        }
    }
}

/// Wi-Fi at 20 Mbit/s, LTE at 10 Mbit/s: a download.
fn download(path_manager: &str, bytes: u64) -> Value {
    let mut scenario = wifi_lte(bytes);
    scenario["epoch_ns"] = json!(EPOCH_NS);
    scenario["transport"]["client"]["mptcp"]["path_manager"]["name"] = json!(path_manager);
    scenario
}

fn counts(scenario: &Value) -> (Outcome, Counts) {
    let (outcome, counts, _) = run_with(scenario, Counts::default());
    assert!(outcome.finished, "{outcome:?}");
    (outcome, counts)
}

#[test]
fn ndiffports_has_two_subflows_on_one_path() {
    let (_, counts) = counts(&download("ndiffports", 5_000_000));
    assert_eq!((counts.ports[0].len(), counts.ports[1].len()), (2, 0));
}

#[test]
fn handover_uses_one_path_after_the_other() {
    let mut scenario = download("handover", 10_000_000);
    scenario["timeline"] = json!([
        {"at_ns": 2 * S, "path": "wifi", "verb": "blackout"},
        {"at_ns": 30 * S, "path": "wifi", "verb": "restore"},
    ]);
    let (_, counts) = counts(&scenario);
    // Silence is noticed after a second, looked for every 0.2 s; then a handshake over LTE.
    let (last, first) = (counts.last[0].unwrap(), counts.first[1].unwrap());
    assert!((1_950..2_050).contains(&last) && (3_000..3_500).contains(&first), "{last} ms, then {first} ms");
}

/// LTE is one subflow, and never used again once it is closed.
#[test]
fn budget_ends_a_path() {
    for bytes in [500_000u64, 2_000_000] {
        let mut scenario = download("budget", 20_000_000);
        scenario["paths"][1]["budget_bytes"] = json!(bytes);
        assert_used_up(&scenario, bytes, Budgeted::Data);
    }
}

/// LTE costs 2 per MB: 3 are 1.5 MB.
#[test]
fn what_all_may_cost_ends_a_path() {
    let mut scenario = download("budget", 20_000_000);
    scenario["paths"][1]["cost_per_mb"] = json!(2.0);
    scenario["transport"]["client"]["mptcp"]["path_manager"]["parameters"] = json!({"cost_budget": 3.0});
    assert_used_up(&scenario, 1_500_000, Budgeted::Cost);
}

/// LTE carries little more than it may, Wi-Fi the rest, and when that came to be is reported.
fn assert_used_up(scenario: &Value, bytes: u64, budget: Budgeted) {
    let (outcome, counts) = counts(scenario);
    // Looked at every 100 ms, in which LTE carries 125 kB; and what is on its way.
    assert!((bytes..bytes + 400_000).contains(&counts.bytes[1]), "{} of {bytes} bytes", counts.bytes[1]);
    assert!(counts.bytes[0] > 17_000_000);
    let [spent] = outcome.spent.as_slice() else { panic!("{:?}", outcome.spent) };
    assert_eq!((spent.path.as_str(), spent.budget), ("lte", budget));
    let last = counts.last[1].unwrap();
    assert!((last - 300..=last).contains(&(spent.at_ns / MS)), "{} of {last} ms", spent.at_ns / MS);
}
