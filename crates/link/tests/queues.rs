//! Who waits, who is dropped, and what is said about it.

mod common;

use common::{Fate, MS, S, element};
use link::{Element, Reason};
use serde_json::{Value, json};

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
        fate.push(&mut *server, common::at(0), link::Direction::Up, common::packet(number, 1500));
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
