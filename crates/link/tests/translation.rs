//! 464XLAT: IPv4 over a carrier that has IPv6 only, by the rules of RFC 7915, and as tshark reads it.

mod common;

use common::{at, element};
use link::{Direction, Element, Out, Reason};
use serde_json::json;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::process::Command;
use wire::{Content, Flags, Fragment, Frame, Ip, L4, Options, Packet, Payload, Tcp, pattern};

use Direction::{Down, Up};

const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 1, 2));
const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 9, 0, 1));
const CLIENT6: IpAddr = IpAddr::V6(Ipv6Addr::new(0xfd00, 0x464, 0, 0, 0, 0, 0x0a00, 0x0102));
const SERVER6: IpAddr = IpAddr::V6(Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0x0a09, 0x0001));

fn ip(direction: Direction, [client, server]: [IpAddr; 2]) -> Ip {
    let (source, destination) = if direction == Up { (client, server) } else { (server, client) };
    Ip { source, destination, ttl: 64, tos: 0x2a, id: 77, dont_fragment: true, fragment: None }
}

fn tcp(direction: Direction, flags: Flags, len: u32) -> Box<Packet> {
    let (source_port, destination_port) = if direction == Up { (5000, 80) } else { (80, 5000) };
    let options = Options::NONE;
    let tcp = Tcp { source_port, destination_port, seq: 100, ack: 700, flags, window: 60_000, urgent: 0, options };
    let payload = Payload { len, content: Content::Pattern(0) };
    let frame = Frame { ip: ip(direction, [CLIENT, SERVER]), l4: L4::Tcp(tcp), payload };
    Box::new(Packet { frame, body: None })
}

fn icmp(ip: Ip, kind: u8, code: u8, rest: [u8; 4], quoted: &[u8]) -> Box<Packet> {
    let payload = Payload::unsaid(quoted.len() as u32);
    Box::new(Packet { frame: Frame { ip, l4: L4::Icmp { kind, code, rest }, payload }, body: Some(quoted.into()) })
}

fn bytes(packet: &Packet) -> Vec<u8> {
    let mut bytes = Vec::new();
    packet.emit(&mut bytes, None).unwrap();
    bytes
}

fn xlat() -> [Box<dyn Element>; 2] {
    ["clat", "nat64"].map(|name| element(&json!({"element": name}), 1, name))
}

/// What becomes of it at one element.
fn pass(one: &mut dyn Element, direction: Direction, packet: Box<Packet>) -> Result<Box<Packet>, Reason> {
    let mut out = Out::default();
    one.push(at(0), direction, packet, &mut out);
    match (out.sent.pop(), out.dropped.pop()) {
        (Some((way, packet)), None) if way == direction => Ok(packet),
        (None, Some(dropped)) => Err(dropped.reason),
        other => panic!("{other:?}"),
    }
}

/// Through both, and what it was between them.
fn across([clat, nat64]: &mut [Box<dyn Element>; 2], direction: Direction, packet: Box<Packet>) -> [Box<Packet>; 2] {
    let (first, last) = if direction == Up { (clat, nat64) } else { (nat64, clat) };
    let between = pass(&mut **first, direction, packet).unwrap();
    let outside = pass(&mut **last, direction, between.clone()).unwrap();
    [between, outside]
}

#[test]
fn segments_are_longer_between_and_as_before_behind() {
    let mut both = xlat();
    let sent = tcp(Up, Flags::SYN, 1400);
    let [between, outside] = across(&mut both, Up, sent.clone());
    // RFC 7915 §4.1: the traffic class, the hop limit, no identification; 20 bytes more.
    let header = Ip { source: CLIENT6, destination: SERVER6, ttl: 63, id: 0, ..sent.frame.ip };
    assert_eq!(between.frame, Frame { ip: header, ..sent.frame });
    assert_eq!(between.frame.wire_len(), sent.frame.wire_len() + 20);
    assert_eq!(bytes(&between)[60..], bytes(&sent)[40..]);
    // §5.1; and RFC 6146 §3.5: a port that the translator chose.
    assert_eq!(outside.frame.ip, Ip { ttl: 62, id: 0, ..sent.frame.ip });
    let L4::Tcp(public) = outside.frame.l4 else { unreachable!() };
    assert_ne!(public.source_port, 5000);
    assert_eq!(outside.frame.payload, sent.frame.payload);
    let mut answer = tcp(Down, Flags::ACK, 0);
    answer.frame.l4.to_tcp().destination_port = public.source_port;
    let [between, inside] = across(&mut both, Down, answer);
    assert_eq!((between.frame.ip.source, between.frame.ip.destination), (SERVER6, CLIENT6));
    assert_eq!(inside.frame.l4, tcp(Down, Flags::ACK, 0).frame.l4);
}

/// RFC 7915 §5.1: what is so short could not have been too big, and may be cut.
#[test]
fn short_packets_may_be_cut() {
    for (len, dont_fragment) in [(1220, false), (1221, true)] {
        let [_, outside] = across(&mut xlat(), Up, tcp(Up, Flags::SYN, len));
        assert_eq!((outside.frame.wire_len(), outside.frame.ip.dont_fragment), (len + 40, dont_fragment));
    }
}

#[test]
fn what_says_nothing_in_the_other_family_is_dropped() {
    let [mut clat, mut nat64] = xlat();
    let mut piece = tcp(Up, Flags::ACK, 100);
    piece.frame.ip.fragment = Some(Fragment { offset: 0, more: true });
    assert_eq!(pass(&mut *clat, Up, piece).unwrap_err(), Reason::NoMapping);
    let mut old = tcp(Up, Flags::ACK, 100);
    old.frame.ip.ttl = 1;
    assert_eq!(pass(&mut *clat, Up, old).unwrap_err(), Reason::Unreachable);
    let redirect = icmp(ip(Up, [CLIENT, SERVER]), 5, 0, [0; 4], &bytes(&tcp(Down, Flags::ACK, 0)));
    assert_eq!(pass(&mut *clat, Up, redirect).unwrap_err(), Reason::NoMapping);
    // A translator of state lets nothing in that nobody asked for, and nothing out that no SYN began (RFC 6146 §3.5.2.2).
    assert_eq!(pass(&mut *nat64, Down, tcp(Down, Flags::ACK, 0)).unwrap_err(), Reason::NoMapping);
    let between = pass(&mut *clat, Up, tcp(Up, Flags::ACK, 0)).unwrap();
    assert_eq!(pass(&mut *nat64, Up, between).unwrap_err(), Reason::NoMapping);
    // IPv6 of others is none of theirs.
    let mut other = tcp(Up, Flags::SYN, 0);
    (other.frame.ip.source, other.frame.ip.destination) = (CLIENT6, "fd00:9::1".parse().unwrap());
    for one in [&mut clat, &mut nat64] {
        for direction in [Up, Down] {
            assert_eq!(pass(&mut **one, direction, other.clone()), Ok(other.clone()));
        }
    }
}

/// Type, code and what follows them, of IPv4 and of IPv6.
type Icmp = (u8, u8, [u8; 4]);
type Icmpv6 = (u8, u8, u32);

/// RFC 7915 §4.2: type, code and pointer or MTU of IPv4, and of IPv6; none: it is dropped.
const TO_V6: [(Icmp, Option<Icmpv6>); 24] = [
    ((8, 0, [0, 1, 0, 2]), Some((128, 0, 0x0001_0002))),
    ((0, 0, [0, 1, 0, 2]), Some((129, 0, 0x0001_0002))),
    ((3, 0, [0; 4]), Some((1, 0, 0))),
    ((3, 1, [0; 4]), Some((1, 0, 0))),
    ((3, 2, [0; 4]), Some((4, 1, 6))),
    ((3, 3, [0; 4]), Some((1, 4, 0))),
    ((3, 4, [0, 0, 0x05, 0xc8]), Some((2, 0, 1500))), // 1480
    ((3, 4, [0, 0, 0x02, 0x40]), Some((2, 0, 1280))), // 576
    ((3, 4, [0; 4]), Some((2, 0, 1280))),             // not said, and a quote of 140 bytes
    ((3, 5, [0; 4]), Some((1, 0, 0))),
    ((3, 9, [0; 4]), Some((1, 1, 0))),
    ((3, 10, [0; 4]), Some((1, 1, 0))),
    ((3, 13, [0; 4]), Some((1, 1, 0))),
    ((3, 14, [0; 4]), None),
    ((3, 15, [0; 4]), Some((1, 1, 0))),
    ((11, 0, [0; 4]), Some((3, 0, 0))),
    ((11, 1, [0; 4]), Some((3, 1, 0))),
    ((12, 0, [8, 0, 0, 0]), Some((4, 0, 7))),
    ((12, 0, [12, 0, 0, 0]), Some((4, 0, 8))),
    ((12, 0, [4, 0, 0, 0]), None),
    ((12, 1, [0; 4]), None),
    ((4, 0, [0; 4]), None),
    ((5, 0, [0; 4]), None),
    ((13, 0, [0; 4]), None),
];

/// §5.2.
const TO_V4: [(Icmpv6, Option<Icmp>); 17] = [
    ((128, 0, 0x0001_0002), Some((8, 0, [0, 1, 0, 2]))),
    ((129, 0, 0x0001_0002), Some((0, 0, [0, 1, 0, 2]))),
    ((1, 0, 0), Some((3, 1, [0; 4]))),
    ((1, 1, 0), Some((3, 10, [0; 4]))),
    ((1, 2, 0), Some((3, 1, [0; 4]))),
    ((1, 3, 0), Some((3, 1, [0; 4]))),
    ((1, 4, 0), Some((3, 3, [0; 4]))),
    ((2, 0, 1500), Some((3, 4, [0, 0, 0x05, 0xc8]))), // 1480
    ((3, 0, 0), Some((11, 0, [0; 4]))),
    ((3, 1, 0), Some((11, 1, [0; 4]))),
    ((4, 0, 7), Some((12, 0, [8, 0, 0, 0]))),
    ((4, 0, 24), Some((12, 0, [16, 0, 0, 0]))),
    ((4, 0, 2), None),
    ((4, 1, 0), Some((3, 2, [0; 4]))),
    ((4, 2, 0), None),
    ((130, 0, 0), None),
    ((137, 0, 0), None),
];

#[test]
fn messages_say_the_same() {
    for ((kind, code, rest), expected) in TO_V6 {
        let quoted = bytes(&tcp(Down, Flags::ACK, 100));
        let message = icmp(ip(Up, [CLIENT, SERVER]), kind, code, rest, &quoted);
        let said = pass(&mut *xlat()[0], Up, message).map(|packet| packet.frame.l4);
        let expected = expected.map(|(kind, code, rest)| L4::Icmp { kind, code, rest: rest.to_be_bytes() });
        assert_eq!(said, expected.ok_or(Reason::NoMapping), "{kind} {code} {rest:?}");
    }
    for ((kind, code, rest), expected) in TO_V4 {
        let quoted = bytes(&pass(&mut *xlat()[0], Up, tcp(Up, Flags::ACK, 100)).unwrap());
        let message = icmp(ip(Down, [CLIENT6, SERVER6]), kind, code, rest.to_be_bytes(), &quoted);
        let said = pass(&mut *xlat()[0], Down, message).map(|packet| packet.frame.l4);
        let expected = expected.map(|(kind, code, rest)| L4::Icmp { kind, code, rest });
        assert_eq!(said, expected.ok_or(Reason::NoMapping), "{kind} {code} {rest}");
    }
}

/// An error about what was too big for the carrier quotes what the client had sent, and its own MTU: 20 bytes less.
#[test]
fn the_sender_learns_what_fits() {
    let [mut clat, _] = xlat();
    let sent = tcp(Up, Flags::ACK, 1460);
    let between = pass(&mut *clat, Up, sent.clone()).unwrap();
    let mut carrier = element(&json!({"element": "mtu", "bytes": 1500}), 1, "mtu");
    let mut out = Out::default();
    carrier.push(at(0), Up, between, &mut out);
    let (_, error) = out.sent.pop().unwrap();
    let error = pass(&mut *clat, Down, error).unwrap();
    assert_eq!(error.frame.l4, L4::Icmp { kind: 3, code: 4, rest: [0, 0, 0x05, 0xc8] });
    assert_eq!((error.frame.ip.source, error.frame.ip.destination), (SERVER, CLIENT));
    let (quoted, original) = (error.body.unwrap(), bytes(&sent));
    // But for the hop limit, what IPv6 has no room for, and the checksum of both.
    assert_eq!(
        (quoted[..4].to_vec(), quoted[12..].to_vec()),
        (original[..4].to_vec(), original[12..quoted.len()].to_vec())
    );
}

/// What came in, as the client quotes it, is for the carrier what had passed it, checksum and all, a hop further.
#[test]
fn a_quote_is_what_had_passed() {
    let datagram = |direction| {
        let mut packet = tcp(direction, Flags::ACK, 33);
        packet.frame.l4 = if direction == Up { L4::udp(5000, 9) } else { L4::udp(9, 5000) };
        packet
    };
    let echo = |direction, kind| icmp(ip(direction, [CLIENT, SERVER]), kind, 0, [0, 1, 0, 2], &[7; 33]);
    let pairs = [
        [tcp(Up, Flags::SYN, 0), tcp(Down, Flags::ACK, 30)],
        [datagram(Up), datagram(Down)],
        [echo(Up, 8), echo(Down, 0)],
    ];
    for [asks, mut answers] in pairs {
        let mut both = xlat();
        match (across(&mut both, Up, asks)[1].frame.l4, &mut answers.frame.l4) {
            (L4::Tcp(public), L4::Tcp(tcp)) => tcp.destination_port = public.source_port,
            (L4::Udp { source_port, .. }, L4::Udp { destination_port, .. }) => *destination_port = source_port,
            _ => {}
        }
        let [between, inside] = across(&mut both, Down, answers);
        let unreachable = icmp(ip(Up, [CLIENT, SERVER]), 3, 3, [0; 4], &bytes(&inside));
        let quoted = pass(&mut *both[0], Up, unreachable).unwrap().body.unwrap();
        let mut passed = bytes(&between);
        passed[7] -= 1;
        assert_eq!(*quoted, *passed);
    }
}

/// Every checksum is right, and nothing malformed, as tshark reads what is between and behind.
#[test]
fn tshark_reads_it() {
    let mut datagram = icmp(ip(Up, [CLIENT, SERVER]), 8, 0, [0, 1, 0, 2], &[7; 33]);
    let echo = datagram.clone();
    datagram.frame.l4 = L4::udp(5000, 9);
    let mut found = Vec::new();
    let mut keep = |packet: &Packet| found.push(bytes(packet));
    for packet in [tcp(Up, Flags::SYN, 0), tcp(Up, Flags::ACK, 1399), datagram, echo] {
        let mut both = xlat();
        across(&mut both, Up, tcp(Up, Flags::SYN, 0));
        across(&mut both, Up, packet).iter().for_each(|packet| keep(packet));
    }
    let unreachable = icmp(ip(Up, [CLIENT, SERVER]), 3, 3, [0; 4], &bytes(&tcp(Down, Flags::ACK, 30)));
    keep(&pass(&mut *xlat()[0], Up, unreachable).unwrap());
    let length = |packet: &Vec<u8>| u32::try_from(packet.len()).unwrap().to_le_bytes();
    let mut pcap = [0xa1b2_c3d4u32, 0x0004_0002, 0, 0, 65_535, 101].map(u32::to_le_bytes).concat();
    for packet in &found {
        pcap.extend([[0; 4], [0; 4], length(packet), length(packet)].concat());
        pcap.extend(packet);
    }
    let file = std::env::temp_dir().join(format!("translation-{}.pcap", std::process::id()));
    #[expect(clippy::disallowed_methods, reason = "a test may write files")]
    std::fs::write(&file, pcap).unwrap();
    let checked = ["ip", "tcp", "udp"].map(|name| format!("{name}.check_checksum:TRUE"));
    let mut command = Command::new("tshark");
    command.arg("-r").arg(&file).args(checked.iter().flat_map(|one| ["-o", one]));
    let fields =
        ["ipv6.src", "ip.checksum.status", "tcp.checksum.status", "udp.checksum.status", "icmp.checksum.status"];
    let more = ["icmpv6.checksum.status", "_ws.malformed"];
    command.args(["-T", "fields", "-E", "separator=;"]).args(fields.iter().chain(&more).flat_map(|one| ["-e", one]));
    let output = command.output();
    std::fs::remove_file(&file).unwrap();
    let Ok(output) = output else {
        assert!(std::env::var_os("MPTCPLAB_REQUIRE").is_none(), "tshark is not installed");
        return eprintln!("skipped: tshark is not installed");
    };
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 9, "{text}");
    // 1: good, as text or number. 2: of what an error quotes it is not looked at.
    let good = |cell: &str| cell.split(',').all(|one| matches!(one, "" | "1" | "2" | "Good" | "Unverified"));
    for line in text.lines() {
        let mut cells = line.split(';');
        let sources = cells.next().unwrap();
        assert!(sources.is_empty() || sources.starts_with("fd00:464::a00:102"), "{line}");
        assert!(cells.clone().all(good) && cells.any(|cell| !cell.is_empty()), "{line}");
    }
}

#[test]
fn payload_stays() {
    let [between, outside] = across(&mut xlat(), Up, tcp(Up, Flags::SYN, 1000));
    let mut stream = vec![0; 1000];
    pattern::fill(0, &mut stream);
    for packet in [between, outside] {
        assert!(bytes(&packet).ends_with(&stream));
    }
}
