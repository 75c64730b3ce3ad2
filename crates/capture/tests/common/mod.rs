//! Captures made byte by byte, and what reading them gives.
#![allow(dead_code, reason = "each test uses a part")]

pub mod bytes;
pub mod tools;

use std::io::Cursor;

use capture::{Error, Merge, Reader};
use wire::{CaptureDirection, L4, Observation};

/// An IPv4 packet with a TCP segment of 10 bytes; client and server swap places with the direction.
pub fn segment(from_client: bool, seq: u32, ack: u32) -> Vec<u8> {
    let (client, server) = (([10, 0, 0, 1], 4000u16), ([10, 0, 0, 2], 80u16));
    let (source, destination) = if from_client { (client, server) } else { (server, client) };
    between(source, destination, seq, ack)
}

/// An IPv4 packet with a TCP segment of 10 bytes.
pub fn between(source: ([u8; 4], u16), destination: ([u8; 4], u16), seq: u32, ack: u32) -> Vec<u8> {
    let mut packet = vec![0x45, 0, 0, 50, 0, 1, 0x40, 0, 64, 6, 0, 0];
    packet.extend(source.0);
    packet.extend(destination.0);
    packet.extend(source.1.to_be_bytes());
    packet.extend(destination.1.to_be_bytes());
    packet.extend(seq.to_be_bytes());
    packet.extend(ack.to_be_bytes());
    packet.extend([0x50, 0x10, 0x20, 0, 0, 0, 0, 0]);
    packet.extend([0; 10]);
    packet
}

/// `packet` in an Ethernet frame.
pub fn ethernet(packet: &[u8]) -> Vec<u8> {
    [&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0], packet].concat()
}

/// Five packets, 1.5 ms apart: (nanoseconds, IP packet).
pub fn conversation() -> Vec<(i64, Vec<u8>)> {
    let start = 1_700_000_000_000_001_000;
    (0..5u32).map(|i| (start + i64::from(i) * 1_500_000, segment(i % 2 == 0, 100 + i * 10, 7000 + i))).collect()
}

/// What matters of an observation.
pub type Seen = (i64, String, Option<CaptureDirection>, u64, u32);

/// (nanoseconds, interface, direction, record, sequence number) of all observations.
pub fn observe(merge: &mut Merge) -> Vec<Seen> {
    let mut seen = Vec::new();
    while let Some(observation) = merge.next() {
        let observation = *observation.expect("memory can be read");
        let interface = merge.points()[observation.point.0 as usize].interface.clone();
        seen.push((observation.at.as_nanos(), interface, observation.direction, observation.record, seq(&observation)));
    }
    seen
}

/// The sequence number of a TCP segment.
pub fn seq(observation: &Observation) -> u32 {
    match &observation.frame.l4 {
        L4::Tcp(tcp) => tcp.seq,
        _ => 0,
    }
}

/// (nanoseconds, sequence number) of all observations.
pub fn times(capture: &[u8]) -> Vec<(i64, u32)> {
    observe(&mut merge(&[capture])).into_iter().map(|(at, _, _, _, seq)| (at, seq)).collect()
}

/// What the conversation should give by [`times`], where the clock has steps of `step` nanoseconds.
pub fn expected(step: i64) -> Vec<(i64, u32)> {
    conversation().iter().enumerate().map(|(i, (at, _))| (at / step * step, 100 + i as u32 * 10)).collect()
}

/// A reader of bytes.
pub fn reader(capture: &[u8]) -> Result<Reader, Error> {
    Reader::new("test", Cursor::new(capture.to_vec()))
}

/// A merge of captures that have a header at least.
pub fn merge(captures: &[&[u8]]) -> Merge {
    Merge::new(captures.iter().map(|capture| reader(capture).expect("a header")).collect())
}
