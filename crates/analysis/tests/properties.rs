//! What holds whatever happens: transfers made by a small model of two paths, and garbage.

mod script;

use analysis::{Analysis, Options};
use proptest::prelude::*;
use script::Host::{Client, Server};
use script::*;
use std::collections::BTreeMap;
use std::fmt::Write;
use wire::mptcp::{DataNumber, Dss, Mapping, MpCapable, MpJoin, Mptcp, crypto};
use wire::{CaptureDirection, Flags, Observation, Point, PointId, TcpOption, Time};

/// A piece of data and its fate.
#[derive(Clone, Debug)]
struct Chunk {
    len: u32,
    path: usize,
    gap_ms: u32,
    /// Lost on its way and sent again after 300 ms.
    lost: bool,
    /// Sent again after 150 ms although it arrives.
    twice: bool,
    /// Sent on the other path too, at once.
    reinjected: bool,
    ack_lost: bool,
}

fn chunk() -> impl Strategy<Value = Chunk> {
    let rarely = || prop::bool::weighted(0.15);
    // A single byte sent again after its ACK would be a keep-alive.
    (2u32..1400, 0usize..2, 0u32..40, rarely(), rarely(), rarely(), rarely()).prop_map(
        |(len, path, gap_ms, lost, twice, reinjected, ack_lost)| Chunk {
            len,
            path,
            gap_ms,
            lost,
            twice: twice && !lost,
            reinjected,
            ack_lost,
        },
    )
}

/// What the model knows.
#[derive(Debug, Default)]
struct Truth {
    bytes: u64,
    /// Per path.
    first_bytes: [u64; 2],
    data_packets: [u64; 2],
    retransmitted: [u64; 2],
    lost: [u64; 2],
    reinjected_bytes: u64,
}

const PATHS: [&str; 2] = ["wifi", "lte"];

/// The script of a download seen from both ends, and what is true of it.
fn transfer_of(chunks: &[Chunk], delays_ms: [u32; 2]) -> (String, Truth) {
    // A packet's time ends in its number, and in 5 on the second path, so that no two arrive at once.
    let delay = [f64::from(delays_ms[0]), f64::from(delays_ms[1]) + 0.0005];
    let mut text = String::new();
    let mut line = |at: [Option<f64>; 2], rest: String| {
        let [client, server] = at.map(|at| at.map_or("-".to_owned(), |at| format!("{at:.4}")));
        writeln!(text, "{client}|{server} {rest}").unwrap();
    };
    for (path, begin, option) in [(0, 0.0, "mp_capable"), (1, 500.0, "join(2)")] {
        let (name, d) = (PATHS[path], delay[path]);
        line([begin, begin + d].map(Some), format!("client {name} S 0 0 0 {option}"));
        line([begin + 2.0 * d, begin + d].map(Some), format!("server {name} SA 0 1 0 {option}"));
        line([begin + 2.0 * d, begin + 3.0 * d].map(Some), format!("client {name} A 1 1 0 {option}"));
    }
    let mut truth = Truth::default();
    let mut next = [1u32; 2];
    let (mut time, mut data) = (2000.0, 1u64);
    // (arrival, path, subflow sequence number, length, data sequence number, whether its ACK is lost)
    let mut arrivals: Vec<(f64, usize, u32, u32, u64, bool)> = Vec::new();
    for (number, chunk) in chunks.iter().enumerate() {
        time += f64::from(chunk.gap_ms) + 1.0;
        let sent_at = time + number as f64 * 0.001;
        let mut send = |at: f64, path: usize, seq: u32, arrives: bool| {
            let (d, len) = (delay[path], chunk.len);
            let rest = format!("server {} A {seq} 1 {len} dss({data} {seq} {len}, ack 1)", PATHS[path]);
            line([arrives.then_some(at + d), Some(at)], rest);
            if arrives {
                arrivals.push((at + d, path, seq, len, data, chunk.ack_lost));
            } else {
                truth.lost[path] += 1;
            }
            truth.data_packets[path] += 1;
        };
        send(sent_at, chunk.path, next[chunk.path], !chunk.lost);
        if chunk.lost || chunk.twice {
            send(sent_at + if chunk.lost { 300.0 } else { 150.0 }, chunk.path, next[chunk.path], true);
            truth.retransmitted[chunk.path] += 1;
        }
        next[chunk.path] += chunk.len;
        if chunk.reinjected {
            let other = 1 - chunk.path;
            send(sent_at, other, next[other], true);
            next[other] += chunk.len;
            truth.reinjected_bytes += u64::from(chunk.len);
        }
        data += u64::from(chunk.len);
        truth.bytes += u64::from(chunk.len);
    }
    arrivals.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut of_path, mut of_data) = ([BTreeMap::new(), BTreeMap::new()], BTreeMap::new());
    let mut last = 0.0;
    for &(at, path, seq, len, data, ack_lost) in &arrivals {
        of_path[path].insert(seq, len);
        if of_data.insert(data, u64::from(len)).is_none() {
            truth.first_bytes[path] += u64::from(len);
        }
        let (ack, data_ack) = (contiguous(&of_path[path]), contiguous(&of_data));
        let rest = format!("client {} A 1 {ack} 0 dss(ack {data_ack})", PATHS[path]);
        line([Some(at), (!ack_lost).then_some(at + delay[path])], rest);
        last = at;
    }
    for path in [0, 1] {
        let (ack, data_ack) = (contiguous(&of_path[path]), contiguous(&of_data));
        let rest = format!("client {} A 1 {ack} 0 dss(ack {data_ack})", PATHS[path]);
        line([last + 1.0, last + 1.0 + delay[path]].map(Some), rest);
    }
    (text, truth)
}

/// The first number missing of those from 1.
fn contiguous<T: Copy + Ord + Into<u64>>(pieces: &BTreeMap<T, T>) -> u64 {
    pieces.iter().fold(1, |next, (&start, &len)| if start.into() == next { next + len.into() } else { next })
}

fn rows(tables: &tables::Tables) -> String {
    format!("{:#?}{:#?}{:#?}{:#?}", tables.connections, tables.transfers, tables.flows, tables.subflows)
}

/// A subflow's segments of the download: payload, retransmitted packets, reinjected bytes.
fn added_up(tables: &tables::Tables, subflow: u32) -> (u64, u64, u64) {
    let segments = || tables.segments.iter().filter(|row| row.subflow == subflow && row.direction == Down);
    (
        segments().map(|row| u64::from(row.bytes)).sum(),
        segments().filter(|row| row.kind == Some("retransmission")).count() as u64,
        segments().map(|row| u64::from(row.reinjected_bytes)).sum(),
    )
}

/// Round-trip times in the distribution of the download.
fn counted(tables: &tables::Tables, subflow: Option<u32>) -> u64 {
    let rows = tables.distributions.iter();
    rows.filter(|row| (row.quantity, row.direction, row.subflow) == ("rtt", Down, subflow)).map(|row| row.count).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Bytes of every transfer equal what was sent, shares what arrived first, and each end tells what it can know.
    #[test]
    fn transfers(chunks in prop::collection::vec(chunk(), 1..60), delays in [1u32..50, 1u32..200]) {
        let (text, truth) = transfer_of(&chunks, delays);
        let packets = Script::default().packets(&text);
        let both = analyze(packets.clone());
        prop_assert_eq!(both.connections.len(), 1);
        prop_assert_eq!(both.connections[0].vantage, Some("both"));
        let down = transfer(&both, Down);
        prop_assert_eq!(down.bytes, truth.bytes);
        prop_assert_eq!(down.reinjected_bytes, Some(truth.reinjected_bytes));
        let samples: u64 = [0, 1].iter().map(|&path| flow(&both, path, Down).rtt_samples.unwrap()).sum();
        prop_assert_eq!(down.rtt_samples, Some(samples));
        prop_assert_eq!(samples, both.rtt.len() as u64);
        for (path, p) in [(0, 0), (1, 1)] {
            let row = flow(&both, path, Down);
            prop_assert_eq!(row.delivered_bytes, Some(truth.first_bytes[p]));
            prop_assert_eq!(row.data_packets, truth.data_packets[p]);
            prop_assert_eq!(row.retransmitted_packets, Some(truth.retransmitted[p]));
            prop_assert_eq!(row.lost_packets, Some(truth.lost[p]));
            prop_assert_eq!(added_up(&both, path), (row.data_bytes, truth.retransmitted[p], row.reinjected_bytes.unwrap()));
            prop_assert_eq!(counted(&both, Some(path)), row.rtt_samples.unwrap());
        }
        prop_assert_eq!(counted(&both, None), samples);
        // A round trip over a path takes twice its delay; the first ACK to come may be a later one, if one is lost.
        let acks_lost = chunks.iter().any(|chunk| chunk.ack_lost);
        for sample in &both.rtt {
            let path = sample.subflow as usize;
            let round_trip = 2.0 * (f64::from(delays[path]) + 0.0005 * path as f64);
            let longer = sample.rtt_ms - round_trip;
            prop_assert!(longer > -2e-4 && (longer < 2e-4 || acks_lost), "{} is not {round_trip}", sample.rtt_ms);
        }
        // Every segment with new data had its delay.
        let in_order: u64 = both.reordering.iter().map(|row| u64::from(row.bytes)).sum();
        prop_assert_eq!(in_order, truth.bytes);

        for host in [Client, Server] {
            let alone = analyze(packets.iter().filter(|packet| packet.host == host).cloned().collect());
            prop_assert_eq!(transfer(&alone, Down).bytes, truth.bytes);
            let flows = [flow(&alone, 0, Down), flow(&alone, 1, Down)];
            if host == Client {
                prop_assert_eq!(flows.map(|row| row.delivered_bytes), truth.first_bytes.map(Some));
            } else if let [Some(wifi), Some(lte)] = flows.map(|row| row.delivered_bytes) {
                // The sender knows to within a point.
                prop_assert_eq!(wifi + lte, truth.bytes);
                prop_assert!(wifi.abs_diff(truth.first_bytes[0]) * 100 <= truth.bytes);
            } else {
                prop_assert!(truth.reinjected_bytes * 100 > truth.bytes, "nothing is left open");
                prop_assert!(diagnostics(&alone).contains(&"share_unknown"));
            }
            for row in flows {
                prop_assert_eq!(row.share, row.delivered_bytes.map(|bytes| bytes as f64 / truth.bytes as f64));
            }
        }

        // The order of files changes nothing, nor does a file per interface.
        let mut other_order = packets.clone();
        other_order.sort_by_key(|packet| packet.host == Client);
        prop_assert_eq!(rows(&analyze(other_order)), rows(&both));
        let split = Script { file_per_interface: true, ..Script::default() }.packets(&text);
        prop_assert_eq!(rows(&analyze(split)), rows(&both));
    }

    /// Nothing that packets say makes the analysis panic (sums are checked for overflow here), and tables stay whole.
    #[test]
    fn garbage(packets in prop::collection::vec(garbage_packet(), 0..200), sites in 1u32..4) {
        let mut analysis = Analysis::new(Options { samples: true, ..Options::default() });
        for point in 0..4 {
            analysis.add_point(Point { capture: String::new(), site: point % sites, interface: point.to_string() });
        }
        packets.iter().for_each(|packet| analysis.observe(packet));
        let tables = analysis.finish();
        prop_assert_eq!(tables.transfers.len(), 2 * tables.connections.len());
        prop_assert_eq!(tables.flows.len(), 2 * tables.subflows.len());
        let counted: u32 = tables.connections.iter().map(|row| row.subflows).sum();
        prop_assert_eq!(counted as usize, tables.subflows.len());
        prop_assert!(tables.connections.iter().enumerate().all(|(index, row)| row.connection == index as u32));
        prop_assert!(tables.flows.iter().filter_map(|row| row.share).all(|share| (0.0..=1.0).contains(&share)));
        prop_assert!(tables.rtt.iter().all(|row| row.rtt_ms >= 0.0));
        prop_assert!(tables.reordering.iter().all(|row| row.out_of_order_delay_ms >= 0.0));
        for table in tables::Tables::NAMES {
            prop_assert!(tables.batch(table).is_some());
        }
    }
}

/// Few addresses, keys and numbers, so that packets meet; and now and then any.
fn garbage_packet() -> impl Strategy<Value = Observation> {
    let number = || prop_oneof![Just(0u32), Just(1), Just(1001), Just(u32::MAX), 0u32..3000, any::<u32>()];
    let at = prop_oneof![8 => 0i64..10_000_000_000, 1 => any::<i64>()];
    let len = prop_oneof![3 => Just(0u32), 3 => 1u32..1500, 1 => 1500u32..70_000, 1 => Just(u32::MAX)];
    let flags = prop_oneof![2 => Just(0x02u8), 2 => Just(0x12), 4 => Just(0x10), 1 => Just(0x11), 1 => any::<u8>()];
    let direction = prop_oneof![8 => Just(None), 1 => Just(Some(CaptureDirection::Inbound)), 1 => Just(Some(CaptureDirection::Outbound))];
    let location = (0u8..3, 0u16..2, 0u8..3, 0u16..2, 0u32..5);
    let options = prop::collection::vec(garbage_option(), 0..3);
    (at, location, flags, (number(), number(), len), any::<u16>(), options, direction).prop_map(
        |(at, (from, from_port, to, to_port, point), flags, numbers, window, options, direction)| {
            let options = options.concat();
            let options = wire::Options::from_bytes(&options[..options.len().min(40)]).expect("at most 40 bytes");
            let address = |host: u8, port: u16| std::net::SocketAddr::from(([10, 0, 0, host], 443 + port));
            let ends = [address(from, from_port), address(to, to_port)];
            let mut packet = segment(0, ends, Flags(flags), numbers, options);
            if let wire::L4::Tcp(tcp) = &mut packet.frame.l4 {
                tcp.window = window;
            }
            let at = if (0..10_000_000_000).contains(&at) { EPOCH_NS + at } else { at };
            Observation { at: Time::from_nanos(at), point: PointId(point), direction, ..packet }
        },
    )
}

/// The bytes of an option.
fn bytes_of(option: TcpOption) -> Vec<u8> {
    let mut options = wire::Options::NONE;
    options.push(&option).map(|()| options.as_bytes().to_vec()).unwrap_or_default()
}

fn garbage_option() -> impl Strategy<Value = Vec<u8>> {
    let key = || prop_oneof![Just(1u64), Just(2), any::<u64>()];
    let near = |key: u64| (0u64..3000).prop_map(move |n| crypto::initial_data_seq(1, key).wrapping_add(n));
    let far = prop_oneof![Just(0u64), Just(u64::MAX), Just(1 << 63), any::<u64>()];
    let number = (prop_oneof![near(1), near(2), far], any::<bool>())
        .prop_map(|(number, long)| if long { DataNumber::Long(number) } else { DataNumber::Short(number as u32) });
    let capable = (0u8..3, any::<u8>(), prop::option::of((key(), prop::option::of((key(), any::<Option<u16>>())))));
    let capable = capable.prop_map(|(version, flags, keys)| {
        Mptcp::Capable(MpCapable {
            version,
            flags,
            sender_key: keys.map(|keys| keys.0),
            receiver_key: keys.and_then(|keys| keys.1).map(|keys| keys.0),
            data_len: keys.and_then(|keys| keys.1).and_then(|keys| keys.1),
            checksum: None,
        })
    });
    let token = prop_oneof![Just(crypto::token(1, 1)), Just(crypto::token(1, 2)), any::<u32>()];
    let join = prop_oneof![
        (token, 0u32..4).prop_map(|(token, nonce)| MpJoin::Syn { backup: false, address_id: 1, token, nonce }),
        (any::<u64>(), 0u32..4).prop_map(|(hmac, nonce)| MpJoin::SynAck { backup: true, address_id: 2, hmac, nonce }),
        Just(MpJoin::Ack { hmac: [7; 20] }),
    ];
    let subflow_seq = prop_oneof![Just(0u32), Just(1), 0u32..3000, any::<u32>()];
    let len = prop_oneof![Just(0u16), Just(1), 1u16..1500, any::<u16>()];
    let mapping = (number.clone(), subflow_seq, len);
    let dss = (prop::option::of(number), prop::option::of(mapping), prop::bool::weighted(0.2));
    let dss = dss.prop_map(|(data_ack, mapping, data_fin)| {
        let mapping =
            mapping.map(|(data_seq, subflow_seq, len)| Mapping { data_seq, subflow_seq, len, checksum: None });
        Mptcp::Dss(Dss { data_ack, mapping, data_fin })
    });
    let mptcp = prop_oneof![1 => capable, 1 => join.prop_map(Mptcp::Join), 2 => dss];
    // Any MPTCP option, well-formed or not.
    let raw = (any::<u8>(), prop::collection::vec(any::<u8>(), 0..20)).prop_map(|(first, rest)| {
        let mut bytes = vec![30, rest.len() as u8 + 3, first];
        bytes.extend(rest);
        bytes
    });
    prop_oneof![
        12 => mptcp.prop_map(|option| bytes_of(TcpOption::Mptcp(option))),
        2 => raw,
        1 => prop::collection::vec(any::<u8>(), 0..40),
        1 => any::<u16>().prop_map(|mss| bytes_of(TcpOption::MaximumSegmentSize(mss))),
        1 => any::<u8>().prop_map(|shift| bytes_of(TcpOption::WindowScale(shift))),
    ]
}
