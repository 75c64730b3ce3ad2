//! What happens to paths at given times, while packets pass.

mod common;

use common::seen::{Datagram, capture, receive, send};
use common::{Lab, MS, both_directions, ip, is_possible, scenario, udp};
use link::{Direction, Reason};
use serde_json::{Value, json};
use std::net::UdpSocket;
use std::thread;
use std::time::Duration;
use wire::Time;

struct Course {
    start: Time,
    /// By number: when the datagram left the client.
    sent: Vec<Datagram>,
    /// As they came to the server.
    received: Vec<Datagram>,
    summary: emulator::Summary,
}

/// A datagram each millisecond for so many milliseconds over a link of 10 ms, and what became of them.
fn course(name: &str, timeline: Value, count: u64, then: impl FnOnce(&Lab, &UdpSocket, &UdpSocket)) -> Course {
    let links = json!({"home": both_directions(json!([{"element": "delay", "delay": 10 * MS}]))});
    let mut lab = Lab::new(name, scenario(links, &[("wifi", "home")], timeline, json!([])));
    let (client, server) = (udp(&lab.client, "10.0.1.2:5001"), udp(&lab.server, "10.9.1.1:5001"));
    let start = lab.emulator.start().unwrap();
    thread::scope(|scope| {
        let received = scope.spawn(|| receive(&server));
        send(&client, "10.9.1.1:5001", 0..count, Duration::from_millis(1));
        received.join().unwrap();
    });
    then(&lab, &client, &server);
    let summary = lab.emulator.stop().unwrap().unwrap();
    let (_, sent, _) = capture(&lab.client_capture());
    let (_, received, _) = capture(&lab.server_capture());
    Course { start, sent, received, summary }
}

impl Course {
    /// Numbers of datagrams that left the client from one time of the timeline to another.
    fn between(&self, from_ms: i64, to_ms: i64) -> Vec<u64> {
        let span = self.start + from_ms * MS..self.start + to_ms * MS;
        let sent = self.sent.iter().filter(|seen| seen.outbound && span.contains(&seen.at));
        sent.map(|seen| seen.number).collect()
    }

    fn arrived(&self, number: u64) -> Option<&Datagram> {
        self.received.iter().find(|seen| seen.number == number && !seen.outbound)
    }
}

#[test]
fn in_a_blackout_packets_vanish() {
    if !is_possible() {
        return;
    }
    let timeline = json!([{"verb": "blackout", "at_ns": 100 * MS, "path": "wifi"}, {"verb": "restore", "at_ns": 200 * MS, "path": "wifi"}]);
    let course = course("blackout", timeline, 300, |_, _, _| {});
    let dark = course.between(100, 200);
    assert!(!dark.is_empty());
    for Datagram { number, .. } in &course.sent {
        assert_eq!(course.arrived(*number).is_none(), dark.contains(number), "{number}");
    }
    let lost = course.summary.links[0].1.drops[&(Direction::Up, Reason::Blackout)];
    assert_eq!(lost, dark.len() as u64);
}

#[test]
fn what_is_held_comes_after_it() {
    if !is_possible() {
        return;
    }
    let timeline = json!([{"verb": "hold", "at_ns": 100 * MS, "path": "wifi"}, {"verb": "restore", "at_ns": 200 * MS, "path": "wifi"}]);
    let course = course("hold", timeline, 300, |_, _, _| {});
    let held = course.between(100, 200);
    assert!(!held.is_empty());
    assert_eq!(course.received.len(), 300);
    assert!(course.received.is_sorted_by_key(|seen| seen.number));
    for number in held {
        assert!(course.arrived(number).unwrap().at >= course.start + 210 * MS, "{number}");
    }
}

#[test]
fn another_public_address_is_another_source() {
    if !is_possible() {
        return;
    }
    let timeline = json!([{"verb": "rebind", "at_ns": 100 * MS, "path": "wifi", "address": "10.0.1.99"}]);
    let course = course("rebind", timeline, 200, |_, client, server| {
        send(server, "10.0.1.99:5001", 1000..1001, Duration::ZERO);
        send(server, "10.0.1.2:5001", 1001..1002, Duration::ZERO);
        let numbers: Vec<u64> = receive(client).into_iter().map(|(number, _)| number).collect();
        assert_eq!(numbers, [1000]);
    });
    let after = course.between(100, 1_000_000);
    assert!(!after.is_empty());
    for number in 0..200 {
        let source = course.arrived(number).unwrap().frame.ip.source.to_string();
        assert_eq!(source, if after.contains(&number) { "10.0.1.99" } else { "10.0.1.2" }, "{number}");
    }
}

#[test]
fn another_link_takes_another_time() {
    if !is_possible() {
        return;
    }
    let slow = both_directions(json!([{"element": "delay", "delay": 50 * MS}]));
    let timeline = json!([{"verb": "profile", "at_ns": 100 * MS, "path": "wifi", "link": slow}]);
    let course = course("profile", timeline, 200, |_, _, _| {});
    let after = course.between(100, 1_000_000);
    assert!(!after.is_empty());
    assert_eq!(course.received.len(), 200);
    for Datagram { number, at, .. } in &course.sent {
        let least = if after.contains(number) { 50 * MS } else { 10 * MS };
        assert!(course.arrived(*number).unwrap().at - *at >= least, "{number}");
    }
}

#[test]
fn an_interface_that_goes_is_no_end() {
    if !is_possible() {
        return;
    }
    let timeline = json!([
        {"verb": "detach", "at_ns": 50 * MS, "path": "wifi"},
        {"verb": "attach", "at_ns": 100 * MS, "path": "wifi", "takes_ns": 50 * MS},
    ]);
    let course = course("detach", timeline, 200, |lab, client, server| {
        // The host's part, some time after it.
        ip(&lab.client, "link set wifi down");
        send(server, "10.0.1.2:5001", 1000..1010, Duration::ZERO);
        thread::sleep(Duration::from_millis(100));
        ip(&lab.client, "link set wifi up");
        ip(&lab.client, "route add default dev wifi src 10.0.1.2");
        send(server, "10.0.1.2:5001", 1010..1011, Duration::ZERO);
        let numbers: Vec<u64> = receive(client).into_iter().map(|(number, _)| number).collect();
        assert_eq!(numbers, [1010]);
        assert!(lab.emulator.is_running());
    });
    let gone = course.between(50, 150);
    assert!(!gone.is_empty());
    for Datagram { number, .. } in course.sent.iter().filter(|seen| seen.outbound) {
        assert_eq!(course.arrived(*number).is_none(), gone.contains(number), "{number}");
    }
    assert_eq!(course.summary.links[0].1.drops[&(Direction::Up, Reason::Detached)], gone.len() as u64);
    let client = &course.summary.ports.iter().find(|(port_name, _)| port_name.to_string() == "client:wifi").unwrap().1;
    assert_eq!(client.refused, 10);
}

#[test]
fn an_interface_that_is_removed_is_no_end_either() {
    if !is_possible() {
        return;
    }
    let course = course("removed", json!([]), 10, |lab, _, server| {
        ip(&lab.client, "link delete wifi");
        send(server, "10.0.1.2:5001", 1000..1010, Duration::ZERO);
        thread::sleep(Duration::from_millis(100));
        assert!(lab.emulator.is_running());
    });
    let client = &course.summary.ports.iter().find(|(port_name, _)| port_name.to_string() == "client:wifi").unwrap().1;
    assert_eq!((client.sent, client.refused), (0, 10));
}
