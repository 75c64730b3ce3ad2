//! How fast captures become observations: 100 000 packets of 128 captured bytes, in memory.

use std::io::Cursor;
use std::sync::Arc;

use capture::{Merge, Reader, Writer};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use wire::{CaptureDirection, Time};

const PACKETS: u32 = 100_000;

/// An IPv4 packet with 32 bytes of TCP options, cut at 128 bytes; data one way, acknowledgements the other.
fn packet(number: u32) -> (Vec<u8>, u32) {
    let data = !number.is_multiple_of(3);
    let original_len: u32 = if data { 1500 } else { 72 };
    let mut packet = vec![0x45, 0, (original_len >> 8) as u8, original_len as u8, 0, 1, 0x40, 0, 64, 6, 0, 0];
    packet.extend(if data { [10, 0, 0, 1, 10, 0, 0, 2] } else { [10, 0, 0, 2, 10, 0, 0, 1] });
    packet.extend(if data { [0x0f, 0xa0, 0, 80] } else { [0, 80, 0x0f, 0xa0] });
    packet.extend((number * 1448).to_be_bytes());
    packet.extend([0, 0, 0, 1, 0xd0, 0x10, 0x20, 0, 0, 0, 0, 0]);
    packet.extend([1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]); // timestamps
    packet.extend([30, 20, 0x20, 0x05, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 5, 0xa8, 0, 0]); // DSS
    packet.resize(original_len.min(114) as usize, 0);
    (packet, original_len)
}

fn pcap() -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 128, 1] {
        bytes.extend(u32::to_le_bytes(word));
    }
    for number in 0..PACKETS {
        let (packet, original_len) = packet(number);
        let (seconds, micros) = (1_700_000_000 + number / 50_000, number % 50_000 * 20);
        for word in [seconds, micros, packet.len() as u32 + 14, original_len + 14] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0]);
        bytes.extend(packet);
    }
    bytes
}

/// Every `of`th packet, from `first` on.
fn pcapng(first: usize, of: usize) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), "client").expect("memory");
    let wifi = writer.interface("wifi").expect("memory");
    for number in (0..PACKETS).skip(first).step_by(of) {
        let (packet, original_len) = packet(number);
        let at = Time::from_nanos(1_700_000_000_000_000_000 + i64::from(number) * 20_000);
        writer.packet(wifi, at, Some(CaptureDirection::Outbound), original_len, &packet).expect("memory");
    }
    writer.finish(&[0]).expect("memory")
}

fn read(captures: &[Arc<[u8]>]) {
    let readers = captures.iter().map(|bytes| Reader::new("bench", Cursor::new(Arc::clone(bytes))).expect("a capture"));
    let mut merge = Merge::new(readers.collect());
    let mut count = 0;
    while let Some(observation) = merge.next() {
        std::hint::black_box(observation.expect("memory"));
        count += 1;
    }
    assert_eq!(count, PACKETS);
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Read;
    let mut compressed = Vec::new();
    flate2::read::GzEncoder::new(bytes, flate2::Compression::default()).read_to_end(&mut compressed).expect("memory");
    compressed
}

fn benches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("read");
    group.throughput(Throughput::Elements(PACKETS.into()));
    group.sample_size(20);
    for (name, captures) in [
        ("pcap", vec![pcap()]),
        ("pcapng", vec![pcapng(0, 1)]),
        ("pcapng, two files", vec![pcapng(0, 2), pcapng(1, 2)]),
        ("pcap, gzip", vec![gzip(&pcap())]),
        ("pcap, zstd", vec![zstd::encode_all(&pcap()[..], 3).expect("memory")]),
    ] {
        let captures: Vec<Arc<[u8]>> = captures.into_iter().map(Arc::from).collect();
        group.bench_function(name, |bencher| bencher.iter(|| read(&captures)));
    }
    group.finish();
}

criterion_group!(reading, benches);
criterion_main!(reading);
