//! Queues that mark packets rather than drop them (RFC 3168 §5).

mod common;

use common::{MS, S, at, element};
use link::{Direction, Element, Out, Reason};
use serde_json::{Value, json};
use wire::{Ecn, Flags, L4, Packet, Payload, Tcp};

/// What became of packets of one flow: when each left or was dropped, and what its ECN field says then.
#[derive(Default)]
struct Fate {
    sent: Vec<(i64, Ecn)>,
    dropped: Vec<(i64, Reason)>,
    marked: u64,
}

impl Fate {
    fn collect(&mut self, now: i64, out: &mut Out) {
        let marked = |packet: &Packet| (now, packet.frame.ip.ecn());
        self.sent.extend(out.sent.drain(..).map(|(_, packet)| marked(&packet)));
        self.dropped.extend(out.dropped.drain(..).map(|one| (now, one.reason)));
    }

    fn marks(&self) -> Vec<i64> {
        self.sent.iter().filter(|one| one.1 == Ecn::CongestionExperienced).map(|one| one.0).collect()
    }
}

/// Packets that say this, of 1500 bytes, at these times, to a queue that one of them leaves each millisecond.
fn through(queue: Value, ecn: Ecn, times: impl Iterator<Item = i64>) -> Fate {
    let mut server = element(&json!({"element": "rate", "rate": 12_000_000, "queue": queue}), 1, "a");
    let (mut fate, mut out) = (Fate::default(), Out::default());
    let run = |server: &mut dyn Element, fate: &mut Fate, out: &mut Out, end: i64| {
        while server.deadline().as_nanos() <= end && server.deadline().as_nanos() < i64::MAX {
            let now = server.deadline();
            server.wake(now, out);
            fate.collect(now.as_nanos(), out);
        }
    };
    for time in times {
        run(&mut *server, &mut fate, &mut out, time - 1);
        let mut packet = common::packet(1, 1500);
        packet.frame.ip.set_ecn(ecn);
        server.push(at(time), Direction::Up, packet, &mut out);
        fate.collect(time, &mut out);
    }
    run(&mut *server, &mut fate, &mut out, 60 * S);
    let mut states = Vec::new();
    server.queues(&mut states);
    fate.marked = states[0].marked;
    fate
}

/// Twice as fast as they leave.
fn overload() -> impl Iterator<Item = i64> {
    (0..10_000).map(|n| n * MS / 2)
}

/// RFC 8289 §5.5 on a queue that never empties while packets come: what would be dropped is marked.
#[test]
fn codel_marks_by_the_control_law() {
    for capable in [Ecn::Capable0, Ecn::Capable1] {
        let fate = through(json!({"queue": "codel", "packets": 1_000_000, "ecn": true}), capable, overload());
        assert!(fate.dropped.is_empty());
        assert_eq!(fate.sent.len(), 10_000);
        // What is marked at 110 ms leaves the server a millisecond later.
        let (first, marks) = (111 * MS, fate.marks());
        assert_eq!((marks[0], marks.len() as u64), (first, fate.marked));
        let mut next = first;
        for (index, mark) in marks.iter().enumerate().skip(1).take_while(|(_, mark)| **mark < 5 * S) {
            next += (100e6 / (index as f64).sqrt()) as i64;
            assert_eq!(*mark, (next + MS - 1) / MS * MS, "mark {index}");
        }
        assert!(marks.len() > 300, "{}", marks.len());
    }
}

/// Each queue has what its discipline has in Linux: FQ-CoDel marks, CoDel and PIE drop; and whose ends do not speak ECN are
/// dropped in any case.
#[test]
fn who_marks_by_itself() {
    for (queue, marks) in [("codel", false), ("fq-codel", true), ("pie", false)] {
        let fate = through(json!({"queue": queue}), Ecn::Capable0, overload().take(2_000));
        assert_eq!((fate.marked > 0, fate.marks().is_empty()), (marks, !marks), "{queue}");
        let fate = through(json!({"queue": queue, "ecn": true}), Ecn::NotCapable, overload().take(2_000));
        assert_eq!((fate.marked, fate.dropped.is_empty()), (0, false), "{queue}");
        let fate = through(json!({"queue": queue, "ecn": false}), Ecn::Capable0, overload().take(2_000));
        assert_eq!((fate.marked, fate.dropped.is_empty()), (0, false), "{queue}");
    }
}

/// A queue that marks is bounded all the same.
#[test]
fn what_finds_no_room_is_dropped() {
    let fate = through(json!({"queue": "fq-codel", "packets": 100}), Ecn::Capable0, overload());
    assert!(fate.marked > 100, "{} of {}", fate.marked, fate.sent.len());
    assert!(!fate.dropped.is_empty() && fate.dropped.iter().all(|one| one.1 == Reason::QueueFull));
}

/// RFC 8033 §5.1: marks do not shorten this queue, so the probability passes a tenth, and from there on it drops.
#[test]
fn pie_marks_up_to_a_tenth() {
    let queue = json!({"queue": "pie", "packets": 1_000_000, "ecn": true, "burst": 0});
    // A tenth more than leave.
    let fate = through(queue, Ecn::Capable0, (0..20_000).map(|n| n * MS * 10 / 11));
    let (marks, drops) = (fate.marks(), &fate.dropped);
    assert!(marks.len() > 10 && drops.len() > 100, "{} and {}", marks.len(), drops.len());
    assert!(drops.iter().all(|one| one.1 == Reason::QueueManaged));
    let first = drops[0].0;
    let before = marks.iter().filter(|mark| **mark < first).count();
    assert!(before > 10, "{before} of {} at {first}", marks.len());
}

/// A mark that a packet came with stays, and counts for the queue that would mark it.
#[test]
fn marks_stay() {
    let queue = json!({"queue": "drop-tail"});
    let fate = through(queue, Ecn::CongestionExperienced, overload().take(10));
    assert_eq!((fate.marks().len(), fate.marked), (10, 0));
}

/// RFC 3168 §5.3, §9: what passes keeps what its header says of congestion, pieces too.
#[test]
fn boxes_keep_what_packets_say() {
    for (value, pieces) in [
        (json!({"element": "nat"}), 1),
        (json!({"element": "firewall"}), 1),
        (json!({"element": "rewrite-sequence"}), 1),
        (json!({"element": "clamp-mss", "bytes": 1000}), 1),
        (json!({"element": "clamp-window", "bytes": 1000}), 1),
        (json!({"element": "strip-options"}), 1),
        (json!({"element": "split-segments"}), 3),
    ] {
        for ecn in [Ecn::Capable0, Ecn::Capable1, Ecn::CongestionExperienced] {
            let (mut one, mut out) = (element(&value, 1, "a"), Out::default());
            let packet = |flags: Flags, seq: u32, len: u32| {
                let mut packet = common::packet(1, 1500);
                packet.frame.l4 = L4::Tcp(Tcp { source_port: 5000, destination_port: 80, seq, flags, ..Tcp::BLANK });
                packet.frame.payload = Payload::unsaid(len);
                packet.frame.ip.set_ecn(ecn);
                packet
            };
            one.push(at(0), Direction::Up, packet(Flags::SYN, 0, 0), &mut out);
            out.sent.clear();
            one.push(at(1), Direction::Up, packet(Flags::ACK.with(Flags::CWR), 1, 1400), &mut out);
            let said: Vec<_> = out.sent.iter().map(|(_, packet)| packet.frame.ip.ecn()).collect();
            assert_eq!(said, vec![ecn; pieces], "{value}");
            // CWR is said once.
            let is_cwr = |packet: &Packet| matches!(&packet.frame.l4, L4::Tcp(tcp) if tcp.flags.has(Flags::CWR));
            let cwr: Vec<_> = out.sent.iter().map(|(_, packet)| is_cwr(packet)).collect();
            assert!(cwr[0] && !cwr[1..].contains(&true), "{value}");
        }
    }
}
