//! Packets per second written as a capture wants them: headers, or everything, with the checksum of a payload that is a
//! pattern; a data segment as Linux sends it.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::net::IpAddr;
use wire::mptcp::{DataNumber, Dss, Mapping, Mptcp};
use wire::{Content, Flags, Frame, Ip, L4, Options, Packet, Payload, Tcp, TcpOption};

fn segment(source: &str, destination: &str) -> Packet {
    let address = |text: &str| text.parse::<IpAddr>().unwrap();
    let data_seq = DataNumber::Long(0x0102_0304_0506_0708);
    let mapping = Mapping { data_seq, subflow_seq: 1, len: 1400, checksum: None };
    let dss = Dss { data_ack: Some(data_seq), mapping: Some(mapping), data_fin: false };
    let mut options = Options::NONE;
    options.push(&TcpOption::Timestamps { value: 1, echo: 2 }).unwrap();
    options.push(&TcpOption::Mptcp(Mptcp::Dss(dss))).unwrap();
    let (source_port, destination_port) = (5000, 40000);
    let tcp = Tcp { source_port, destination_port, seq: 1, ack: 1, flags: Flags::ACK, window: 512, urgent: 0, options };
    let (source, destination) = (address(source), address(destination));
    let ip = Ip { source, destination, ttl: 64, tos: 0, id: 7, dont_fragment: true, fragment: None };
    let payload = Payload { len: 1400, content: Content::Pattern(1_234_567) };
    Packet { frame: Frame { ip, l4: L4::Tcp(tcp), payload }, body: None }
}

fn emit(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("emit");
    group.throughput(Throughput::Elements(1));
    for (name, source, destination, snap) in [
        ("IPv4 data, headers", "10.0.0.1", "10.0.0.2", Some(72)),
        ("IPv4 data, 128 bytes", "10.0.0.1", "10.0.0.2", Some(128)),
        ("IPv6 data, 128 bytes", "2001:db8::1", "2001:db8::2", Some(128)),
        ("IPv4 data, all bytes", "10.0.0.1", "10.0.0.2", None),
    ] {
        let packet = segment(source, destination);
        let mut out = Vec::new();
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                out.clear();
                black_box(&packet).emit(&mut out, snap).unwrap();
                black_box(&out);
            });
        });
    }
    group.finish();
}

criterion_group!(benches, emit);
criterion_main!(benches);
