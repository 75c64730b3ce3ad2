//! What emulated links do with a packet between two devices, without these: read its bytes, let it meet a rate and a
//! delay, write it again. `cargo run --release -p sim --example pass [packets]`.

use link::{Chain, Direction, Element, Out, build};
use serde_json::json;
use std::net::IpAddr;
use std::sync::Arc;
use wire::{Body, Flags, Frame, Ip, L4, Original, Packet, Payload, Tcp, Time};

const PAYLOAD_BYTES: u32 = 1400;
/// A little slower than packets leave.
const BETWEEN_NS: i64 = 12_100;

fn main() {
    let packets: u64 = std::env::args().nth(1).map_or(1_000_000, |count| count.parse().expect("a number of packets"));
    let bytes = segment();
    let elements = [
        json!({"element": "rate", "rate": 1_000_000_000, "queue": {"queue": "drop-tail", "packets": 100}}),
        json!({"element": "delay", "delay": 1_000_000}),
    ];
    let element = |(index, value)| build(value, 1, &format!("uplink/{index}"), Time::default()).expect("it is right");
    let mut chain = Chain::of(elements.iter().enumerate().map(element).collect(), Vec::new());
    let (mut out, mut written, mut passed, mut now) = (Out::default(), Vec::new(), 0, Time::default());
    for _ in 0..packets {
        now = now + BETWEEN_NS;
        while chain.deadline() <= now {
            chain.wake(chain.deadline(), &mut out);
            for (_, packet) in out.sent.drain(..) {
                written.clear();
                packet.emit(&mut written, None).expect("it is what came");
                passed += 1;
            }
        }
        chain.push(now, Direction::Up, read(&bytes), &mut out);
    }
    assert!(written == bytes && out.dropped.is_empty(), "packets leave as they came");
    println!("{passed} packets");
}

fn read(bytes: &[u8]) -> Box<Packet> {
    let mut original = Original::copy(bytes);
    let frame = original.read(bytes.len(), true).expect("it is whole");
    let payload = original.headers().len()..bytes.len();
    Box::new(Packet { frame, body: Some(Body::part(&Arc::new(original), payload)) })
}

fn segment() -> Vec<u8> {
    let (source, destination) = (IpAddr::from([10, 0, 1, 2]), IpAddr::from([10, 9, 0, 1]));
    let ip = Ip { source, destination, ttl: 64, tos: 0, id: 0, dont_fragment: true, fragment: None };
    let tcp = Tcp { source_port: 50_000, destination_port: 80, seq: 1, ack: 1, flags: Flags::ACK, ..Tcp::BLANK };
    let frame = Frame { ip, l4: L4::Tcp(tcp), payload: Payload::unsaid(PAYLOAD_BYTES) };
    let mut bytes = Vec::new();
    frame.emit(&[7; PAYLOAD_BYTES as usize], &mut bytes).expect("it is right");
    bytes
}
