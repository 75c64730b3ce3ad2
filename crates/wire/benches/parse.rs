//! Packets per second: headers and a walk over the options, on a data segment as Linux sends it.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::net::IpAddr;
use wire::mptcp::{DataNumber, Dss, Mapping, Mptcp};
use wire::{Flags, Frame, Ip, L4, Options, Payload, Tcp, TcpOption};

/// A snap length that keeps headers: the rest of the segment was not captured.
const CAPTURED: usize = 114;

fn segment(source: &str, destination: &str, payload: u32) -> Vec<u8> {
    let address = |text: &str| text.parse::<IpAddr>().unwrap();
    let mapping =
        Mapping { data_seq: DataNumber::Long(0x0102_0304_0506_0708), subflow_seq: 1, len: 1400, checksum: None };
    let dss = Dss {
        data_ack: Some(DataNumber::Long(0x1112_1314_1516_1718)),
        mapping: (payload > 0).then_some(mapping),
        data_fin: false,
    };
    let mut options = Options::NONE;
    options.push(&TcpOption::Timestamps { value: 1, echo: 2 }).unwrap();
    options.push(&TcpOption::Mptcp(Mptcp::Dss(dss))).unwrap();
    let tcp = Tcp {
        source_port: 5000,
        destination_port: 40000,
        seq: 1,
        ack: 1,
        flags: Flags::ACK,
        window: 512,
        urgent: 0,
        options,
    };
    let (source, destination) = (address(source), address(destination));
    let ip = Ip { source, destination, ttl: 64, tos: 0, id: 7, dont_fragment: true, fragment: None };
    let frame = Frame { ip, l4: L4::Tcp(tcp), payload: Payload::unsaid(payload) };
    let mut bytes = Vec::new();
    frame.emit(&vec![0; payload as usize], &mut bytes).unwrap();
    bytes
}

/// What a metric would look at, so that the walk is not optimised away.
fn walk(bytes: &[u8], original_len: u32) -> u64 {
    let frame = Frame::parse(bytes, original_len).unwrap();
    let L4::Tcp(tcp) = &frame.l4 else { return 0 };
    let mut sum = u64::from(tcp.seq) + u64::from(frame.payload.len);
    for option in tcp.options.iter().flatten() {
        sum += match option {
            TcpOption::Timestamps { value, .. } => u64::from(value),
            TcpOption::Mptcp(Mptcp::Dss(dss)) => match dss.data_ack {
                Some(DataNumber::Long(ack)) => ack & 0xff,
                _ => 0,
            },
            _ => 0,
        };
    }
    sum
}

fn parse(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("parse");
    for (name, source, destination, payload) in [
        ("IPv4 data, timestamps and DSS", "10.0.0.1", "10.0.0.2", 1400),
        ("IPv4 ACK, timestamps and DSS", "10.0.0.1", "10.0.0.2", 0),
        ("IPv6 data, timestamps and DSS", "2001:db8::1", "2001:db8::2", 1400),
    ] {
        let bytes = segment(source, destination, payload);
        let captured = &bytes[..bytes.len().min(CAPTURED)];
        group.throughput(Throughput::Elements(1));
        group.bench_function(name, |bencher| bencher.iter(|| walk(black_box(captured), bytes.len() as u32)));
    }
    group.finish();
}

criterion_group!(benches, parse);
criterion_main!(benches);
