//! Packets per second through a link: a rate with its queue, a delay, a loss.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use link::{Chain, Direction, Element, Out, build};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::net::IpAddr;
use wire::{Frame, Ip, L4, Packet, Payload, Time};

const PACKETS: usize = 10_000;

fn packet() -> Box<Packet> {
    let (source, destination) = (IpAddr::from([10, 0, 1, 2]), IpAddr::from([10, 9, 0, 1]));
    let ip = Ip { source, destination, ttl: 64, tos: 0, id: 0, dont_fragment: true, fragment: None };
    Box::new(Packet { frame: Frame { ip, l4: L4::Other(253), payload: Payload::unsaid(1480) }, body: None })
}

fn chain(elements: &[Value]) -> Chain {
    let element = |(index, value)| build(value, 1, &format!("uplink/{index}"), Time::default()).unwrap();
    Chain::of(elements.iter().enumerate().map(element).collect(), Vec::new())
}

/// Packets come a little faster than they leave. Their boxes are used again, as a simulation does.
struct Run {
    chain: Chain,
    now: Time,
    out: Out,
    free: VecDeque<Box<Packet>>,
}

impl Run {
    fn new(elements: &[Value]) -> Run {
        Run { chain: chain(elements), now: Time::default(), out: Out::default(), free: VecDeque::new() }
    }

    fn packets(&mut self) {
        for _ in 0..PACKETS {
            self.now = self.now + 11_900;
            while self.chain.deadline() <= self.now {
                self.chain.wake(self.chain.deadline(), &mut self.out);
                self.free.extend(self.out.sent.drain(..).map(|(_, packet)| packet));
            }
            let packet = self.free.pop_back().unwrap_or_else(packet);
            self.chain.push(self.now, Direction::Up, packet, &mut self.out);
            self.free.extend(self.out.dropped.drain(..).map(|dropped| dropped.packet));
        }
    }
}

fn pass(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("link");
    group.throughput(Throughput::Elements(PACKETS as u64));
    let rate = json!({"element": "rate", "rate": 1_000_000_000, "queue": {"queue": "drop-tail", "packets": 100}});
    let delay = json!({"element": "delay", "delay": 1_000_000});
    let loss = json!({"element": "loss", "ratio": 0.001});
    let process = json!({"element": "rate-process", "mean": 1_000_000_000, "deviation": 200_000_000,
                         "correlation": 100_000_000, "queue": {"queue": "codel"}});
    let queued =
        |queue: &str| json!({"element": "rate", "rate": 1_000_000_000, "queue": {"queue": queue, "packets": 100}});
    let arq = json!({"element": "arq", "error_ratio": 0.1});
    let grants = json!({"element": "grants", "share": 0.3});
    for (name, elements) in [
        ("rate with FQ-CoDel", vec![queued("fq-codel")]),
        ("rate with PIE", vec![queued("pie")]),
        ("rate, grants, ARQ", vec![rate.clone(), grants, arq]),
        ("rate, delay, loss", vec![rate.clone(), delay.clone(), loss.clone()]),
        ("rate", vec![rate]),
        ("rate process with CoDel, delay, loss", vec![process, delay, loss]),
    ] {
        let mut run = Run::new(&elements);
        group.bench_function(name, |bencher| bencher.iter(|| run.packets()));
    }
    group.finish();
}

criterion_group!(benches, pass);
criterion_main!(benches);
