//! Who waits, who is dropped, and what is said about it.

mod common;

use common::{Fate, MS, S, element};
use link::{Direction, Element, Out, Reason};
use serde_json::{Value, json};
use wire::{L4, Packet, Payload};

/// 1500 bytes take 1 ms.
fn server(queue: Value) -> Box<dyn Element> {
    element(&json!({"element": "rate", "rate": 12_000_000, "queue": queue}), 1, "a")
}

fn dropped(fate: &Fate) -> Vec<(i64, u32)> {
    assert!(fate.dropped.iter().all(|one| one.3 == Reason::QueueFull));
    fate.dropped.iter().map(|one| (one.0, one.2)).collect()
}

#[test]
fn drop_tail_drops_what_comes() {
    for queue in [
        json!({"queue": "drop-tail", "packets": 2}),
        json!({"queue": "drop-tail", "bytes": 3000}),
        json!({"queue": "drop-tail", "bytes": 4499, "packets": 50}),
        // 2 ms at 12 Mbit/s are 3000 bytes.
        json!({"queue": "drop-tail", "delay": 2 * MS}),
    ] {
        let fate = Fate::of(&mut *server(queue), [0, 1, 2, 3, 4], 1500, S);
        assert_eq!(fate.numbers(), [0, 1, 2]);
        assert_eq!(dropped(&fate), [(3, 3), (4, 4)]);
    }
}

#[test]
fn drop_head_drops_what_waited_longest() {
    let fate = Fate::of(&mut *server(json!({"queue": "drop-head", "packets": 2})), [0, 1, 2, 3, 4], 1500, S);
    assert_eq!(fate.numbers(), [0, 3, 4]);
    assert_eq!(dropped(&fate), [(3, 1), (4, 2)]);
}

#[test]
fn an_empty_queue_takes_any_packet() {
    let fate = Fate::of(&mut *server(json!({"queue": "drop-tail", "bytes": 100})), [0, 1, 2], 1500, S);
    assert_eq!(fate.numbers(), [0, 1]);
}

#[test]
fn without_a_limit_a_thousand_wait() {
    let fate = Fate::of(&mut *server(json!({"queue": "drop-tail"})), [0; 1100], 1500, 10 * S);
    assert_eq!((fate.sent.len(), fate.dropped.len()), (1001, 99));
}

#[test]
fn a_queue_tells_what_it_holds_and_how_long_its_packets_wait() {
    let mut server = server(json!({"queue": "drop-tail"}));
    let mut fate = Fate::default();
    for number in 0..5 {
        fate.push(&mut *server, common::at(0), Direction::Up, common::packet(number, 1500));
    }
    fate.run(&mut *server, common::at(2 * MS));
    let mut states = Vec::new();
    server.queues(&mut states);
    assert_eq!((states[0].packets, states[0].bytes, states[0].delay_ns), (2, 3000, 2 * MS));
}

/// RFC 8289 §5 as it stands there, on a queue that never empties: the head's waiting time is above the target, and the
/// packets that it drops.
#[test]
fn codel_drops_by_the_control_law() {
    let queue = json!({"queue": "codel", "packets": 1_000_000});
    // Twice as fast as they leave.
    let fate = Fate::of(&mut *server(queue), (0..10_000).map(|n| n * MS / 2), 1500, 4 * S);
    let drops: Vec<i64> = fate.dropped.iter().map(|one| one.0).collect();
    assert!(fate.dropped.iter().all(|one| one.3 == Reason::QueueManaged));
    // The packet that leaves the queue at k ms came at k/2 ms and waited k/2: 5 ms at 10 ms.
    let first = 110 * MS;
    assert_eq!(drops[0], first);
    let mut next = first;
    for (index, drop) in drops.iter().enumerate().skip(1) {
        next += (100e6 / (index as f64).sqrt()) as i64;
        // The server is free at whole milliseconds; several may be due by then.
        assert_eq!(*drop, (next + MS - 1) / MS * MS, "drop {index}");
    }
    assert!(drops.len() > 300, "{}", drops.len());
}

/// A queue that stays below the target, or holds but one packet, is left alone.
#[test]
fn codel_leaves_good_queues_alone() {
    let bursts = (0..500).flat_map(|n| [n * 8 * MS; 4]);
    let fate = Fate::of(&mut *server(json!({"queue": "codel"})), bursts, 1500, 10 * S);
    assert!(fate.dropped.is_empty());
    // 15 ms a packet: each waits longer than the target, with at most one behind it.
    let slow = element(&json!({"element": "rate", "rate": 800_000, "queue": {"queue": "codel"}}), 1, "a");
    let fate = Fate::of(&mut *{ slow }, (0..100).map(|n| n * 15 * MS + if n > 0 { -6 * MS } else { 0 }), 1500, 10 * S);
    assert!(fate.dropped.is_empty());
}

/// After a good time not longer than 16 intervals, dropping takes up about the rate that it had (RFC 8289 §5.5).
#[test]
fn codel_remembers_its_rate() {
    let overload = |from: i64| (0..2_000).map(move |n| from + n * MS / 2);
    let queue = json!({"queue": "codel", "packets": 1_000_000});
    let again = |pause: i64| {
        let fate = Fate::of(&mut *server(queue.clone()), overload(0).chain(overload(2 * S + pause)), 1500, 10 * S);
        let second: Vec<i64> = fate.dropped.iter().map(|one| one.0).filter(|at| *at > 2 * S + pause).collect();
        second[1] - second[0]
    };
    assert!(again(0) < 60 * MS);
    assert_eq!(again(3 * S), 100 * MS);
}

/// A packet of a flow, with a number of its own.
fn of_flow(flow: u16, number: u16, bytes: u32) -> Box<Packet> {
    let mut packet = common::packet(0, bytes);
    packet.frame.l4 = L4::udp(flow, 80);
    packet.frame.ip.id = number;
    packet.frame.payload = Payload::unsaid(bytes - 28);
    packet
}

/// Packets as (time, flow, number, bytes) in; (time, flow, number) out, and what was dropped.
type Passed = (i64, u16, u16);
fn through(queue: Value, packets: &[(i64, u16, u16, u32)]) -> (Vec<Passed>, Vec<Passed>) {
    let name = |packet: &Packet| match packet.frame.l4 {
        L4::Udp { source_port, .. } => (source_port, packet.frame.ip.id),
        _ => unreachable!("all are datagrams"),
    };
    let (mut server, mut out) = (server(queue), Out::default());
    let (mut sent, mut dropped) = (Vec::new(), Vec::new());
    let mut arrivals = packets.iter().peekable();
    loop {
        let next = arrivals.peek().map_or(i64::MAX, |packet| packet.0);
        let now = server.deadline().as_nanos().min(next);
        if now == i64::MAX {
            return (sent, dropped);
        }
        match server.deadline().as_nanos() <= next {
            true => server.wake(common::at(now), &mut out),
            false => {
                let &(at, flow, number, bytes) = arrivals.next().expect("it was peeked at");
                server.push(common::at(at), Direction::Up, of_flow(flow, number, bytes), &mut out);
            }
        }
        sent.extend(out.sent.drain(..).map(|(_, packet)| (now, name(&packet).0, name(&packet).1)));
        dropped.extend(out.dropped.drain(..).map(|one| (now, name(&one.packet).0, name(&one.packet).1)));
    }
}

/// RFC 8290 §4.2: each flow a quantum in turn, so that bytes are shared and not packets; what is new goes before
/// those that have had a turn.
#[test]
fn fq_codel_gives_flows_turns() {
    let queue = json!({"queue": "fq-codel", "quantum": 1500, "target": S});
    // The server is busy with flow 1's first; small packets of flow 2 make up a quantum by fives.
    let mut packets = vec![(0, 1, 0, 1500)];
    packets.extend((1..4).map(|n| (0, 1, n, 1500)).chain((0..10).map(|n| (0, 2, n, 300))));
    packets.push((2 * MS + 1, 3, 0, 300));
    let (sent, dropped) = through(queue, &packets);
    assert!(dropped.is_empty());
    let flows: Vec<u16> = sent.iter().map(|one| one.1).collect();
    assert_eq!(flows, [1, 1, 2, 2, 2, 2, 2, 3, 1, 2, 2, 2, 2, 2, 1]);
}

/// RFC 8290 §4.1: the flow with the most bytes loses half of its queue, from the head.
#[test]
fn fq_codel_relieves_itself_of_the_fattest_flow() {
    let queue = json!({"queue": "fq-codel", "packets": 10, "target": S});
    let mut packets = vec![(0, 1, 0, 1500), (0, 2, 0, 100)];
    packets.extend((1..11).map(|n| (0, 1, n, 1500)));
    let (sent, dropped) = through(queue, &packets);
    assert_eq!(dropped, (1..6).map(|n| (0, 1, n)).collect::<Vec<_>>());
    assert_eq!(sent.len(), 7);
}

/// Each flow by itself keeps its order; the run's seed says which flows meet in one queue.
#[test]
fn fq_codel_keeps_each_flow_in_order() {
    let packets: Vec<_> = (0..3000).map(|n| (i64::from(n) * MS / 3, n % 7, n, 200 + u32::from(n % 7) * 200)).collect();
    let (sent, dropped) = through(json!({"queue": "fq-codel", "packets": 60}), &packets);
    assert_eq!(sent.len() + dropped.len(), 3000);
    assert!(!dropped.is_empty());
    for flow in 0..7 {
        let numbers: Vec<u16> = sent.iter().filter(|one| one.1 == flow).map(|one| one.2).collect();
        assert!(numbers.is_sorted() && !numbers.is_empty());
    }
    assert!(!sent.iter().map(|one| one.2).is_sorted());
}

/// RFC 8033 appendix A by hand: the head waits longer by half a millisecond each millisecond, so that every 15 ms adds
/// α·(d − 15 ms) + β·(d − d') in steps that grow with the probability.
#[test]
fn pie_reckons_as_in_appendix_a() {
    let packets: Vec<_> = (0..4000).map(|n| (i64::from(n) * MS / 2, 1, n, 1500)).collect();
    let queue = json!({"queue": "pie", "packets": 1_000_000, "burst": 0});
    let (_, dropped) = through(queue, &packets);
    // Without a drop, the packet that leaves at t has waited t/2; the first interval begins with the first that waits.
    let (mut probability, mut old, mut at, mut first) = (0.0, 0.0, 0.5, None);
    while first.is_none() {
        at += 15.0;
        let delay: f64 = f64::floor(at) / 2.0 / 1e3;
        let change: f64 = 0.125 * (delay - 0.015) + 1.25 * (delay - old);
        let scale = [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];
        let divisor = scale.iter().find(|(below, _)| probability < *below).map_or(1.0, |(_, divisor)| *divisor);
        probability = (probability + change / divisor).clamp(0.0, 1.0);
        old = delay;
        // From 1 % on, of 30 packets in an interval 3 in 10 times one is dropped: the first drop is near.
        first = (probability > 0.01).then_some(at);
    }
    let first = first.unwrap();
    let seen = dropped[0].0 as f64 / 1e6;
    assert!((first - 150.0..first + 150.0).contains(&seen), "{seen} ms against {first} ms");
    // Once it drops half of what comes, the queue stays; by then it drops about as much as is too much.
    let late = dropped.iter().filter(|one| one.0 > S).count();
    assert!((800..1100).contains(&late), "{late} of 2000");
}

/// A burst after idling is taken whole, though the controller would drop.
#[test]
fn pie_allows_a_burst() {
    let burst = |allowance: i64| {
        let queue = json!({"queue": "pie", "burst": allowance, "target": MS, "interval": MS, "alpha": 500, "beta": 0});
        let packets: Vec<_> = (0..400).map(|n| (i64::from(n) * MS / 4, 1, n, 1500)).collect();
        through(queue, &packets).1.first().map_or(i64::MAX, |one| one.0)
    };
    assert!(burst(0) < 20 * MS);
    assert!((50 * MS..60 * MS).contains(&burst(50 * MS)), "{}", burst(50 * MS));
}
