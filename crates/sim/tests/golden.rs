//! A few small scenarios give the packets and the captures that they gave before, bit for bit: in debug builds here, in
//! release builds through the Python module (`tests/oracles/test_simulated_radio.py`), on every machine.
//!
//! Whoever changes what endpoints or links do changes these. Then, having understood why, put what the failing test
//! prints into `golden/hashes.txt`.

mod common;

use capture::Writer;
use common::Seen;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use sim::{Observer, Simulation};
use transport::Config;
use wire::{CaptureDirection, Packet, Time};

const SCENARIOS: [(&str, &str); 3] = [
    ("mesh", include_str!("golden/mesh.json")),
    ("radio", include_str!("golden/radio.json")),
    ("reordering", include_str!("golden/reordering.json")),
];
const HASHES: &str = include_str!("golden/hashes.txt");

#[test]
fn packets_and_captures_are_those_of_before() {
    let found: String = SCENARIOS.iter().map(|(name, text)| line(name, &whole(text))).collect();
    assert!(found == HASHES, "golden/hashes.txt has other hashes; these are now\n\n{found}");
}

/// The scenario with the endpoints' defaults where it says nothing.
fn whole(text: &str) -> Value {
    let mut scenario: Value = serde_json::from_str(text).unwrap();
    let mut config = serde_json::to_value(Config::default()).unwrap();
    for (key, value) in scenario["transport"].as_object().unwrap() {
        match value.as_object() {
            Some(settings) => settings.iter().for_each(|(name, value)| config[key][name] = value.clone()),
            None => config[key] = value.clone(),
        }
    }
    scenario["transport"] = json!({"client": config, "server": config});
    scenario
}

/// Name, hash of everything that the hosts saw, hashes of the captures of client and server with all payload.
fn line(name: &str, scenario: &Value) -> String {
    let simulation = Simulation::from_json(&scenario.to_string()).unwrap();
    let points: Vec<_> = simulation.points().into_iter().map(|point| (point.host, point.interface)).collect();
    let (outcome, seen, _) = common::run_with(scenario, Captures::new(&points));
    assert!(outcome.finished, "{name}: {outcome:?}");
    let trace = seen.seen.hash;
    let [client, server] = seen.finish();
    format!("{name} {trace:016x} {client} {server}\n")
}

/// Writes what hosts see as the Python module does.
struct Captures {
    seen: Seen,
    writers: [Writer<Digested>; 2],
    interfaces: [u32; 2],
    /// Capture and interface, by point.
    points: Vec<(usize, u32)>,
    bytes: Vec<u8>,
}

impl Captures {
    fn new(points: &[(&str, String)]) -> Captures {
        let mut writers = ["client", "server"].map(|host| Writer::new(Digested::default(), host).unwrap());
        let mut interfaces = [0; 2];
        let named = points.iter().map(|(host, interface)| {
            let capture = usize::from(*host == "server");
            interfaces[capture] += 1;
            (capture, writers[capture].interface(interface).unwrap())
        });
        Captures { points: named.collect(), seen: Seen::default(), writers, interfaces, bytes: Vec::new() }
    }

    fn finish(self) -> [String; 2] {
        let mut interfaces = self.interfaces.into_iter();
        self.writers.map(|writer| {
            let drops = vec![0; interfaces.next().unwrap() as usize];
            let digest = writer.finish(&drops).unwrap().0.finalize();
            digest.iter().map(|byte| format!("{byte:02x}")).collect()
        })
    }
}

impl Observer for Captures {
    fn passed(&mut self, at: Time, point: usize, direction: CaptureDirection, packet: &Packet) {
        self.seen.passed(at, point, direction, packet);
        let (capture, interface) = self.points[point];
        let len = packet.frame.wire_len();
        self.bytes.clear();
        packet.emit(&mut self.bytes, Some(len as usize)).unwrap();
        self.writers[capture].packet(interface, at, Some(direction), len, &self.bytes).unwrap();
    }
}

/// Keeps nothing but the hash of what is written.
#[derive(Default)]
struct Digested(Sha256);

impl std::io::Write for Digested {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
