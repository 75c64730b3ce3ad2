//! UDP flows and QUIC connections.

use analysis::{Analysis, Options};
use std::net::SocketAddr;
use tables::{Connection, Direction, Tables};
use wire::{CaptureDirection, Frame, Ip, L4, Observation, Payload, Point, PointId, Time};

const MS: i64 = 1_000_000;
const SERVER: &str = "203.0.113.1:443";

/// Captures of so many hosts.
struct Captures {
    seen: Vec<Observation>,
    records: Vec<u64>,
    /// So many of the sites, the first ones, are interfaces of the client.
    at_client: usize,
}

impl Captures {
    fn of(sites: usize) -> Captures {
        Captures { seen: Vec::new(), records: vec![0; sites], at_client: 0 }
    }

    /// A datagram passes a site.
    fn pass(&mut self, site: usize, at: i64, (from, to): (&str, &str), payload: &[u8]) {
        self.pass_cut(site, at, (from, to), payload, payload.len());
    }

    /// One of which so many bytes of the payload are captured.
    fn pass_cut(&mut self, site: usize, at: i64, (from, to): (&str, &str), payload: &[u8], captured: usize) {
        let [from, to]: [SocketAddr; 2] = [from, to].map(|end| end.parse().unwrap());
        let (source, destination) = (from.ip(), to.ip());
        // Captured at the client, or somewhere on the way.
        let ttl = if site < self.at_client && to.to_string() == SERVER { 64 } else { 60 };
        let ip = Ip { source, destination, ttl, tos: 0, id: 0, dont_fragment: true, fragment: None };
        let frame = Frame { ip, l4: L4::udp(from.port(), to.port()), payload: Payload::unsaid(payload.len() as u32) };
        let mut bytes = Vec::new();
        frame.emit(payload, &mut bytes).unwrap();
        let wire = bytes.len() as u32;
        bytes.truncate(bytes.len() - payload.len() + captured);
        let mut frame = Frame::parse(&bytes, wire).unwrap();
        frame.look(&bytes, wire);
        self.records[site] += 1;
        self.seen.push(Observation {
            at: Time::from_nanos(at),
            point: PointId(site as u32),
            direction: None::<CaptureDirection>,
            record: self.records[site],
            captured: bytes.len() as u32,
            frame,
        });
    }

    fn analyse(mut self) -> Tables {
        self.seen.sort_by_key(|observation| observation.at);
        let mut analysis = Analysis::new(Options { samples: true, ..Options::default() });
        for site in 0..self.records.len() as u32 {
            analysis.add_point(Point { capture: format!("{site}.pcap"), site, interface: String::new() });
        }
        self.seen.iter().for_each(|observation| analysis.observe(observation));
        analysis.finish()
    }
}

fn payload(number: u32, bytes: usize) -> Vec<u8> {
    let mut payload = vec![0; bytes];
    payload[..4].copy_from_slice(&number.to_be_bytes());
    payload
}

fn long(version: u32, destination: &[u8], source: &[u8], bytes: usize, number: u8) -> Vec<u8> {
    let mut packet = vec![0xc0];
    packet.extend(version.to_be_bytes());
    for id in [destination, source] {
        packet.push(id.len() as u8);
        packet.extend(id);
    }
    packet.push(number);
    packet.resize(bytes, 0x55);
    packet
}

fn short(destination: &[u8], bytes: usize, number: u16) -> Vec<u8> {
    let mut packet = vec![0x41];
    packet.extend(destination);
    packet.extend(number.to_be_bytes());
    packet.resize(bytes, 0x77);
    packet
}

fn diagnostics(tables: &Tables) -> Vec<(&str, Option<u64>)> {
    tables.diagnostics.iter().map(|row| (row.diagnostic, row.count)).collect()
}

/// 20 datagrams up, 10 ms apart, and 4 down: bytes, time, gaps.
#[test]
fn a_udp_flow_is_a_connection() {
    let (client, server) = ("192.0.2.1:5004", "203.0.113.1:5004");
    let mut captures = Captures::of(1);
    for number in 0..20 {
        let pause = if number < 10 { 0 } else { 90 };
        captures.pass(0, (10 * i64::from(number) + pause) * MS, (client, server), &payload(number, 200));
    }
    (0..4).for_each(|number| captures.pass(0, i64::from(number) * 50 * MS + 1, (server, client), &payload(number, 50)));
    let tables = captures.analyse();
    let [Connection { protocol: "udp", began: "unknown", ended: "unknown", vantage: None, quic_version: None, .. }] =
        tables.connections[..]
    else {
        panic!("{:?}", tables.connections)
    };
    assert_eq!(tables.connections[0].client_address, Some("192.0.2.1".parse().unwrap()));
    let [up, down] = &tables.transfers[..] else { panic!() };
    assert_eq!((up.bytes, up.elapsed_s, up.longest_gap_ms), (4000, Some(0.28), Some(100.0)));
    assert_eq!((down.bytes, down.direction), (200, Direction::Down));
    assert_eq!(up.throughput_mbps, Some(4000.0 * 8e-6 / 0.28));
    let [up, down] = &tables.flows[..] else { panic!() };
    assert_eq!((up.packets, up.data_packets, up.bytes, up.share), (20, 20, 4000, Some(1.0)));
    assert_eq!((down.packets, up.retransmitted_packets, up.loss_rate_percent, up.lost_packets), (4, None, None, None));
    assert_eq!(tables.throughput.iter().filter(|row| row.subflow.is_none()).map(|row| row.bytes).sum::<u64>(), 4200);
    assert_eq!(tables.segments.len(), 24);
}

#[test]
fn flows_of_few_datagrams_are_counted() {
    let mut captures = Captures::of(1);
    for port in 1..=7 {
        let ends = (&*format!("192.0.2.1:{port}"), "203.0.113.1:53");
        captures.pass(0, port * MS, ends, b"who is?");
        captures.pass(0, port * MS + 1, (ends.1, ends.0), b"I am");
    }
    let tables = captures.analyse();
    assert!(tables.connections.is_empty());
    assert_eq!(diagnostics(&tables), [("few_datagrams", Some(14))]);
    assert!(tables.diagnostics[0].message.starts_with("7 UDP flows of fewer than 10 datagrams each"));
}

/// Captures of both ends, the server's clock 5 s behind; every tenth datagram is lost, one is overtaken. The server is behind
/// a NAT that gives the client another address, in the second run.
#[test]
fn both_ends_tell_loss_order_and_delay() {
    for (client_there, cut) in [("192.0.2.1:5004", 0), ("198.51.100.9:1024", 0), ("192.0.2.1:5004", 120)] {
        let (client, server) = ("192.0.2.1:5004", "203.0.113.1:5004");
        let mut captures = Captures::of(2);
        let behind = 5_000 * MS;
        // The request, and its answer.
        captures.pass(0, 0, (client, server), b"hello, here I am");
        captures.pass(1, 20 * MS - behind, (client_there, server), b"hello, here I am");
        captures.pass(1, 25 * MS - behind, (server, client_there), b"welcome");
        captures.pass(0, 45 * MS, (server, client), b"welcome");
        for number in 0..100 {
            let at = (50 + 10 * i64::from(number)) * MS;
            captures.pass(0, at, (client, server), &payload(number, 200));
            let delay = if number == 42 { 35 } else { 22 };
            if number % 10 != 9 {
                let sent = payload(number, 200);
                captures.pass_cut(1, at + delay * MS - behind, (client_there, server), &sent, 200 - cut);
            }
        }
        captures.pass(1, 2_000 * MS - behind, ("192.0.2.1:1", "203.0.113.1:2"), b"on");
        let tables = captures.analyse();
        let [Connection { protocol: "udp", vantage: Some("both"), subflows: 1, .. }] = tables.connections[..] else {
            panic!("{:?}", tables.connections)
        };
        assert_eq!(tables.connections[0].client_address, Some("192.0.2.1".parse().unwrap()));
        let [up, down] = &tables.flows[..] else { panic!() };
        assert_eq!((up.packets, up.lost_packets, up.reordered_packets), (101, Some(10), Some(1)));
        assert_eq!((up.bytes, up.delivered_bytes), (20_016, Some(18_016)));
        assert_eq!((down.packets, down.lost_packets, down.reordered_packets), (1, Some(0), Some(0)));
        let delay = up.one_way_delay_ms_median.unwrap();
        assert!((delay - 22.0).abs() < 0.1, "{delay} ms");
        assert_eq!(tables.transfers[0].bytes, 18_016);
        let message = &tables.diagnostics.iter().find(|row| row.diagnostic == "clock_offset").unwrap().message;
        assert!(
            message.starts_with("the server's clock is 5000.000 ms behind the client's, at most 20.000 ms"),
            "{message}"
        );
    }
}

/// The handshake, data, then the client goes on from another address with another ID, as RFC 9000 §9.5 asks.
fn quic(captures: &mut Captures, site: usize, behind: i64, moved: &str) {
    let (client, first, own, its) = ("192.0.2.1:40000", [1; 8], [2; 8], [3; 8]);
    let mut up = |at: i64, payload: &[u8]| captures.pass(site, at * MS + behind, (client, SERVER), payload);
    up(0, &long(1, &first, &own, 1200, 0));
    up(50, &long(1, &its, &own, 1200, 1));
    up(60, &short(&its, 60, 2));
    captures.pass(site, 40 * MS + behind, (SERVER, client), &long(1, &own, &its, 1200, 0));
    for number in 0..30 {
        captures.pass(site, (70 + i64::from(number)) * MS + behind, (SERVER, client), &short(&own, 1000, number));
    }
    captures.pass(site, 200 * MS + behind, (moved, SERVER), &short(&[9; 8], 60, 3));
    for number in 0..10 {
        captures.pass(site, (210 + i64::from(number)) * MS + behind, (SERVER, moved), &short(&[8; 8], 1000, number));
    }
}

#[test]
fn a_quic_connection_has_paths() {
    let mut captures = Captures::of(1);
    quic(&mut captures, 0, 0, "198.51.100.7:40000");
    let tables = captures.analyse();
    let [Connection { protocol: "quic", quic_version: Some(1), subflows: 2, began: "handshake", .. }] =
        tables.connections[..]
    else {
        panic!("{:?}", tables.connections)
    };
    let row = &tables.connections[0];
    assert_eq!(row.client_connection_id.as_deref(), Some("0202020202020202"));
    assert_eq!(row.server_connection_id.as_deref(), Some("0303030303030303"));
    let [first, second] = &tables.subflows[..] else { panic!() };
    assert_eq!((first.handshake, second.handshake, second.kind), ("established", "unseen", "quic"));
    assert_eq!(second.client_address, Some("198.51.100.7".parse().unwrap()));
    let shares: Vec<_> = tables.flows.iter().map(|flow| (flow.direction, flow.bytes)).collect();
    assert_eq!(
        shares,
        [(Direction::Up, 2460), (Direction::Down, 31_200), (Direction::Up, 60), (Direction::Down, 10_000)]
    );
    assert_eq!(tables.flows[3].share, Some(10_000.0 / 41_200.0));
    assert_eq!(tables.transfers[1].bytes, 41_200);
}

/// Two clients of one server; a third address goes on with the ID that the first server ID names: a NAT gave it another port.
#[test]
fn a_connection_id_tells_whose_path_it_is() {
    let mut captures = Captures::of(1);
    quic(&mut captures, 0, 0, "192.0.2.1:40000");
    captures.pass(0, 5 * MS, ("192.0.2.77:40001", SERVER), &long(1, &[4; 8], &[5; 8], 1200, 0));
    captures.pass(0, 6 * MS, (SERVER, "192.0.2.77:40001"), &long(1, &[5; 8], &[6; 8], 1200, 0));
    captures.pass(0, 300 * MS, ("203.0.113.99:9", SERVER), &short(&[3; 8], 60, 9));
    captures.pass(0, 301 * MS, ("203.0.113.98:8", SERVER), &short(&[7; 8], 60, 9));
    let tables = captures.analyse();
    let paths: Vec<_> = tables.connections.iter().map(|row| (row.protocol, row.subflows)).collect();
    assert_eq!(paths, [("quic", 2), ("quic", 1)]);
    // Nothing says whose the last is.
    assert_eq!(diagnostics(&tables), [("few_datagrams", Some(1))]);
}

/// One client, two connections one after the other, and another address: the one that is busy moved.
#[test]
fn the_busy_connection_moves() {
    let mut captures = Captures::of(1);
    captures.pass(0, 0, ("192.0.2.1:30000", SERVER), &long(1, &[4; 8], &[5; 8], 1200, 0));
    captures.pass(0, MS, (SERVER, "192.0.2.1:30000"), &long(1, &[5; 8], &[6; 8], 1200, 0));
    quic(&mut captures, 0, 5000 * MS, "198.51.100.7:50000");
    let tables = captures.analyse();
    assert_eq!(tables.connections.iter().map(|row| row.subflows).collect::<Vec<_>>(), [1, 2]);
}

/// A capture for each interface of the client, beside one of the server or alone.
#[test]
fn interfaces_of_a_host_may_have_a_capture_each() {
    for sites in [2, 3] {
        let mut captures = Captures::of(sites);
        captures.at_client = 2;
        quic(&mut captures, 0, 0, "198.51.100.7:50000");
        for one in &mut captures.seen {
            let is_moved = [one.frame.ip.source, one.frame.ip.destination].contains(&"198.51.100.7".parse().unwrap());
            one.point = PointId(is_moved.into());
        }
        if sites == 3 {
            quic(&mut captures, 2, 10 * MS, "198.51.100.7:50000");
        }
        let tables = captures.analyse();
        let [Connection { protocol: "quic", subflows: 2, vantage, .. }] = tables.connections[..] else {
            panic!("{:?}", tables.connections)
        };
        assert_eq!(vantage, Some(if sites == 3 { "both" } else { "client" }));
        assert_eq!(tables.flows.iter().map(|flow| flow.bytes).collect::<Vec<_>>(), [2460, 31_200, 60, 10_000]);
    }
}

/// Ports are used again for another connection.
#[test]
fn a_new_handshake_is_a_new_connection() {
    let mut captures = Captures::of(1);
    quic(&mut captures, 0, 0, "192.0.2.1:40000");
    captures.pass(0, 500 * MS, ("192.0.2.1:40000", SERVER), &long(1, &[21; 8], &[22; 8], 1200, 0));
    captures.pass(0, 501 * MS, (SERVER, "192.0.2.1:40000"), &long(1, &[22; 8], &[23; 8], 1200, 0));
    let tables = captures.analyse();
    let ids: Vec<_> = tables.connections.iter().map(|row| row.server_connection_id.clone().unwrap()).collect();
    assert_eq!(ids, ["03".repeat(8), "17".repeat(8)]);
}

/// What has the bit of a long header: RTP, with version 2 in its first two bits (RFC 3550 §5.1).
#[test]
fn rtp_is_not_quic() {
    let mut captures = Captures::of(1);
    for number in 0..20_u16 {
        let mut packet = vec![0x80, 0x60];
        packet.extend(number.to_be_bytes());
        packet.resize(1212, 0);
        captures.pass(0, i64::from(number) * 20 * MS, ("192.0.2.1:5004", "203.0.113.1:5004"), &packet);
    }
    assert_eq!(captures.analyse().connections[0].protocol, "udp");
}

/// Captures of headers alone: the checksum tells datagrams.
#[test]
fn headers_alone_are_enough_for_loss() {
    let (client, server) = ("[2001:db8::1]:5004", "[2001:db8::2]:5004");
    let mut captures = Captures::of(2);
    for number in 0..200 {
        let at = 10 * i64::from(number) * MS;
        captures.pass_cut(0, at, (client, server), &payload(number, 200), 0);
        if number % 20 != 7 {
            captures.pass_cut(1, at + 8 * MS, (client, server), &payload(number, 200), 0);
        }
    }
    let tables = captures.analyse();
    assert_eq!((tables.flows[0].packets, tables.flows[0].lost_packets), (200, Some(10)));
    assert_eq!(tables.flows[0].one_way_delay_ms_median, None);
    assert_eq!(diagnostics(&tables), [("clock_unknown", None)]);
}

/// Flows without end: memory is bounded, and those that are idle make room.
#[test]
fn there_is_room_for_so_many_flows() {
    let mut captures = Captures::of(1);
    for number in 0..40_000_u32 {
        let [_, a, b, c] = number.to_be_bytes();
        let client = format!("10.{a}.{b}.{c}:1000");
        captures.pass(0, i64::from(number) * 20 * MS, (&client, SERVER), b"once");
    }
    let tables = captures.analyse();
    assert_eq!(diagnostics(&tables), [("few_datagrams", Some(40_000))]);
}
