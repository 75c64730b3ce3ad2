//! Transfers of every kind come to their end.

mod common;

use common::{MS, S, run, wifi_lte};
use serde_json::json;

#[test]
fn a_download_uses_both_paths() {
    let (outcome, seen, _) = run(&wifi_lte(10_000_000));
    assert!(outcome.finished, "{outcome:?}");
    assert_eq!((outcome.bytes_up, outcome.bytes_down), (0, 10_000_000));
    // 30 Mbit/s at most, 20 Mbit/s over Wi-Fi alone.
    let seconds = outcome.virtual_ns as f64 / 1e9;
    assert!((8e7 / 3e7..8e7 / 2e7).contains(&seconds), "{seconds} s");
    for path in 0..2 {
        assert!(seen.payload[path][0] > 2_000_000, "{:?}", seen.payload);
    }
}

#[test]
fn an_upload_goes_the_other_way() {
    let mut scenario = wifi_lte(3_000_000);
    scenario["transfer"]["direction"] = json!("up");
    let (outcome, _, _) = run(&scenario);
    assert!(outcome.finished, "{outcome:?}");
    assert_eq!((outcome.bytes_up, outcome.bytes_down), (3_000_000, 0));
}

#[test]
fn baselines_use_one_path_and_plain_tcp() {
    for name in ["wifi", "lte"] {
        let mut scenario = wifi_lte(2_000_000);
        scenario["run"] = json!({"kind": "tcp", "path": name});
        let (outcome, seen, _) = run(&scenario);
        assert!(outcome.finished, "{outcome:?}");
        // The client's one interface and the server's.
        assert_eq!(seen.packets.len(), 2);
    }
}

#[test]
fn a_transfer_for_a_time_ends_after_it() {
    let mut scenario = wifi_lte(0);
    scenario["transfer"] =
        json!({"application": "bulk", "direction": "down", "size_bytes": null, "duration_ns": 3 * S});
    let (outcome, _, _) = run(&scenario);
    assert!(outcome.finished, "{outcome:?}");
    assert!((3 * S..6 * S).contains(&outcome.virtual_ns), "{outcome:?}");
}

#[test]
fn requests_are_answered() {
    let mut scenario = wifi_lte(0);
    scenario["transfer"] = json!({
        "application": "request-response", "direction": "down", "request_bytes": 100, "response_bytes": 20_000,
        "requests": 5, "think_ns": 100 * MS,
    });
    let (outcome, _, _) = run(&scenario);
    assert!(outcome.finished, "{outcome:?}");
    assert_eq!((outcome.bytes_up, outcome.bytes_down), (500, 100_000));
    assert!(outcome.virtual_ns > 4 * 100 * MS, "{outcome:?}");
}

#[test]
fn messages_come_at_their_rate() {
    let mut scenario = wifi_lte(0);
    scenario["transfer"] = json!({
        "application": "constant-bit-rate", "direction": "up", "rate_bits_per_second": 1_000_000,
        "message_bytes": 1000, "duration_ns": 2 * S,
    });
    let (outcome, _, _) = run(&scenario);
    assert!(outcome.finished, "{outcome:?}");
    assert_eq!(outcome.bytes_up, 250_000);
    assert!((2 * S - 10 * MS..3 * S).contains(&outcome.virtual_ns), "{outcome:?}");
}

#[test]
fn ipv6_carries_the_same() {
    let mut scenario = wifi_lte(2_000_000);
    for path in scenario["paths"].as_array_mut().unwrap() {
        path["address"] = json!(null);
    }
    scenario["server"]["addresses"] = json!(["fd00:9:0::1"]);
    let (outcome, seen, _) = run(&scenario);
    assert!(outcome.finished, "{outcome:?}");
    assert!(seen.payload[1][0] > 0, "{:?}", seen.payload);
}

#[test]
fn two_addresses_of_the_server_give_four_subflows() {
    let mut scenario = wifi_lte(5_000_000);
    scenario["server"]["addresses"] = json!(["10.9.0.1", "10.9.1.1"]);
    // Linux joins no announced address unless it is told to.
    let (outcome, _, records) = run(&scenario);
    assert!(outcome.finished, "{outcome:?}");
    assert_eq!(records.subflows(), 2);
    for end in ["client", "server"] {
        let manager = &mut scenario["transport"][end]["mptcp"]["path_manager"];
        manager["name"] = json!("full-mesh");
        (manager["max_subflows"], manager["max_add_addr_accepted"]) = (json!(8), json!(8));
    }
    let (outcome, _, records) = run(&scenario);
    assert!(outcome.finished, "{outcome:?}");
    assert_eq!(records.subflows(), 4);
}

#[test]
fn a_run_that_is_stopped_says_who_waits() {
    let mut scenario = wifi_lte(100_000_000);
    scenario["settings"]["stop_ns"] = json!(S);
    let (outcome, _, _) = run(&scenario);
    assert!(!outcome.finished);
    assert_eq!(outcome.virtual_ns, S);
    assert!(outcome.reason.starts_with("stopped after 1 s: the client has read "), "{}", outcome.reason);
}

#[test]
fn what_a_lost_path_had_selectively_acknowledged_comes_over_the_other() {
    for seed in 1..=8 {
        let mut scenario = wifi_lte(800_000);
        scenario["seed"] = json!(seed);
        scenario["paths"][1]["backup"] = json!(true);
        // Holes, and data beyond them that the client's subflow holds back for good.
        let loss = json!({"element": "loss", "ratio": 0.02});
        scenario["links"]["wifi"]["downlink"].as_array_mut().unwrap().push(loss);
        scenario["timeline"] = json!([{"at_ns": 300 * MS, "path": "wifi", "verb": "blackout"}]);
        let (outcome, _, _) = run(&scenario);
        assert!(outcome.finished, "seed {seed}: {outcome:?}");
    }
}

#[test]
fn a_join_that_reaches_the_server_without_its_options_is_nobodys_connection() {
    let mut scenario = wifi_lte(800_000);
    let strip = json!({"element": "strip-options"});
    scenario["links"]["lte"]["uplink"].as_array_mut().unwrap().push(strip);
    let (outcome, _, _) = run(&scenario);
    assert!(outcome.finished, "{outcome:?}");
    assert_eq!(outcome.bytes_down, 800_000);
}
