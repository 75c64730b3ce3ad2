//! TCP client - converter - two paths - converter - TCP server.

mod common;

use common::{MS, Seen, run_with, wifi_lte};
use serde_json::{Value, json};
use sim::{Observer, Outcome, Simulation};
use std::net::SocketAddr;
use wire::convert::{HEADER_BYTES, Tlv, message, tlvs};
use wire::{CaptureDirection, Flags, L4, Packet, Time, pattern};

const BYTES: u64 = 2_000_000;
/// Where packets are seen: the client's paths, then the server.
const WIFI: usize = 0;
const SERVER: usize = 2;
/// Bytes of a Connect TLV in its message, and of an Extended TCP Header TLV.
const REQUEST: u64 = 24;
const ANSWER: u64 = 12;

fn lan(number: u8) -> Value {
    json!({
        "gateway": [format!("10.10.{number}.1"), format!("fd00:10:{number}::1")],
        "host": [format!("10.10.{number}.2"), format!("fd00:10:{number}::2")],
    })
}

fn scenario(direction: &str, converters: Value) -> Value {
    let mut scenario = wifi_lte(BYTES);
    scenario["transfer"]["direction"] = json!(direction);
    scenario["converters"] = converters;
    scenario["settings"]["processing_ns"] = json!(100_000);
    scenario
}

fn by_convert(fast_open: bool) -> Value {
    json!({"client": lan(0), "server": lan(1), "port": 5124, "fast_open": fast_open})
}

/// What packets carry besides the pattern, by point and direction, in the order in which it passed.
#[derive(Default)]
struct Messages {
    seen: Seen,
    said: Vec<(usize, CaptureDirection, Flags, Vec<u8>)>,
    mptcp: u64,
}

impl Observer for Messages {
    fn passed(&mut self, at: Time, point: usize, direction: CaptureDirection, packet: &Packet) {
        self.seen.passed(at, point, direction, packet);
        let L4::Tcp(tcp) = &packet.frame.l4 else { return };
        self.mptcp += u64::from(tcp.options.iter().flatten().any(|option| matches!(option, wire::TcpOption::Mptcp(_))));
        if let Some(body) = &packet.body {
            self.said.push((point, direction, tcp.flags, body.to_vec()));
        }
    }
}

impl Messages {
    /// What passed this point in this direction, and whether it was in a SYN.
    fn at(&self, point: usize, direction: CaptureDirection) -> (&[u8], bool) {
        let mut all = self.said.iter().filter(|said| (said.0, said.1) == (point, direction));
        let (_, _, flags, bytes) = all.next().expect("something is said");
        assert!(all.next().is_none(), "it is said once");
        (bytes, flags.has(Flags::SYN))
    }
}

fn converted(scenario: &Value) -> (Outcome, Messages) {
    let (outcome, messages, _) = run_with(scenario, Messages::default());
    assert!(outcome.finished, "{outcome:?}");
    let up = scenario["transfer"]["direction"] == "up";
    assert_eq!([outcome.bytes_up, outcome.bytes_down], if up { [BYTES, 0] } else { [0, BYTES] });
    assert_eq!(corrupt(scenario), 0);
    (outcome, messages)
}

/// Bytes that came to somebody and were not those that had been sent.
fn corrupt(scenario: &Value) -> u64 {
    let mut simulation = Simulation::from_json(&scenario.to_string()).unwrap();
    let mut wrong = 0;
    while simulation.run(&mut (), 500).is_none() {
        for host in simulation.hosts() {
            let ids = host.progress().map(|(id, _)| id).chain(host.connections());
            wrong += ids.filter_map(|id| host.endpoint().snapshot(id)).map(|one| one.corrupt_bytes).sum::<u64>();
        }
    }
    wrong
}

#[test]
fn a_converter_is_told_the_server_and_answers() {
    for direction in ["down", "up"] {
        let scenario = scenario(direction, by_convert(false));
        let (_, messages) = converted(&scenario);
        let server: SocketAddr = "10.10.1.2:8080".parse().unwrap();
        let request = message(&[Tlv::Connect { remote: server, options: &[] }]).unwrap();
        let (asked, in_syn) = messages.at(WIFI, CaptureDirection::Outbound);
        assert_eq!((&asked[..REQUEST as usize], in_syn), (&request[..], false));
        assert!(pattern::matches(0, &asked[REQUEST as usize..]), "the client's data follows it");
        let (answered, _) = messages.at(SERVER, CaptureDirection::Outbound);
        let answer: Vec<_> = tlvs(&answered[HEADER_BYTES..ANSWER as usize]).collect();
        assert!(matches!(answer[..], [Ok(Tlv::ExtendedHeader { options: [2, 4, _, _] })]), "{answer:?}");
        // Beside the data, all of which came over two paths.
        let came = [messages.seen.payload[SERVER][0], messages.seen.payload[WIFI][0] + messages.seen.payload[1][0]];
        let [least, most] = if direction == "up" { [BYTES + REQUEST, ANSWER] } else { [REQUEST, BYTES + ANSWER] };
        assert!(came[0] >= least && came[1] >= most, "{came:?}");
        let direction_index = usize::from(direction == "up");
        assert!(
            [WIFI, 1].iter().all(|&path| messages.seen.payload[path][direction_index] > BYTES / 20),
            "{:?}",
            messages.seen.payload
        );
    }
}

/// When the server behind the converter accepts, in nanoseconds from the start.
fn accepted_ns(scenario: &Value) -> i64 {
    let mut simulation = Simulation::from_json(&scenario.to_string()).unwrap();
    while simulation.ends()[1].progress().len() == 0 {
        assert_eq!(simulation.run(&mut (), 1), None);
    }
    simulation.virtual_ns()
}

/// The SYN takes 10 ms, and then the converter knows the server. What follows the handshake comes a round trip of 20 ms later.
#[test]
fn a_request_in_the_syn_costs_no_round_trip() {
    let late = scenario("down", by_convert(false));
    let fast = scenario("down", by_convert(true));
    let (_, messages) = converted(&fast);
    let (request, in_syn) = messages.at(WIFI, CaptureDirection::Outbound);
    assert_eq!((request.len() as u64, in_syn), (REQUEST, true));
    let [late, fast] = [late, fast].map(|scenario| accepted_ns(&scenario));
    assert!((30 * MS..31 * MS).contains(&late) && (10 * MS..11 * MS).contains(&fast), "{late} and {fast} ns");
    converted(&scenario("up", by_convert(true)));
}

#[test]
fn transparent_converters_stand_at_either_end_or_at_both() {
    let plain = |client: Option<Value>, server: Option<Value>| json!({"client": client, "server": server, "port": null, "fast_open": false});
    for (client, server) in [(Some(lan(0)), Some(lan(1))), (Some(lan(0)), None), (None, Some(lan(1)))] {
        let (_, messages) = converted(&scenario("down", plain(client, server)));
        assert!(messages.said.is_empty() && messages.mptcp > 0);
        assert!(
            [WIFI, 1].iter().all(|&path| messages.seen.payload[path][0] > BYTES / 20),
            "{:?}",
            messages.seen.payload
        );
    }
}

#[test]
fn checksums_cover_what_is_said() {
    let mut scenario = scenario("down", by_convert(false));
    for end in ["client", "server"] {
        scenario["transport"][end]["mptcp"]["checksum"] = json!(true);
    }
    converted(&scenario);
}

#[test]
fn over_ipv6_as_over_ipv4() {
    let mut scenario = scenario("down", by_convert(false));
    scenario["server"]["addresses"] = json!(["fd00:9::1"]);
    for path in [0, 1] {
        scenario["paths"][path]["address"] = Value::Null;
    }
    for end in ["client", "server"] {
        let lan = &mut scenario["converters"][end];
        (lan["gateway"], lan["host"]) = (json!([lan["gateway"][1]]), json!([lan["host"][1]]));
    }
    converted(&scenario);
}

#[test]
fn a_baseline_has_no_converters() {
    let mut scenario = scenario("down", by_convert(false));
    scenario["run"] = json!({"kind": "tcp", "path": "wifi"});
    let (_, messages) = converted(&scenario);
    assert!(messages.said.is_empty() && messages.mptcp == 0);
}

#[test]
fn the_same_seed_gives_the_same_packets() {
    let scenario = scenario("down", by_convert(true));
    assert_eq!(converted(&scenario).1.seen, converted(&scenario).1.seen);
}
