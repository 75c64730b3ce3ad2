//! Over random scenarios: all bytes arrive once and in order, or the connection says why; no connection is stuck
//! while a path works; no link delivers what was not sent.

mod common;

use common::{MS, S, path, wifi_lte};
use proptest::prelude::*;
use serde_json::{Value, json};
use sim::{Observer, Outcome, Simulation};
use transport::{congestion, path_manager, scheduler};
use wire::{CaptureDirection, L4, Packet, Time};

/// Bytes of TCP out and in, by host: what arrives was sent, however boxes cut and joined it.
#[derive(Default)]
struct Balance {
    sent: [u64; 2],
    arrived: [u64; 2],
    server: usize,
    /// A proxy sends again by itself what is lost behind it.
    is_relayed: bool,
}

impl Observer for Balance {
    fn passed(&mut self, _: Time, point: usize, direction: CaptureDirection, packet: &Packet) {
        let host = usize::from(point == self.server);
        let bytes = match packet.frame.l4 {
            L4::Tcp(_) => u64::from(packet.frame.payload.len),
            _ => 0,
        };
        match direction {
            CaptureDirection::Outbound => self.sent[host] += bytes,
            CaptureDirection::Inbound => self.arrived[host] += bytes,
        }
        assert!(self.is_relayed || self.arrived[host] <= self.sent[1 - host], "more arrives than was sent");
    }
}

fn queue() -> impl Strategy<Value = Value> {
    prop_oneof![
        (5_000u64..200_000).prop_map(|bytes| json!({"queue": "drop-tail", "bytes": bytes})),
        (4u64..100).prop_map(|packets| json!({"queue": "drop-head", "packets": packets})),
        Just(json!({"queue": "codel"})),
        Just(json!({"queue": "fq-codel"})),
        Just(json!({"queue": "pie"})),
    ]
}

/// What a radio does besides.
fn radio() -> impl Strategy<Value = Value> {
    prop_oneof![
        (0.0f64..0.3, 1u64..5, any::<bool>()).prop_map(
            |(ratio, tries, in_order)| json!({"element": "arq", "error_ratio": ratio, "tries": tries, "in_order": in_order})
        ),
        (0i64..2000, 0i64..3000, proptest::option::of(0i64..1000)).prop_map(|(takes, idle, shared)| json!({
            "element": "promotion", "takes": takes * MS, "idle_after": idle * MS,
            "shared_after": shared.map(|ms| ms * MS),
            "shared_takes": shared.map_or(0, |_| takes / 2 * MS), "shared_bytes": shared.map_or(0, |_| 500)})),
        // No longer away than there.
        (500i64..5000, 0i64..1000, any::<bool>()).prop_map(|(every, longest, lossy)| json!({"element": "handover",
            "every": every * MS, "shortest": 0, "longest": longest.min(every / 2) * MS, "lossy": lossy})),
        (1i64..10, 0.05f64..1.0, 0i64..20).prop_map(|(slot, share, request)| json!({
            "element": "grants", "slot": slot * MS, "share": share, "request": request * MS})),
        (200_000u64..50_000_000, 5i64..300).prop_map(|(rate, delay)| json!({
            "element": "base-station", "rate": rate, "drain_rate": 2 * rate, "delay": delay * MS})),
        Just(json!({"element": "gilbert-elliott-time", "good_time": S, "bad_time": 20 * MS})),
    ]
}

fn elements() -> impl Strategy<Value = Value> {
    let rate = (200_000u64..50_000_000, queue())
        .prop_map(|(rate, queue)| json!({"element": "rate", "rate": rate, "queue": queue}));
    let delay = (0i64..200, 0i64..30, any::<bool>()).prop_map(|(delay, jitter, reorder)| {
        json!({"element": "delay", "delay": delay * MS, "jitter": jitter * MS, "reorder": reorder})
    });
    let loss = (0.0f64..0.1).prop_map(|ratio| json!({"element": "loss", "ratio": ratio}));
    let strip = one_way_boxes();
    let more = (proptest::option::of(loss), proptest::option::weighted(0.1, strip), proptest::option::of(radio()));
    (rate, delay, more).prop_map(|(rate, delay, (loss, strip, radio))| {
        Value::Array([Some(rate), Some(delay), radio, loss, strip].into_iter().flatten().collect())
    })
}

/// What tells that a link has a box.
const BOXES: [&str; 7] =
    ["strip-options", "garble-options", "split-segments", "coalesce-segments", "clamp-mss", "ack-delay", "shared"];

/// Boxes that one direction may pass alone and that leave the bytes of the stream as they are.
fn one_way_boxes() -> impl Strategy<Value = Value> {
    let segments = proptest::sample::select(&["all", "syn", "syn-ack", "data"][..]);
    let options = proptest::sample::select(&["all", "mp-capable", "mp-join", "dss", "add-addr", "mp-fail"][..]);
    let how = proptest::sample::select(&["replace", "length"][..]);
    let whose = proptest::sample::select(&["each", "first"][..]);
    let which = proptest::sample::select(&["first", "last"][..]);
    prop_oneof![
        (segments.clone(), options)
            .prop_map(|(segments, option)| json!({"element": "strip-options", "segments": segments, "option": option})),
        (how, segments, 0.0f64..1.0).prop_map(|(how, segments, ratio)| {
            json!({"element": "garble-options", "how": how, "segments": segments, "ratio": ratio})
        }),
        (300u64..1500, whose).prop_map(
            |(largest, options)| json!({"element": "split-segments", "largest": largest, "options": options})
        ),
        (0i64..20, 1000u64..20_000, which).prop_map(|(wait, largest, options)| {
            json!({"element": "coalesce-segments", "wait": wait * MS, "largest": largest, "options": options})
        }),
        (300u64..1500).prop_map(|bytes| json!({"element": "clamp-mss", "bytes": bytes})),
        (0i64..300).prop_map(|delay| json!({"element": "ack-delay", "delay": delay * MS})),
    ]
}

/// Boxes that both directions of a link share. What one says of a packet that is too big goes past the others' tables,
/// and a black hole is none that an endpoint finds a way around.
fn shared_boxes() -> impl Strategy<Value = Value> {
    let drops = proptest::sample::select(&["drop", "rebind"][..]);
    prop_oneof![
        any::<bool>().prop_map(|sack| json!({"element": "rewrite-sequence", "sack": sack})),
        (600u64..1500).prop_map(|bytes| json!({"element": "mtu", "bytes": bytes})),
        (3_000u64..200_000).prop_map(|bytes| json!({"element": "clamp-window", "bytes": bytes})),
        (600i64..9_000, drops)
            .prop_map(|(idle, forgotten)| json!({"element": "nat", "idle": idle * S, "forgotten": forgotten})),
        (600i64..9_000, any::<bool>(), any::<bool>()).prop_map(|(idle, reset, joins)| {
            json!({"element": "firewall", "idle": idle * S, "reset": reset, "joins": joins})
        }),
        (10_000u64..500_000, 1u64..20)
            .prop_map(|(buffer, window)| json!({"element": "proxy", "buffer": buffer, "initial_window": window})),
    ]
}

/// Both directions of a link, which perhaps share a box, perhaps on a carrier that has IPv6 only.
fn link() -> impl Strategy<Value = Value> {
    let boxed = proptest::option::weighted(0.3, shared_boxes());
    let carrier = proptest::bool::weighted(0.2);
    (elements(), elements(), boxed, carrier).prop_map(|(up, down, boxed, carrier)| {
        let (mut up, mut down) = (up.as_array().unwrap().clone(), down.as_array().unwrap().clone());
        if let Some(mut boxed) = boxed {
            boxed["shared"] = json!("box");
            up.push(boxed);
            down.insert(0, json!({"shared": "box"}));
        }
        if carrier {
            up.insert(0, json!({"element": "clat", "shared": "phone"}));
            up.push(json!({"element": "nat64", "shared": "border"}));
            down.insert(0, json!({"shared": "border"}));
            down.push(json!({"shared": "phone"}));
        }
        json!({"uplink": up, "downlink": down})
    })
}

/// Outages of these paths, each with its end.
fn outages(paths: &'static [&'static str]) -> impl Strategy<Value = Vec<Value>> {
    let verbs = prop_oneof![Just(("blackout", "restore")), Just(("hold", "restore")), Just(("detach", "attach"))];
    let one = (0i64..10_000, 1i64..5_000, verbs, proptest::sample::select(paths));
    proptest::collection::vec(one, 0..4).prop_map(|outages| {
        let mut events = Vec::new();
        for (at, lasts, (begins, ends), path) in outages {
            let mut end = json!({"at_ns": (at + lasts) * MS, "path": path, "verb": ends});
            if ends == "attach" {
                end["takes_ns"] = json!(100 * MS);
            }
            events.push(json!({"at_ns": at * MS, "path": path, "verb": begins}));
            events.push(end);
        }
        events
    })
}

/// What else befalls LTE: another public address, another link.
fn changes() -> impl Strategy<Value = Vec<Value>> {
    let rebind = (0i64..10_000, 90u8..120).prop_map(|(at, number)| {
        json!({"at_ns": at * MS, "path": "lte", "verb": "rebind", "address": format!("10.0.2.{number}")})
    });
    let profile = (0i64..10_000, elements(), elements()).prop_map(|(at, uplink, downlink)| {
        let link = json!({"uplink": uplink, "downlink": downlink});
        json!({"at_ns": at * MS, "path": "lte", "verb": "profile", "link": link})
    });
    proptest::collection::vec(prop_oneof![rebind, profile], 0..3)
}

/// A neighbour on one of the links, perhaps.
fn neighbours() -> impl Strategy<Value = Vec<Value>> {
    let link = proptest::sample::select(&["wifi", "lte"][..]);
    let one = (link, any::<bool>(), 0i64..5_000, 1i64..10_000).prop_map(|(link, up, start, lasts)| {
        json!({
            "kind": "tcp", "name": "neighbour", "link": link, "direction": if up { "up" } else { "down" },
            "flows": 1, "start_ns": start * MS, "stop_ns": (start + lasts) * MS, "congestion_control": "reno",
        })
    });
    proptest::collection::vec(one, 0..2)
}

/// A controller's name, and some of what can be set of it.
fn with_parameters(name: &'static str) -> impl Strategy<Value = (Value, Value)> {
    let known = congestion::descriptions().into_iter().find(|one| one.name == name).expect("it has a name").parameters;
    let settable: Vec<_> = known.into_iter().filter(|one| matches!(one.kind, "number" | "packets")).collect();
    let most = settable.len();
    (proptest::sample::subsequence(settable, 0..=most), 1..20_u32).prop_map(move |(chosen, amount)| {
        let table: serde_json::Map<_, _> = chosen.iter().map(|one| (one.name.into(), json!(amount))).collect();
        (json!(name), Value::Object(table))
    })
}

fn scenarios(outages_of: &'static [&'static str]) -> impl Strategy<Value = Value> {
    let policies = (
        proptest::sample::select(congestion::NAMES).prop_flat_map(with_parameters),
        proptest::sample::select(scheduler::NAMES),
        proptest::sample::select(path_manager::NAMES),
        proptest::sample::select(&["specified", "simultaneous"][..]),
        0..2u8,
    );
    let slow_start = proptest::sample::select(&["own", "standard", "hystart", "hystart++"][..]);
    let links = (link(), link());
    let switches = (proptest::collection::vec(any::<bool>(), 12), any::<bool>(), proptest::option::of(1u64..200_000));
    let transfer = (any::<bool>(), 0u64..400_000, any::<u32>());
    let events = (outages(outages_of), changes(), neighbours());
    ((policies, slow_start), links, events, switches, transfer).prop_map(
        |((policies, slow_start), links, (outages, changes, neighbours), (switches, backup, budget), transfer)| {
            let mut scenario = wifi_lte(transfer.1);
            scenario["seed"] = json!(transfer.2);
            scenario["transfer"]["direction"] = json!(if transfer.0 { "up" } else { "down" });
            scenario["links"] = json!({"wifi": links.0, "lte": links.1});
            scenario["paths"] = json!([path(1, "wifi"), path(2, "lte")]);
            scenario["paths"][1]["backup"] = json!(backup);
            scenario["paths"][1]["budget_bytes"] = json!(budget);
            scenario["timeline"] = Value::Array([outages, changes].concat());
            scenario["cross_traffic"] = Value::Array(neighbours);
            // Where half of all is lost, it takes hours.
            scenario["settings"]["stop_ns"] = json!(36_000 * S);
            scenario["settings"]["sample_ns"] = json!(0);
            let mut config = scenario["transport"]["client"].clone();
            (config["congestion_control"], config["congestion_parameters"]) = policies.0;
            config["tcp"]["slow_start"] = json!(slow_start);
            config["mptcp"]["scheduler"] = json!(policies.1);
            let manager = &mut config["mptcp"]["path_manager"];
            manager["name"] = json!(policies.2);
            (manager["max_subflows"], manager["max_add_addr_accepted"]) = (json!(8), json!(8));
            config["mptcp"]["version"] = json!(policies.4);
            // Who joins before the keys are exchanged has given up the fallback that a stripped option asks for.
            let stripped = ["strip-options", "garble-options"].iter().any(|name| scenario.to_string().contains(name));
            config["mptcp"]["join"] = json!(if stripped { "specified" } else { policies.3 });
            let names = ["sack", "timestamps", "rack", "tail_loss_probe", "proportional_rate_reduction", "pacing"];
            for (name, on) in names.iter().zip(&switches) {
                config["tcp"][name] = json!(on);
            }
            let names = ["checksum", "opportunistic_retransmission", "penalisation", "enabled"];
            for (name, on) in names.iter().zip(&switches[6..]) {
                config["mptcp"][name] = json!(on);
            }
            // Who only waits hears of a server that gave up its SYN/ACK by keep-alives alone (RFC 9293 §3.8.4).
            config["tcp"]["keep_alive_idle_ns"] = json!(7_200 * S);
            config["tcp"]["ssthresh_cache"] = json!(switches[10]);
            config["tcp"]["max_backoff"] = if switches[11] { json!(transfer.2 % 4) } else { Value::Null };
            // With buffers apart, what a subflow takes with it when it ends may have room nowhere else.
            let text = scenario.to_string();
            let count = |name: &str| text.matches(&format!("\"element\":\"{name}\"")).count();
            let safe =
                ["rate", "delay", "loss"].map(count).iter().sum::<usize>() == text.matches("\"element\":").count();
            if transfer.2 % 3 == 0 && safe && !text.contains("detach") && !text.contains("rebind") {
                config["mptcp"]["receive_buffer"] = json!("per-subflow");
            }
            // Behind a hole, short segments occupy all memory before they fill the window, and Linux stands for good.
            if ["clamp-mss", "mtu", "split-segments"].map(count).iter().sum::<usize>() > 0 {
                config["tcp"]["receive_buffer_bytes"] = json!(4 << 20);
            }
            scenario["transport"] = json!({"client": config, "server": config});
            scenario
        },
    )
}

/// Without boxes on the first path that now and then take a mapping away, which costs the subflows that they meet; and
/// without handovers to a path that a box makes useless, as no way leads back.
fn on_a_path_that_works(mut scenario: Value) -> Value {
    for link_direction in ["uplink", "downlink"] {
        scenario["links"]["wifi"][link_direction].as_array_mut().unwrap().retain(|element| {
            let partly = element["element"] == "strip-options" && element["option"] != "all";
            !partly && element["element"] != "garble-options" && element["element"] != "coalesce-segments"
        });
    }
    let text = scenario.to_string();
    if BOXES.iter().any(|name| text.contains(name)) {
        for end in ["client", "server"] {
            let name = &mut scenario["transport"][end]["mptcp"]["path_manager"]["name"];
            if name == "handover" {
                *name = json!("full-mesh");
            }
        }
    }
    // Nor is a path that loses much one on which handshakes are given up.
    for end in ["client", "server"] {
        scenario["transport"][end]["tcp"]["syn_retries"] = json!(40);
    }
    scenario
}

/// Events between two looks at what arrived.
const EVENTS: u64 = 200;

/// Bytes that are not the pattern of their place, of the connections that are open.
fn corrupt_bytes(simulation: &Simulation) -> u64 {
    let of = |host: &host::Host| -> u64 {
        let connections = host.progress().filter_map(|(id, _)| host.endpoint().snapshot(id));
        connections.map(|snapshot| snapshot.corrupt_bytes).sum()
    };
    simulation.ends().map(of).iter().sum()
}

fn run(scenario: &Value) -> (Outcome, u64) {
    let mut simulation = Simulation::from_json(&scenario.to_string()).unwrap();
    let is_relayed = scenario.to_string().contains("\"proxy\"");
    let mut balance = Balance { server: 2, is_relayed, ..Balance::default() };
    let outcome = loop {
        let outcome = simulation.run(&mut balance, EVENTS);
        assert_eq!(corrupt_bytes(&simulation), 0, "{scenario}");
        if let Some(outcome) = outcome {
            break outcome;
        }
    };
    let read = outcome.bytes_up + outcome.bytes_down;
    (outcome, read)
}

proptest! {
    // A thousand each; PROPTEST_CASES makes it more.
    #![proptest_config(ProptestConfig { cases: 4 * ProptestConfig::default().cases, ..ProptestConfig::default() })]
    #[test]
    fn all_bytes_arrive_once(scenario in scenarios(&["lte"]).prop_map(on_a_path_that_works)) {
        let (outcome, read) = run(&scenario);
        let bytes = scenario["transfer"]["size_bytes"].as_u64().unwrap();
        // The first path always works, so there is no reason to give up.
        prop_assert!(outcome.finished && read == bytes, "{} of {} bytes: {}\n{}", read, bytes, outcome.reason, scenario);
    }

    #[test]
    fn who_gives_up_says_why(scenario in scenarios(&["wifi", "lte"])) {
        let (outcome, read) = run(&scenario);
        let bytes = scenario["transfer"]["size_bytes"].as_u64().unwrap();
        prop_assert!(read <= bytes, "{} of {} bytes: {}\n{}", read, bytes, outcome.reason, scenario);
        let is_explained = outcome.finished && read == bytes || outcome.reason.contains("gave up");
        prop_assert!(is_explained, "{} of {} bytes: {}\n{}", read, bytes, outcome.reason, scenario);
    }
}
