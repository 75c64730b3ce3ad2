//! How fast observations become tables: a bulk download over two subflows, and many short connections.

#[path = "../tests/script/mod.rs"]
mod script;

use analysis::{Analysis, Options};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use script::{Captured, Script};
use std::fmt::Write;
use wire::{Observation, Point};

const SEGMENTS: u32 = 40_000;
const CONNECTIONS: u16 = 4_000;

const HANDSHAKES: &str = "
    0  client wifi S  0 0 0 mp_capable
    20 server wifi SA 0 1 0 mp_capable
    20 client wifi A  1 1 0 mp_capable
    30 client lte  S  0 0 0 join(2)
    80 server lte  SA 0 1 0 join(0)
    80 client lte  A  1 1 0 join(2)
    ";

/// Segments in turn on both paths, an acknowledgement for every second one; seen at the client.
fn bulk() -> Vec<Observation> {
    let mut text = HANDSHAKES.to_owned();
    for number in 0..SEGMENTS {
        let path = ["wifi", "lte"][number as usize % 2];
        let (at, seq, data) = (100.0 + f64::from(number) * 0.01, 1 + number / 2 * 1400, 1 + number * 1400);
        writeln!(text, "{at} server {path} A {seq} 1 1400 dss({data} {seq} 1400, ack 1)").unwrap();
        if number % 4 > 1 {
            writeln!(text, "{at} client {path} A 1 {} 0 dss(ack {})", seq + 1400, data + 1400).unwrap();
        }
    }
    observations(Script::default().packets(&text))
}

/// One after another, each with two subflows and 4 kB of data.
fn short() -> Vec<Observation> {
    let mut packets = Vec::new();
    for number in 0..CONNECTIONS {
        let text = format!(
            "{HANDSHAKES}
            90  client wifi A  1    1    100  mp_capable
            110 server wifi A  1    101  1400 dss(1 1 1400, ack 101)
            110 server wifi A  1401 101  1400 dss(1401 1401 1400, ack 101)
            120 server lte  A  1    1    1200 dss(2801 1 1200, ack 101)
            120 client wifi A  101  2801 0    dss(ack 2801)
            130 client lte  A  1    1201 0    dss(ack 4001)
            140 client wifi A  101  2801 0    dss(fin 101, ack 4001)
            160 server wifi A  2801 101  0    dss(fin 4001, ack 102)
            160 client wifi FA 101  2801 0    dss(ack 4002)
            160 client lte  FA 1    1201 0
            180 server wifi FA 2801 102  0
            210 server lte  FA 1201 2    0
            210 client wifi A  102  2802 0
            210 client lte  A  2    1202 0
            "
        );
        let later = i64::from(number) * 2_000_000;
        packets.extend(Script::numbered(number).packets(&text).into_iter().map(|mut packet| {
            packet.observation.at = packet.observation.at + later;
            packet
        }));
    }
    observations(packets)
}

fn observations(packets: Vec<Captured>) -> Vec<Observation> {
    let mut observations: Vec<_> = packets.into_iter().map(|packet| packet.observation).collect();
    observations.sort_by_key(|observation| observation.at);
    observations
}

fn analyze(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("analyze");
    for (name, observations, connections) in [("bulk", bulk(), 1), ("short", short(), usize::from(CONNECTIONS))] {
        group.throughput(Throughput::Elements(observations.len() as u64));
        group.bench_function(name, |bencher| {
            let start = || {
                let mut analysis = Analysis::new(Options::default());
                analysis.add_point(Point::default());
                analysis
            };
            let run = |mut analysis: Analysis| {
                observations.iter().for_each(|observation| analysis.observe(observation));
                let tables = analysis.finish();
                assert_eq!(tables.connections.len(), connections);
                tables
            };
            bencher.iter_batched(start, run, BatchSize::PerIteration);
        });
    }
    group.finish();
}

criterion_group!(benches, analyze);
criterion_main!(benches);
