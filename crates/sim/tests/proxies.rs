//! Proxies in the path: all arrives as it was sent, and as fast as a path that is cut in two allows.

mod common;

use common::{MS, S, path, run, wifi_lte};
use serde_json::{Value, json};
use sim::{Observer, Simulation};
use wire::{CaptureDirection, L4, Packet, Time};

/// On the client's side of the proxy, and on the server's.
const NEAR_NS: i64 = 20 * MS;
const FAR_NS: i64 = 60 * MS;
const RATE: u64 = 1_000_000_000;

/// A link of two legs, with a box between them.
fn legs(boxed: Option<Value>) -> Value {
    let near = [json!({"element": "rate", "rate": RATE}), json!({"element": "delay", "delay": NEAR_NS})];
    let far = [json!({"element": "delay", "delay": FAR_NS})];
    let shared = boxed.iter().map(|boxed| {
        let mut boxed = boxed.clone();
        boxed["shared"] = json!("box");
        boxed
    });
    let named = boxed.iter().map(|_| json!({"shared": "box"}));
    let up: Vec<Value> = near.iter().cloned().chain(shared).chain(far.clone()).collect();
    let down: Vec<Value> = far.into_iter().chain(named).chain(near).collect();
    json!({"uplink": up, "downlink": down})
}

/// A download over the one path, with windows of `window` bytes at either end.
fn long(bytes: u64, window: u64, boxed: Option<Value>) -> Value {
    let mut scenario = wifi_lte(bytes);
    scenario["links"] = json!({"wifi": legs(boxed)});
    scenario["paths"] = json!([path(1, "wifi")]);
    for end in ["client", "server"] {
        let tcp = &mut scenario["transport"][end]["tcp"];
        tcp["receive_buffer_bytes"] = json!(window);
        tcp["receive_buffer_tuning"] = json!(false);
        // All of the buffer is window.
        tcp["adv_win_scale"] = json!(31);
    }
    scenario
}

fn proxy(buffer: u64) -> Value {
    json!({"element": "proxy", "buffer": buffer})
}

fn seconds(scenario: &Value) -> f64 {
    let (outcome, _, _) = run(scenario);
    assert!(outcome.finished, "{outcome:?}");
    outcome.virtual_ns as f64 / 1e9
}

/// When data first came to the server, and when the client first heard that it had.
#[derive(Default)]
struct First {
    arrived: Option<Time>,
    acknowledged: Option<Time>,
    isn: Option<u32>,
    wrong: u64,
}

impl Observer for First {
    fn passed(&mut self, at: Time, point: usize, direction: CaptureDirection, packet: &Packet) {
        let L4::Tcp(tcp) = &packet.frame.l4 else { return };
        match (point, direction) {
            (0, CaptureDirection::Outbound) => {
                self.isn.get_or_insert(tcp.seq);
            }
            (0, CaptureDirection::Inbound) if self.isn.is_some_and(|isn| wire::seq::diff(tcp.ack, isn) > 1) => {
                self.acknowledged.get_or_insert(at);
            }
            (1, CaptureDirection::Inbound) if packet.frame.payload.len > 0 => {
                self.arrived.get_or_insert(at);
            }
            _ => {}
        }
    }
}

fn watched(scenario: &Value) -> First {
    let mut simulation = Simulation::from_json(&scenario.to_string()).unwrap();
    let mut first = First::default();
    loop {
        let outcome = simulation.run(&mut first, 500);
        for host in simulation.ends() {
            let open = host.progress().filter_map(|(id, _)| host.endpoint().snapshot(id));
            first.wrong += open.map(|snapshot| snapshot.corrupt_bytes).sum::<u64>();
        }
        if let Some(outcome) = outcome {
            assert!(outcome.finished, "{outcome:?}");
            return first;
        }
    }
}

#[test]
fn all_arrives_whichever_way_it_goes() {
    let requests = json!({
        "application": "request-response", "direction": "down", "request_bytes": 100, "response_bytes": 20_000,
        "requests": 5, "think_ns": 100 * MS,
    });
    let mut scenario = long(3_000_000, 200_000, Some(proxy(100_000)));
    for (transfer, bytes) in [
        (scenario["transfer"].clone(), [0, 3_000_000]),
        (
            json!({"application": "bulk", "direction": "up", "size_bytes": 3_000_000, "duration_ns": null}),
            [3_000_000, 0],
        ),
        (requests, [500, 100_000]),
    ] {
        scenario["transfer"] = transfer;
        assert_eq!(watched(&scenario).wrong, 0);
        let (outcome, _, _) = run(&scenario);
        assert_eq!([outcome.bytes_up, outcome.bytes_down], bytes);
    }
}

// What limits a window-limited connection is its round trip: W/RTT (RFC 9293 §3.7 says no more than the window is in
// flight), and of two legs in a row the slower.
#[test]
fn a_long_path_cut_in_two_is_as_fast_as_the_slower_leg() {
    const WINDOW: u64 = 100_000;
    // Of each window a segment stays free (net/ipv4/tcp_input.c, tcp_init_buffer_space).
    const SEGMENT: u64 = 1460;
    const BYTES: u64 = 10_000_000;
    let [near, far] = [NEAR_NS, FAR_NS].map(|one_way| 2.0 * one_way as f64 / 1e9);
    // Beyond the start: of two transfers what the longer one takes more.
    let time = |boxed: Option<Value>| {
        let [short, whole] = [BYTES / 2, BYTES / 2 + BYTES].map(|bytes| seconds(&long(bytes, WINDOW, boxed.clone())));
        whole - short
    };
    // Windows are announced in units of 128 bytes (RFC 7323 §2.2) and used in whole segments, of which each ACK brings
    // two that also take their time on the link, and both hosts look at packets up to 0.1 ms late.
    let within = |measured: f64, window: u64, rtt: f64| {
        let law = BYTES as f64 / ((window - SEGMENT) as f64 / rtt);
        let most = 1.0 + (2.0 * 1424.0 + 128.0) / WINDOW as f64 + (2.0 * 12_000.0 / RATE as f64 + 2e-4) / rtt;
        assert!((0.98..=most).contains(&(measured / law)), "{measured} s rather than {law} s, 0.98 to {most}");
    };
    within(time(None), WINDOW, near + far);
    // Half the buffer is the window that the proxy tells.
    within(time(Some(proxy(2 * WINDOW))), WINDOW, far);
    // With a large one, the client's window on the near leg is the limit.
    within(time(Some(proxy(20 * WINDOW))), WINDOW, near);
    within(time(Some(json!({"element": "proxy", "cached": true, "buffer": 20 * WINDOW}))), WINDOW, near);
}

#[test]
fn data_is_acknowledged_before_it_arrives() {
    for (boxed, early) in [(None, false), (Some(proxy(1_000_000)), true)] {
        let mut scenario = long(500_000, 200_000, boxed);
        scenario["transfer"]["direction"] = json!("up");
        let First { arrived, acknowledged, .. } = watched(&scenario);
        assert_eq!(acknowledged.unwrap() < arrived.unwrap(), early);
    }
}

#[test]
fn a_cache_answers_and_the_server_hears_nothing() {
    let cached = json!({"element": "proxy", "cached": true});
    let (outcome, seen, _) = run(&long(500_000, 200_000, Some(cached.clone())));
    assert!(outcome.finished, "{outcome:?}");
    assert_eq!((outcome.bytes_up, outcome.bytes_down), (0, 500_000));
    assert_eq!(seen.packets.len(), 1, "no packet at the server");

    let mut upload = long(500_000, 200_000, Some(cached));
    upload["transfer"]["direction"] = json!("up");
    let error = Simulation::from_json(&upload.to_string()).err().expect("no cache has it").to_string();
    assert!(error.contains("parameter `cached`: an upload cannot be cached in advance"), "{error}");
}

/// The first answer takes the whole way, the others the near leg alone.
#[test]
fn what_was_fetched_once_is_answered_by_who_keeps_it() {
    const REQUESTS: u64 = 10;
    const RESPONSE: u64 = 10_000;
    let asks = |requests: u64, boxed: Value| {
        let mut scenario = long(1, 200_000, Some(boxed));
        scenario["transfer"] = json!({"application": "request-response", "direction": "down", "request_bytes": 200,
            "response_bytes": RESPONSE, "requests": requests, "think_ns": 0});
        let (outcome, _, _) = run(&scenario);
        assert!(outcome.finished, "{outcome:?}");
        outcome
    };
    let keeps = || json!({"element": "proxy", "caches": true});
    let [once, all] = [1, REQUESTS].map(|requests| asks(requests, keeps()));
    assert_eq!((all.bytes_up, all.bytes_down), (200, REQUESTS * RESPONSE), "the server hears one request");
    // Its answer fits into the first window: a round trip each, and what 10 kB take at 1 Gbit/s.
    let hits_ns = all.virtual_ns - once.virtual_ns;
    let round_ns = 2 * NEAR_NS * (REQUESTS - 1) as i64;
    assert!((round_ns..round_ns + 9 * MS).contains(&hits_ns), "{hits_ns} ns rather than {round_ns}");
    let [once, all] = [1, REQUESTS].map(|requests| asks(requests, proxy(4_000_000)));
    assert_eq!(all.bytes_up, 200 * REQUESTS, "without a memory it hears all");
    assert!(all.virtual_ns - once.virtual_ns >= 2 * (NEAR_NS + FAR_NS) * (REQUESTS - 1) as i64);
}

#[test]
fn a_join_through_it_fails_and_the_other_path_carries_all() {
    let mut scenario = wifi_lte(2_000_000);
    scenario["links"]["lte"]["uplink"].as_array_mut().unwrap().push(json!({"element": "proxy", "shared": "box"}));
    scenario["links"]["lte"]["downlink"].as_array_mut().unwrap().insert(0, json!({"shared": "box"}));
    let (outcome, seen, _) = run(&scenario);
    assert!(outcome.finished, "{outcome:?}");
    assert_eq!(seen.payload[1], [0, 0], "nothing by LTE");
    assert!(seen.packets[1][0] > 0, "it was tried");
}

#[test]
fn cross_traffic_is_relayed_too() {
    let mut scenario = long(2_000_000, 200_000, Some(proxy(200_000)));
    scenario["cross_traffic"] = json!([{
        "kind": "tcp", "name": "neighbour", "link": "wifi", "direction": "down", "flows": 2, "start_ns": 0,
        "stop_ns": S, "congestion_control": "reno",
    }]);
    let (outcome, _, _) = run(&scenario);
    assert!(outcome.finished, "{outcome:?}");
    assert!(outcome.cross_traffic[0].bytes > 100_000, "{outcome:?}");
}

#[test]
fn the_same_seed_gives_the_same_packets() {
    let scenario = long(2_000_000, 200_000, Some(proxy(200_000)));
    assert_eq!(run(&scenario).1, run(&scenario).1);
}
