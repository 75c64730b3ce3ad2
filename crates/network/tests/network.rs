//! Packets through a network, whole and split, and what the timeline says of paths.

use link::{Dropped, Reason};
use network::{DropPoint, Entry, Event, Exit, Network, Tap, presence};
use scenario::Scenario;
use serde_json::{Value, json};
use std::net::IpAddr;
use transport::Config;
use wire::{Frame, Ip, L4, Packet, Payload, Time};

const MS: i64 = 1_000_000;

/// Two paths over a link of 10 ms, one over a link of 20 ms, which cross traffic shares.
fn scenario(timeline: &Value, attached: bool) -> Scenario {
    let path = |number: u8, name: &str, link: &str, attached: bool| {
        json!({
            "name": name, "link": link, "address": format!("10.0.{number}.2"), "address6": null, "mtu_bytes": 1500,
            "backup": false, "attached": attached,
        })
    };
    let delay = |ms: i64| {
        let elements = json!([{"element": "delay", "delay": ms * MS}]);
        json!({"uplink": elements, "downlink": elements})
    };
    let scenario = json!({
        "schema": 1,
        "seed": 1,
        "run": {"kind": "mptcp"},
        "transfer": {
            "application": "bulk", "direction": "down", "size_bytes": 1, "duration_ns": null, "connections": 1,
        },
        "links": {"home": delay(10), "mobile": delay(20)},
        "paths": [path(1, "wifi", "home", attached), path(2, "lte", "mobile", true), path(3, "cable", "home", true)],
        "server": {"addresses": ["10.9.0.1"], "port": 8080, "signal": true},
        "transport": {"client": Config::default(), "server": Config::default()},
        "timeline": timeline,
        "cross_traffic": [{
            "kind": "udp", "name": "other", "link": "mobile", "direction": "up", "start_ns": 0, "stop_ns": null,
            "rate_bits_per_second": 1_000, "packet_bytes": 100,
        }],
        "epoch_ns": 0,
        "settings": {"stop_ns": 1_000 * MS, "sample_ns": 0, "processing_ns": 0},
    });
    Scenario::from_json(&scenario.to_string()).unwrap()
}

fn network(timeline: &Value, attached: bool) -> Network {
    Network::of(&scenario(timeline, attached), Time::default()).unwrap()
}

fn packet([source, destination]: [&str; 2]) -> Box<Packet> {
    let [source, destination] = [source, destination].map(|address| address.parse::<IpAddr>().unwrap());
    let ip = Ip { source, destination, ttl: 64, tos: 0, id: 0, dont_fragment: true, fragment: None };
    Box::new(Packet { frame: Frame { ip, l4: L4::Other(253), payload: Payload::unsaid(80) }, body: None })
}

#[derive(Default)]
struct Drops(Vec<(String, Reason)>);

impl Tap for Drops {
    fn dropped(&mut self, at: DropPoint, dropped: Dropped) {
        let name = at.path.map_or(&at.link.name, |path| &path.name);
        self.0.push((name.to_string(), dropped.reason));
    }
}

/// What came out when, and the events; exits are given by name.
#[derive(Default)]
struct Course {
    came: Vec<(i64, String, String)>,
    events: Vec<(i64, Event)>,
    drops: Drops,
}

impl Course {
    fn run(&mut self, network: &mut Network, until_ns: i64) {
        self.collect(network, 0);
        loop {
            let due = network.next();
            let at_ns = due.at.as_nanos();
            if at_ns > until_ns {
                return;
            }
            while let Some(event) = network.wake(due.at, due, &mut self.drops) {
                self.events.push((at_ns, event));
            }
            self.collect(network, at_ns);
        }
    }

    fn collect(&mut self, network: &mut Network, at_ns: i64) {
        while let Some((exit, packet)) = network.poll(Time::from_nanos(at_ns), &mut self.drops) {
            let exit = match exit {
                Exit::Client { path } => network.paths()[path as usize].name.to_string(),
                Exit::Server { host, link } => format!("{host} behind {}", network.links()[link as usize].name),
                Exit::Neighbour { host, link } => format!("{host} before {}", network.links()[link as usize].name),
            };
            self.came.push((at_ns, exit, packet.frame.ip.source.to_string()));
        }
    }
}

fn came(at_ms: i64, exit: &str, source: &str) -> (i64, String, String) {
    (at_ms * MS, exit.into(), source.into())
}

#[test]
fn packets_take_their_link_and_come_to_who_has_their_destination() {
    let mut network = network(&json!([]), true);
    let mut course = Course::default();
    let sent = [
        (Entry::Path(0), ["10.0.1.2", "10.9.0.1"]),
        (Entry::Path(1), ["10.0.2.2", "10.9.0.1"]),
        (Entry::Router, ["10.9.0.1", "10.0.2.2"]),
        (Entry::Router, ["10.9.0.1", "10.0.3.2"]),
        (Entry::Link(1), ["198.18.0.1", "198.19.0.1"]),
        (Entry::Router, ["198.19.0.1", "198.18.0.1"]),
    ];
    for (entry, ends) in sent {
        network.inject(Time::default(), entry, packet(ends), &mut course.drops).unwrap();
    }
    course.run(&mut network, 100 * MS);
    // Of what leaves a link at one time what goes up is first.
    let expected = [
        came(10, "1 behind home", "10.0.1.2"),
        came(10, "cable", "10.9.0.1"),
        came(20, "1 behind mobile", "10.0.2.2"),
        came(20, "3 behind mobile", "198.18.0.1"),
        came(20, "lte", "10.9.0.1"),
        came(20, "2 before mobile", "198.19.0.1"),
    ];
    assert_eq!(course.came, expected);
}

#[test]
fn what_is_for_nobody_comes_back_or_ends_behind_the_link() {
    let mut network = network(&json!([]), true);
    let mut course = Course::default();
    let refused = network.inject(Time::default(), Entry::Router, packet(["10.9.0.1", "10.7.7.7"]), &mut course.drops);
    assert_eq!(refused.unwrap_err().frame.ip.destination.to_string(), "10.7.7.7");
    let up = packet(["10.0.1.2", "10.7.7.7"]);
    network.inject(Time::default(), Entry::Path(0), up, &mut course.drops).unwrap();
    course.run(&mut network, 100 * MS);
    assert_eq!((course.came, course.drops.0), (vec![], vec![("home".into(), Reason::Unreachable)]));
}

/// Each link alone does what it does among the others: blackout, new address, other elements.
#[test]
fn split_networks_do_together_what_the_whole_does() {
    let slow = json!([{"element": "delay", "delay": 50 * MS}]);
    let timeline = json!([
        {"verb": "blackout", "at_ns": 5 * MS, "path": "wifi"},
        {"verb": "rebind", "at_ns": 5 * MS, "path": "cable", "address": "10.0.3.99"},
        {"verb": "restore", "at_ns": 15 * MS, "path": "wifi"},
        {"verb": "profile", "at_ns": 30 * MS, "path": "lte", "link": {"uplink": slow, "downlink": slow}},
    ]);
    let [wifi, lte, cable] = [("wifi", "10.0.1.2"), ("lte", "10.0.2.2"), ("cable", "10.0.3.2")];
    let sent = [(0, wifi), (6, wifi), (6, cable), (6, lte), (31, lte), (31, wifi)];
    let run = |mut networks: Vec<Network>| {
        let mut courses: Vec<Course> = networks.iter().map(|_| Course::default()).collect();
        for (at_ms, (name, source)) in sent {
            let found = networks.iter_mut().zip(&mut courses).find_map(|(network, course)| {
                let path = network.paths().iter().position(|path| *path.name == *name)?;
                Some((network, course, path))
            });
            let (network, course, path) = found.unwrap();
            course.run(network, at_ms * MS);
            let up = packet([source, "10.9.0.1"]);
            network.inject(Time::from_nanos(at_ms * MS), Entry::Path(path), up, &mut course.drops).unwrap();
            course.collect(network, at_ms * MS);
        }
        networks.iter_mut().zip(&mut courses).for_each(|(network, course)| course.run(network, 200 * MS));
        let mut came: Vec<_> = courses.iter().flat_map(|course| course.came.clone()).collect();
        came.sort();
        (came, courses.into_iter().flat_map(|course| course.drops.0).collect::<Vec<_>>())
    };
    let whole = run(vec![network(&timeline, true)]);
    let expected = [
        came(10, "1 behind home", "10.0.1.2"),
        came(16, "1 behind home", "10.0.3.99"),
        came(26, "1 behind mobile", "10.0.2.2"),
        came(41, "1 behind home", "10.0.1.2"),
        came(81, "1 behind mobile", "10.0.2.2"),
    ];
    assert_eq!(whole, (expected.to_vec(), vec![("wifi".into(), Reason::Blackout)]));
    assert_eq!(run(network(&timeline, true).split()), whole);
}

#[test]
fn paths_come_when_the_timeline_says_so_unless_they_go_meanwhile() {
    let detach = |at_ms: i64| json!({"verb": "detach", "at_ns": at_ms * MS, "path": "wifi"});
    let attach = |at_ms: i64, takes_ms: i64| json!({"verb": "attach", "at_ns": at_ms * MS, "path": "wifi", "takes_ns": takes_ms * MS});
    let cases = [
        (true, json!([]), vec![(0, true)]),
        (false, json!([]), vec![]),
        (true, json!([detach(10), attach(20, 5)]), vec![(0, true), (10, false), (25, true)]),
        // It goes while it comes: that comes to nothing, and there is nothing to take away.
        (true, json!([detach(10), attach(20, 5), detach(22), attach(40, 0)]), vec![(0, true), (10, false), (40, true)]),
        (false, json!([attach(20, 5), detach(25)]), vec![(25, true), (25, false)]),
        (true, json!([attach(20, 5)]), vec![(0, true)]),
    ];
    for (attached, timeline, expected) in cases {
        let of_wifi = presence(&scenario(&timeline, attached)).into_iter().filter(|(_, path, _)| *path == 0);
        let of_wifi: Vec<_> = of_wifi.map(|(at_ns, _, there)| (at_ns / MS, there)).collect();
        assert_eq!(of_wifi, expected, "{timeline}");
    }
}

#[test]
fn paths_and_cross_traffic_give_events() {
    let timeline = json!([
        {"verb": "detach", "at_ns": 10 * MS, "path": "lte"},
        {"verb": "attach", "at_ns": 20 * MS, "path": "lte", "takes_ns": 5 * MS},
    ]);
    let mut network = network(&timeline, true);
    let mut course = Course::default();
    course.run(&mut network, 100 * MS);
    assert_eq!(course.events, [(0, Event::Started(0)), (10 * MS, Event::Detached(1)), (25 * MS, Event::Attached(1))]);
}
