//! Packets, elements and what comes of them.
#![allow(dead_code, reason = "each test uses a part")]

use link::{Direction, Element, Out, Reason, build};
use serde_json::Value;
use std::net::IpAddr;
use wire::{Frame, Ip, L4, Packet, Payload, Time};

pub const MS: i64 = 1_000_000;
pub const S: i64 = 1_000 * MS;

pub fn at(nanos: i64) -> Time {
    Time::from_nanos(nanos)
}

/// A packet of `bytes` on the wire that can be told from others.
pub fn packet(number: u32, bytes: u32) -> Box<Packet> {
    let source = IpAddr::from(number.to_be_bytes());
    let destination = IpAddr::from([10, 9, 0, 1]);
    let ip = Ip { source, destination, ttl: 64, tos: 0, id: 0, dont_fragment: true, fragment: None };
    Box::new(Packet { frame: Frame { ip, l4: L4::Other(253), payload: Payload::unsaid(bytes - 20) }, body: None })
}

pub fn number(packet: &Packet) -> u32 {
    match packet.frame.ip.source {
        IpAddr::V4(address) => address.to_bits(),
        IpAddr::V6(_) => unreachable!("only IPv4 is made here"),
    }
}

pub fn element(value: &Value, seed: u64, name: &str) -> Box<dyn Element> {
    build(value, seed, name, Time::default()).unwrap()
}

/// What became of packets.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// When each left, in order.
    pub sent: Vec<(i64, Direction, u32)>,
    pub dropped: Vec<(i64, Direction, u32, Reason)>,
}

impl Fate {
    pub fn collect(&mut self, now: Time, out: &mut Out) {
        let now = now.as_nanos();
        self.sent.extend(out.sent.drain(..).map(|(direction, packet)| (now, direction, number(&packet))));
        self.dropped.extend(out.dropped.drain(..).map(|one| (now, one.direction, number(&one.packet), one.reason)));
    }

    /// Wakes the element whenever it wants, up to `end`.
    pub fn run(&mut self, element: &mut dyn Element, end: Time) {
        let mut out = Out::default();
        while element.deadline() <= end && element.deadline() < Time::MAX {
            let now = element.deadline();
            element.wake(now, &mut out);
            self.collect(now, &mut out);
        }
    }

    pub fn push(&mut self, element: &mut dyn Element, now: Time, direction: Direction, packet: Box<Packet>) {
        self.run(element, now + -1);
        let mut out = Out::default();
        element.push(now, direction, packet, &mut out);
        self.collect(now, &mut out);
    }

    /// Packets of `bytes`, numbered, at these times; then until nothing happens any more before `end`.
    pub fn of(element: &mut dyn Element, times: impl IntoIterator<Item = i64>, bytes: u32, end: i64) -> Fate {
        let mut fate = Fate::default();
        for (number, time) in times.into_iter().enumerate() {
            fate.push(element, at(time), Direction::Up, packet(number as u32, bytes));
        }
        fate.run(element, at(end));
        fate
    }

    pub fn times(&self) -> Vec<i64> {
        self.sent.iter().map(|(at, ..)| *at).collect()
    }

    pub fn numbers(&self) -> Vec<u32> {
        self.sent.iter().map(|(_, _, number)| *number).collect()
    }
}
