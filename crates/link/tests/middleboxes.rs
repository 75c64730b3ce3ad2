//! What middleboxes do to segments, each held to what its description says.

mod common;

use common::{MS, S, at, element};
use link::{Direction, Element, Out, Reason};
use serde_json::{Value, json};
use std::net::IpAddr;
use wire::{Content, Flags, Frame, Ip, L4, Options, Packet, Payload, SackBlocks, Tcp, TcpOption, Time, pattern};

use Direction::{Down, Up};

const ACK: Flags = Flags::ACK;
const SYN: Flags = Flags::SYN;

/// A segment between port 5000 of the client and port 80 of the server.
fn segment(direction: Direction, flags: Flags, seq: u32, len: u32) -> Box<Packet> {
    let ends = [(IpAddr::from([10, 0, 0, 2]), 5000), (IpAddr::from([10, 9, 0, 1]), 80)];
    let ((source, source_port), (destination, destination_port)) =
        if direction == Up { (ends[0], ends[1]) } else { (ends[1], ends[0]) };
    let tcp =
        Tcp { source_port, destination_port, seq, ack: 700, flags, window: 60_000, urgent: 0, options: Options::NONE };
    let ip = Ip { source, destination, ttl: 64, tos: 0, id: 0, dont_fragment: true, fragment: None };
    let payload = Payload { len, content: Content::Pattern(u64::from(seq)) };
    Box::new(Packet { frame: Frame { ip, l4: L4::Tcp(tcp), payload }, body: None })
}

fn syn(option: &TcpOption) -> Box<Packet> {
    let mut packet = segment(Up, SYN, 100, 0);
    tcp(&mut packet).options.push(option).unwrap();
    packet
}

fn tcp(packet: &mut Packet) -> &mut Tcp {
    packet.frame.l4.to_tcp()
}

fn bytes(packet: &Packet) -> Vec<u8> {
    let mut bytes = Vec::new();
    packet.emit(&mut bytes, None).unwrap();
    bytes.split_off(bytes.len() - packet.frame.payload.len as usize)
}

fn stream(from: u64, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    pattern::fill(from, &mut bytes);
    bytes
}

struct Lab(Box<dyn Element>);

impl Lab {
    fn of(value: &Value) -> Lab {
        Lab(element(value, 1, "a"))
    }

    /// What comes of a packet at a time: what leaves, and why others end.
    fn all(&mut self, now: i64, direction: Direction, packet: Box<Packet>) -> (Vec<(Direction, Packet)>, Vec<Reason>) {
        let mut out = Out::default();
        self.0.push(at(now), direction, packet, &mut out);
        let sent = out.sent.into_iter().map(|(direction, packet)| (direction, *packet)).collect();
        (sent, out.dropped.into_iter().map(|one| one.reason).collect())
    }

    /// Of one that passes.
    fn pass(&mut self, now: i64, direction: Direction, packet: Box<Packet>) -> Packet {
        match self.all(now, direction, packet) {
            (mut sent, dropped) if dropped.is_empty() && sent.len() == 1 && sent[0].0 == direction => sent.remove(0).1,
            other => panic!("{other:?}"),
        }
    }

    /// Of one that ends, without a word.
    fn end(&mut self, now: i64, direction: Direction, packet: Box<Packet>) -> Reason {
        match self.all(now, direction, packet) {
            (sent, dropped) if sent.is_empty() && dropped.len() == 1 => dropped[0],
            other => panic!("{other:?}"),
        }
    }

    fn wake(&mut self) -> (Time, Vec<Packet>) {
        let (now, mut out) = (self.0.deadline(), Out::default());
        self.0.wake(now, &mut out);
        (now, out.sent.into_iter().map(|(_, packet)| *packet).collect())
    }
}

#[test]
fn a_nat_gives_a_port_and_takes_it_back() {
    for (forgotten, rebinds) in [("drop", false), ("rebind", true)] {
        let mut nat = Lab::of(&json!({"element": "nat", "idle": S, "forgotten": forgotten}));
        let port = tcp(&mut nat.pass(0, Up, segment(Up, SYN, 100, 0))).source_port;
        assert!(port >= 1024 && port != 5000, "{port}");
        let down = |port| {
            let mut packet = segment(Down, ACK, 500, 10);
            tcp(&mut packet).destination_port = port;
            packet
        };
        // Both directions keep it alive, each packet by a second.
        for now in [0, S - 1, 2 * S - 2] {
            assert_eq!(nat.pass(now, Down, down(port)), *segment(Down, ACK, 500, 10));
        }
        assert_eq!(tcp(&mut nat.pass(3 * S - 3, Up, segment(Up, ACK, 101, 0))).source_port, port);
        assert_eq!(nat.end(4 * S - 3, Down, down(port)), Reason::NoMapping);
        if rebinds {
            let new = tcp(&mut nat.pass(4 * S, Up, segment(Up, ACK, 101, 0))).source_port;
            assert_ne!(new, port);
            assert_eq!(nat.end(4 * S, Down, down(port)), Reason::NoMapping);
            nat.pass(4 * S, Down, down(new));
        } else {
            assert_eq!(nat.end(4 * S, Up, segment(Up, ACK, 101, 0)), Reason::NoMapping);
            nat.pass(4 * S, Up, segment(Up, SYN, 100, 0));
        }
        assert_eq!(nat.end(4 * S, Down, down(5000)), Reason::NoMapping);
    }
}

#[test]
fn a_nat_and_errors_from_beyond_it() {
    let mut nat = Lab::of(&json!({"element": "nat"}));
    let mut box_beyond = Lab::of(&json!({"element": "mtu", "bytes": 1000}));
    let outside = nat.pass(0, Up, segment(Up, SYN, 100, 1000));
    let (sent, dropped) = box_beyond.all(0, Up, Box::new(outside));
    assert_eq!((sent.len(), dropped), (1, vec![Reason::TooBig]));
    let (direction, error) = sent.into_iter().next().unwrap();
    assert_eq!(direction, Down);
    let inside = nat.pass(0, Down, Box::new(error));
    // What it quotes is what the client sent, checksums and all.
    let mut whole = Vec::new();
    segment(Up, SYN, 100, 1000).emit(&mut whole, None).unwrap();
    assert_eq!(inside.payload(), &whole[..548]);
    assert_eq!(inside.frame.l4, L4::Icmp { kind: 3, code: 4, rest: [0, 0, 3, 232] });
}

#[test]
fn a_firewall_forgets_and_says_so_or_not() {
    for reset in [false, true] {
        let mut firewall = Lab::of(&json!({"element": "firewall", "idle": S, "reset": reset}));
        let refused = |lab: &mut Lab, now, direction: Direction| {
            let (mut sent, dropped) = lab.all(now, direction, segment(direction, ACK, 101, 10));
            assert_eq!(dropped, [Reason::Filtered]);
            assert_eq!(sent.len(), usize::from(reset));
            for (back, packet) in &mut sent {
                assert_eq!(
                    (*back, packet.frame.ip.destination),
                    (direction.reverse(), segment(direction, ACK, 0, 0).frame.ip.source)
                );
                assert_eq!((tcp(packet).flags, tcp(packet).seq), (Flags::RST, 700));
            }
        };
        refused(&mut firewall, 0, Up);
        refused(&mut firewall, 0, Down);
        firewall.pass(0, Up, segment(Up, SYN, 100, 0));
        firewall.pass(S - 1, Down, segment(Down, SYN.with(ACK), 500, 0));
        firewall.pass(2 * S - 2, Up, segment(Up, ACK, 101, 0));
        refused(&mut firewall, 3 * S - 2, Down);
        // Only the client's SYN begins another.
        assert_eq!(firewall.all(3 * S, Down, segment(Down, SYN, 1, 0)).1, [Reason::Filtered]);
        firewall.pass(3 * S, Up, segment(Up, SYN, 100, 0));
    }
}

#[test]
fn a_firewall_that_lets_no_subflow_join() {
    let join = [0x1e, 0x0c, 0x10, 0, 1, 2, 3, 4, 5, 6, 7, 8];
    let capable = [0x1e, 0x04, 0x01, 0x01];
    for (options, joins, passes) in [(&join[..], false, false), (&join, true, true), (&capable, false, true)] {
        let mut firewall = Lab::of(&json!({"element": "firewall", "joins": joins}));
        let mut packet = segment(Up, SYN, 100, 0);
        tcp(&mut packet).options = Options::from_bytes(options).unwrap();
        assert_eq!(firewall.all(0, Up, packet).1.is_empty(), passes);
    }
}

#[test]
fn options_become_others_and_lengths_stay() {
    let capable = [0x1e, 0x04, 0x01, 0x01];
    for (how, differs) in [("replace", 0..1), ("flip", 3..4), ("length", 1..2)] {
        let mut garble = Lab::of(&json!({"element": "garble-options", "how": how, "segments": "syn"}));
        let mut packet = segment(Up, SYN, 100, 0);
        tcp(&mut packet).options = Options::from_bytes(&capable).unwrap();
        let mut given = packet.clone();
        let mut there = garble.pass(0, Up, packet);
        let (before, after) = (tcp(&mut given).options, tcp(&mut there).options);
        let other: Vec<usize> = (0..4).filter(|&at| before.as_bytes()[at] != after.as_bytes()[at]).collect();
        assert_eq!(other, differs.collect::<Vec<_>>(), "{how}");
        let flips = (before.as_bytes()[3] ^ after.as_bytes()[3]).count_ones();
        assert_eq!(flips, u32::from(how == "flip"));
        tcp(&mut given).flags = ACK;
        assert_eq!(garble.pass(0, Up, given.clone()), *given, "no SYN");
    }
}

#[test]
fn numbers_are_shifted_there_and_back() {
    for sack in [true, false] {
        let mut boxed = Lab::of(&json!({"element": "rewrite-sequence", "sack": sack}));
        let midway = segment(Up, ACK, 101, 10);
        assert_eq!(boxed.pass(0, Up, midway.clone()), *midway);
        let up = tcp(&mut boxed.pass(0, Up, segment(Up, SYN, 100, 0))).seq.wrapping_sub(100);
        let mut answer = segment(Down, SYN.with(ACK), 500, 0);
        tcp(&mut answer).ack = 101_u32.wrapping_add(up);
        let mut answer = boxed.pass(0, Down, answer);
        let down = tcp(&mut answer).seq.wrapping_sub(500);
        assert_eq!(tcp(&mut answer).ack, 101);
        assert!(up != 0 && down != 0 && up != down);
        // The client says what it has of the server's, in the numbers that it knows.
        let mut ack = segment(Up, ACK, 101, 0);
        tcp(&mut ack).ack = 501_u32.wrapping_add(down);
        let block = (600_u32.wrapping_add(down), 700_u32.wrapping_add(down));
        tcp(&mut ack).options.push(&TcpOption::Sack(SackBlocks::new(&[block]))).unwrap();
        let mut there = boxed.pass(0, Up, ack);
        assert_eq!((tcp(&mut there).seq, tcp(&mut there).ack), (101_u32.wrapping_add(up), 501));
        let expected = if sack { (600, 700) } else { block };
        assert_eq!(tcp(&mut there).options.brief().sack.as_slice(), [expected]);
    }
}

#[test]
fn pieces_are_the_segment() {
    for (options, copied) in [("each", true), ("first", false)] {
        let mut split = Lab::of(&json!({"element": "split-segments", "largest": 400, "options": options}));
        let mut packet = segment(Up, ACK.with(Flags::PSH), 1000, 1000);
        tcp(&mut packet).options = Options::from_bytes(&[0x1e, 0x04, 0x20, 0x00]).unwrap();
        let (mut sent, _) = split.all(0, Up, packet);
        let lens: Vec<_> = sent.iter_mut().map(|(_, one)| (tcp(one).seq, one.frame.payload.len)).collect();
        assert_eq!(lens, [(1000, 400), (1400, 400), (1800, 200)]);
        let whole: Vec<u8> = sent.iter().flat_map(|(_, one)| bytes(one)).collect();
        assert_eq!(whole, stream(1000, 1000));
        let has: Vec<_> = sent.iter_mut().map(|(_, one)| tcp(one).options.as_bytes()[0] == 0x1e).collect();
        assert_eq!(has, [true, copied, copied]);
        let pushes: Vec<_> = sent.iter_mut().map(|(_, one)| tcp(one).flags.has(Flags::PSH)).collect();
        assert_eq!(pushes, [false, false, true]);
    }
}

#[test]
fn segments_wait_for_those_that_follow() {
    for (options, kind) in [("first", 0x1e), ("last", 0xfd)] {
        let mut join =
            Lab::of(&json!({"element": "coalesce-segments", "wait": 5 * MS, "largest": 1000, "options": options}));
        let part = |seq, kind: u8| {
            let mut packet = segment(Up, ACK, seq, 400);
            tcp(&mut packet).options = Options::from_bytes(&[kind, 0x04, 0x20, 0x00]).unwrap();
            packet
        };
        assert!(join.all(0, Up, part(1000, 0x1e)).0.is_empty());
        assert!(join.all(MS, Up, part(1400, 0xfd)).0.is_empty());
        // For a third there is no room: it waits for itself.
        let mut merged = join.pass(2 * MS, Up, part(1800, 0xfd));
        assert_eq!((tcp(&mut merged).seq, merged.frame.payload.len), (1000, 800));
        assert_eq!(tcp(&mut merged).options.as_bytes()[0], kind);
        assert_eq!(bytes(&merged), stream(1000, 800));
        let (now, last) = join.wake();
        assert_eq!((now, last.len(), join.0.deadline()), (at(7 * MS), 1, Time::MAX));
        // What does not follow, and what ends a burst, waits for nothing; an ACK lets what is before it go first.
        join.all(S, Up, part(3000, 0x1e));
        let (mut both, _) = join.all(S, Up, segment(Up, ACK, 3400, 0));
        assert_eq!(both.iter_mut().map(|(_, one)| tcp(one).seq).collect::<Vec<_>>(), [3000, 3400]);
        join.pass(S, Up, segment(Up, ACK.with(Flags::PSH), 3400, 10));
    }
}

/// Data that is contiguous in the subflow and not in the connection.
#[test]
fn joined_bytes_are_those_that_came() {
    let mut join = Lab::of(&json!({"element": "coalesce-segments"}));
    let mut second = segment(Up, ACK.with(Flags::PSH), 1100, 100);
    second.frame.payload.content = Content::Pattern(77_777);
    join.all(0, Up, segment(Up, ACK, 1000, 100));
    let (sent, _) = join.all(0, Up, second);
    assert_eq!(bytes(&sent[0].1), [stream(1000, 100), stream(77_777, 100)].concat());
}

#[test]
fn windows_are_clamped_as_they_are_scaled() {
    for (scales, expected) in [([Some(2), Some(4)], [2500, 625]), ([Some(2), None], [10_000, 10_000])] {
        let mut clamp = Lab::of(&json!({"element": "clamp-window", "bytes": 10_000}));
        for (direction, flags, scale) in [(Up, SYN, scales[0]), (Down, SYN.with(ACK), scales[1])] {
            let mut packet = segment(direction, flags, 0, 0);
            if let Some(shift) = scale {
                tcp(&mut packet).options.push(&TcpOption::WindowScale(shift)).unwrap();
            }
            // The window of a SYN has no scale.
            assert_eq!(tcp(&mut clamp.pass(0, direction, packet)).window, 10_000);
        }
        for (direction, window) in [(Up, expected[0]), (Down, expected[1])] {
            assert_eq!(tcp(&mut clamp.pass(0, direction, segment(direction, ACK, 1, 0))).window, window);
        }
    }
}

#[test]
fn segment_sizes_of_syns_are_clamped() {
    let mut clamp = Lab::of(&json!({"element": "clamp-mss", "bytes": 1200}));
    for (said, expected) in [(1460, 1200), (1000, 1000)] {
        let passed = clamp.pass(0, Up, syn(&TcpOption::MaximumSegmentSize(said)));
        assert_eq!(passed, *syn(&TcpOption::MaximumSegmentSize(expected)));
    }
}

#[test]
fn what_is_too_big_ends_and_the_sender_may_hear_of_it() {
    let mut silent = Lab::of(&json!({"element": "mtu", "bytes": 1000, "answer": "silent"}));
    silent.pass(0, Up, segment(Up, ACK, 0, 960));
    assert_eq!(silent.end(0, Up, segment(Up, ACK, 0, 961)), Reason::TooBig);
    let mut telling = Lab::of(&json!({"element": "mtu", "bytes": 1000}));
    let (sent, dropped) = telling.all(0, Down, segment(Down, ACK, 0, 961));
    assert_eq!((sent.len(), dropped), (1, vec![Reason::TooBig]));
    let (direction, answer) = &sent[0];
    assert_eq!((*direction, answer.frame.ip.destination), (Up, IpAddr::from([10, 9, 0, 1])));
    assert!(answer.frame.wire_len() <= 576);
    // An error that is too big itself is none to answer (RFC 1122 §3.2.2).
    let mut again = Lab::of(&json!({"element": "mtu", "bytes": 100}));
    assert_eq!(again.end(0, Up, Box::new(answer.clone())), Reason::TooBig);
}

#[test]
fn acks_without_data_wait() {
    let mut delay = Lab::of(&json!({"element": "ack-delay", "delay": 5 * MS}));
    for passes in [segment(Up, SYN, 0, 0), segment(Up, ACK, 1, 10), segment(Up, ACK.with(Flags::FIN), 11, 0)] {
        delay.pass(0, Up, passes);
    }
    assert!(delay.all(0, Up, segment(Up, ACK, 1, 0)).0.is_empty());
    let (now, sent) = delay.wake();
    assert_eq!((now, sent), (at(5 * MS), vec![*segment(Up, ACK, 1, 0)]));
}

#[test]
fn a_byte_of_every_third_segment_is_another() {
    let mut alter = Lab::of(&json!({"element": "alter-payload", "every": 3}));
    for number in 1..=6_u32 {
        let mut expected = stream(u64::from(number), 10);
        expected[0] ^= u8::from(number % 3 == 0);
        let _ = alter.pass(0, Up, segment(Up, ACK, 0, 0));
        assert_eq!(bytes(&alter.pass(0, Up, segment(Up, ACK, number, 10))), expected);
    }
}
