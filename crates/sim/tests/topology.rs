//! Who shares what: links, paths, cross traffic, and what the timeline does to them.

mod common;

use common::{MS, S, link, path, run, wifi_lte};
use serde_json::{Value, json};
use sim::{Observer, Records, Simulation};
use std::collections::BTreeMap;
use tables::{Dropped, Tables};
use wire::{CaptureDirection, Packet, Time};

fn drops(records: Records) -> Vec<Dropped> {
    let mut tables = Tables::default();
    records.into_tables(&mut tables);
    tables.drops
}

/// Bytes that arrived at the client, per path and 100 ms.
#[derive(Default)]
struct Arrivals(BTreeMap<(usize, i64), u64>);

impl Observer for Arrivals {
    fn passed(&mut self, at: Time, point: usize, direction: CaptureDirection, packet: &Packet) {
        if direction == CaptureDirection::Inbound {
            let bin = at.as_nanos() / (100 * MS);
            *self.0.entry((point, bin)).or_default() += u64::from(packet.frame.wire_len());
        }
    }
}

impl Arrivals {
    /// Bytes from one time to another, in ms from the start.
    fn between(&self, point: usize, from: i64, to: i64) -> u64 {
        let epoch = 1_735_689_600_000 / 100;
        let bins = (epoch + from / 100)..(epoch + to / 100);
        self.0.iter().filter(|((at, bin), _)| *at == point && bins.contains(bin)).map(|(_, bytes)| bytes).sum()
    }
}

fn arrivals(scenario: &Value) -> (sim::Outcome, Arrivals, Records) {
    common::run_with(scenario, Arrivals::default())
}

#[test]
fn subflows_of_one_link_share_its_rate() {
    let mut scenario = wifi_lte(5_000_000);
    scenario["links"] = json!({"home": link(10_000_000, 10 * MS, 50_000)});
    for path in scenario["paths"].as_array_mut().unwrap() {
        path["link"] = json!("home");
    }
    let (outcome, seen, _) = arrivals(&scenario);
    assert!(outcome.finished, "{outcome:?}");
    let bins: std::collections::BTreeSet<i64> = seen.0.keys().map(|(_, bin)| *bin).collect();
    for bin in bins {
        let sum: u64 = (0..2).filter_map(|point| seen.0.get(&(point, bin))).sum();
        // 10 Mbit/s for 100 ms, and a packet on the border.
        assert!(sum <= 125_000 + 1500, "{sum} bytes in 100 ms");
    }
}

#[test]
fn cross_traffic_takes_its_share() {
    let mut scenario = wifi_lte(5_000_000);
    scenario["paths"] = json!([path(1, "wifi")]);
    let alone = run(&scenario).0;
    scenario["cross_traffic"] = json!([{
        "kind": "udp", "name": "noise", "link": "wifi", "direction": "down", "start_ns": 0, "stop_ns": null,
        "rate_bits_per_second": 10_000_000, "packet_bytes": 1000,
    }]);
    let (beside, seen, _) = run(&scenario);
    assert!(beside.finished && alone.finished);
    assert!(beside.virtual_ns > alone.virtual_ns * 3 / 2, "{} {}", beside.virtual_ns, alone.virtual_ns);
    // Neighbours have interfaces of their own.
    assert_eq!(seen.others, 0);
    // Of every 1000 bytes of a datagram 28 are headers; where it found room it was counted.
    let [noise] = &beside.cross_traffic[..] else { panic!("{:?}", beside.cross_traffic) };
    let mbps = noise.bytes as f64 * 8e3 / noise.active_ns as f64;
    assert!(noise.name == "noise" && (7.0..=10.0 * 972.0 / 1000.0).contains(&mbps), "{noise:?}: {mbps} Mbit/s");
    scenario["cross_traffic"] = json!([{
        "kind": "tcp", "name": "neighbours", "link": "wifi", "direction": "down", "flows": 3, "start_ns": 0,
        "stop_ns": null, "congestion_control": "reno",
    }]);
    let beside = run(&scenario).0;
    assert!(beside.finished, "{beside:?}");
    assert!(beside.cross_traffic[0].bytes > beside.bytes_down, "{beside:?}");
    assert!(beside.virtual_ns > alone.virtual_ns * 3 / 2, "{} {}", beside.virtual_ns, alone.virtual_ns);
}

#[test]
fn in_a_blackout_nothing_arrives_and_the_other_path_goes_on() {
    let mut scenario = wifi_lte(8_000_000);
    scenario["timeline"] = json!([
        {"at_ns": S, "path": "wifi", "verb": "blackout"},
        {"at_ns": 3 * S, "path": "wifi", "verb": "restore"},
    ]);
    let (outcome, seen, records) = arrivals(&scenario);
    assert!(outcome.finished, "{outcome:?}");
    assert_eq!(seen.between(0, 1000, 3000), 0);
    assert!(seen.between(1, 1500, 3000) > 500_000);
    let lost = drops(records);
    assert!(lost.iter().any(|drop| drop.reason == "blackout" && *drop.place == *"wifi" && drop.kind == "path"));
}

#[test]
fn a_hold_delays_and_loses_nothing() {
    let mut scenario = wifi_lte(3_000_000);
    scenario["paths"] = json!([path(1, "wifi")]);
    scenario["timeline"] = json!([
        {"at_ns": 500 * MS, "path": "wifi", "verb": "hold"},
        {"at_ns": 700 * MS, "path": "wifi", "verb": "restore"},
    ]);
    let (outcome, seen, records) = arrivals(&scenario);
    assert!(outcome.finished, "{outcome:?}");
    assert_eq!(seen.between(0, 500, 700), 0);
    assert!(drops(records).iter().all(|drop| drop.reason == "queue-full"));
}

#[test]
fn a_detached_path_ends_and_an_attached_one_joins() {
    let mut scenario = wifi_lte(8_000_000);
    scenario["paths"][1]["attached"] = json!(false);
    scenario["timeline"] = json!([
        {"at_ns": S, "path": "lte", "verb": "attach", "takes_ns": 500 * MS},
        {"at_ns": 2 * S, "path": "wifi", "verb": "detach"},
    ]);
    let (outcome, seen, _) = arrivals(&scenario);
    assert!(outcome.finished, "{outcome:?}");
    assert_eq!(seen.between(1, 0, 1500), 0);
    assert_eq!(seen.between(0, 2000, 60_000), 0);
    assert!(seen.between(1, 2000, 60_000) > 1_000_000);
}

#[test]
fn connections_wait_for_the_first_path() {
    let mut scenario = wifi_lte(100_000);
    for path in scenario["paths"].as_array_mut().unwrap() {
        path["attached"] = json!(false);
    }
    let outcome = run(&scenario).0;
    assert_eq!(outcome.reason, "nothing more can happen: no path was ever attached");
    scenario["timeline"] = json!([{"at_ns": S, "path": "lte", "verb": "attach", "takes_ns": 0}]);
    let outcome = run(&scenario).0;
    assert!(outcome.finished && outcome.virtual_ns > S, "{outcome:?}");
}

#[test]
fn a_rebound_path_is_a_stranger_and_the_transfer_goes_on() {
    let mut scenario = wifi_lte(6_000_000);
    scenario["timeline"] = json!([{"at_ns": S, "path": "wifi", "verb": "rebind", "address": "10.0.1.99"}]);
    let (outcome, _, records) = run(&scenario);
    assert!(outcome.finished, "{outcome:?}");
    assert!(drops(records).iter().any(|drop| drop.reason == "unreachable" && *drop.place == *"wifi"));
}

#[test]
fn a_profile_changes_the_rate() {
    let mut scenario = wifi_lte(6_000_000);
    scenario["paths"] = json!([path(1, "wifi")]);
    scenario["timeline"] =
        json!([{"at_ns": S, "path": "wifi", "verb": "profile", "link": link(4_000_000, 10 * MS, 60_000)}]);
    let (outcome, seen, _) = arrivals(&scenario);
    assert!(outcome.finished, "{outcome:?}");
    let after = seen.between(0, 2000, 3000);
    assert!((400_000..=502_000).contains(&after), "{after} bytes in a second of 4 Mbit/s");
}

#[test]
fn baselines_meet_the_same_radio() {
    // A profile that one path asks for changes the link of all that share it, in their baselines too.
    let mut scenario = wifi_lte(3_000_000);
    scenario["links"] = json!({"home": link(20_000_000, 10 * MS, 50_000)});
    for path in scenario["paths"].as_array_mut().unwrap() {
        path["link"] = json!("home");
    }
    scenario["timeline"] =
        json!([{"at_ns": 0, "path": "lte", "verb": "profile", "link": link(2_000_000, 10 * MS, 50_000)}]);
    scenario["run"] = json!({"kind": "tcp", "path": "wifi"});
    let outcome = run(&scenario).0;
    assert!(outcome.finished && outcome.virtual_ns > 12 * S, "{outcome:?}");
}

#[test]
fn faults_are_told_in_one_line() {
    type Change<'a> = &'a dyn Fn(&mut Value);
    let fault = |change: Change| {
        let mut scenario = wifi_lte(1);
        change(&mut scenario);
        Simulation::from_json(&scenario.to_string()).err().expect("a fault").to_string()
    };
    let cases: [(Change, &str); 6] = [
        (&|scenario| scenario["schema"] = json!(2), "schema: 2 is not known, only 1"),
        (&|scenario| scenario["paths"][0]["link"] = json!("x"), "path wifi: no link x"),
        (&|scenario| scenario["links"]["wifi"]["uplink"][1]["delay"] = json!(-1), "link wifi, uplink, element 2: "),
        (&|scenario| scenario["transfer"]["duration_ns"] = json!(1), "transfer: a bulk transfer needs either"),
        (
            &|scenario| scenario["transport"]["client"]["congestion_control"] = json!("x"),
            "transport: there is no congestion",
        ),
        (&|scenario| scenario["sede"] = json!(1), "scenario: unknown field `sede`"),
    ];
    for (change, expected) in cases {
        let fault = fault(change);
        assert!(fault.starts_with(expected) && !fault.contains('\n'), "{fault}");
    }
}

#[test]
fn a_link_that_takes_no_time_is_told_of() {
    let mut scenario = wifi_lte(0);
    scenario["transfer"] = json!({"application": "bulk", "direction": "down", "size_bytes": null, "duration_ns": S});
    scenario["links"] = json!({"wifi": {"uplink": [], "downlink": []}, "lte": {"uplink": [], "downlink": []}});
    let (outcome, _, _) = common::run_with(&scenario, ());
    assert!(outcome.reason.starts_with("time stands still"), "{}", outcome.reason);
}

#[test]
fn the_timeline_acts_before_anybody_speaks_and_detaching_ends_an_attachment() {
    let mut scenario = wifi_lte(2_000_000);
    scenario["timeline"] = json!([
        {"at_ns": 0, "path": "wifi", "verb": "detach"},
        {"at_ns": S / 10, "path": "wifi", "verb": "attach", "takes_ns": S},
        {"at_ns": S / 2, "path": "wifi", "verb": "detach"},
        {"at_ns": S / 2, "path": "lte", "verb": "blackout"},
        {"at_ns": S, "path": "lte", "verb": "detach"},
        {"at_ns": 2 * S, "path": "lte", "verb": "attach", "takes_ns": 0},
        {"at_ns": 4 * S, "path": "lte", "verb": "restore"},
    ]);
    let (outcome, seen, _) = arrivals(&scenario);
    assert!(outcome.finished, "{outcome:?}");
    // Wi-Fi never comes; the blackout of LTE outlives its interface's absence.
    assert_eq!(seen.between(0, 0, 100_000), 0);
    assert_eq!(seen.between(1, 600, 4000), 0);
    assert!(seen.between(1, 4000, 100_000) > 500_000);
}

/// One medium for both directions: what goes up takes from what comes down.
#[test]
fn the_directions_of_a_link_may_share_an_element() {
    let takes_ms = |up_too: bool, shared: bool| {
        let mut scenario = wifi_lte(3_000_000);
        scenario["run"] = json!({"kind": "tcp", "path": "wifi"});
        // A window that does not grow crowds nobody out of the queue.
        scenario["transport"]["client"]["tcp"]["receive_buffer_bytes"] = json!(64_000);
        scenario["transport"]["client"]["tcp"]["receive_buffer_tuning"] = json!(false);
        let medium = json!({"element": "rate", "rate": 10_000_000});
        let mut named = medium.clone();
        named["shared"] = json!("air");
        let uplink = if shared { json!({"shared": "air"}) } else { medium };
        scenario["links"]["wifi"] = json!({"uplink": [uplink], "downlink": [named]});
        if up_too {
            scenario["cross_traffic"] = json!([{
                "kind": "udp", "name": "talker", "link": "wifi", "direction": "up", "start_ns": 0, "stop_ns": 60 * S,
                "rate_bits_per_second": 5_000_000, "packet_bytes": 1000,
            }]);
        }
        run(&scenario).0.virtual_ns / MS
    };
    assert!(takes_ms(true, false) < takes_ms(false, false) * 11 / 10);
    // Half of the medium is the talker's.
    assert!(takes_ms(true, true) > takes_ms(false, true) * 18 / 10);
}

#[test]
fn a_shared_element_stands_once_in_each_direction() {
    let loss = json!({"element": "loss", "ratio": 0, "shared": "air"});
    for (uplink, downlink) in [
        (json!([{"shared": "air"}]), json!([])),
        (json!([loss, {"shared": "air"}]), json!([])),
        (json!([loss]), json!([{"shared": "air"}, {"shared": "air"}])),
    ] {
        let mut scenario = wifi_lte(1000);
        scenario["links"]["wifi"] = json!({"uplink": uplink, "downlink": downlink});
        let error = Simulation::from_json(&scenario.to_string()).err().unwrap().to_string();
        assert!(error.starts_with("link wifi: an element that the directions share stands once in each"), "{error}");
    }
}
