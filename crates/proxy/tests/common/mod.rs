//! A client, a proxy and a server that hand packets over at once.

use link::{Direction, Element, Out};
use proxy::Origin;
use serde_json::Value;
use std::net::{IpAddr, SocketAddr};
use transport::{Config, ConnectionId, Endpoint, Event, Nic};
use wire::{L4, Packet, Time};

pub const CLIENT: &str = "192.0.2.1";
pub const SERVER: &str = "192.0.2.2";
pub const PORT: u16 = 80;

/// Three hosts, and what happened at the ends.
pub struct Bench {
    pub now: Time,
    /// Client and server.
    pub ends: [Endpoint; 2],
    pub proxy: Box<dyn Element>,
    pub events: [Vec<(ConnectionId, Event)>; 2],
    /// Packets that left the proxy, by direction.
    pub left: [Vec<Packet>; 2],
}

impl Bench {
    pub fn new(settings: &Value, configs: [Config; 2]) -> Bench {
        let (now, mut seed) = (Time::from_nanos(0), 0);
        let mut ends = configs.map(|config| {
            seed += 1;
            Endpoint::new(config, seed)
        });
        for (end, address) in ends.iter_mut().zip([CLIENT, SERVER]) {
            end.address_up(now, Nic(0), address.parse().unwrap(), 1500);
        }
        let origin = Origin { addresses: vec![SERVER.parse().unwrap()], port: PORT, service: None, object: None };
        let proxy = proxy::build(settings, 7, now, origin).unwrap();
        Bench { now, ends, proxy, events: Default::default(), left: Default::default() }
    }

    pub fn connect(&mut self) -> ConnectionId {
        let [local, remote] = [CLIENT, SERVER].map(|address| address.parse::<IpAddr>().unwrap());
        self.ends[0].connect(self.now, SocketAddr::new(local, 5_000), SocketAddr::new(remote, PORT))
    }

    /// Hands over what each has to send until all are silent.
    pub fn settle(&mut self) {
        let mut out = Out::default();
        loop {
            for (end, direction) in [Direction::Up, Direction::Down].into_iter().enumerate() {
                let mut packet = Box::new(host::blank());
                while self.ends[end].transmit(self.now, &mut packet).is_some() {
                    let full = std::mem::replace(&mut packet, Box::new(host::blank()));
                    self.proxy.push(self.now, direction, full, &mut out);
                }
            }
            if self.proxy.deadline() <= self.now {
                self.proxy.wake(self.now, &mut out);
            }
            assert!(out.dropped.is_empty());
            if out.sent.is_empty() {
                return;
            }
            for (direction, packet) in out.sent.drain(..) {
                let to = if direction == Direction::Up { 1 } else { 0 };
                self.ends[to].handle(self.now, Nic(0), &packet);
                self.left[direction as usize].push(*packet);
            }
            for (end, events) in self.ends.iter_mut().zip(&mut self.events) {
                events.extend(std::iter::from_fn(|| end.event()));
            }
        }
    }

    /// For so long, deadline by deadline.
    pub fn run(&mut self, nanos: i64) {
        let until = self.now + nanos;
        loop {
            self.settle();
            let next = self.ends.iter().map(Endpoint::deadline).min().unwrap().min(self.proxy.deadline());
            if next > until {
                self.now = until;
                return;
            }
            self.now = next.max(self.now);
            for (end, events) in self.ends.iter_mut().zip(&mut self.events) {
                end.timeout(self.now);
                events.extend(std::iter::from_fn(|| end.event()));
            }
        }
    }

    pub fn saw(&self, end: usize, wanted: impl Fn(&Event) -> bool) -> bool {
        self.events[end].iter().any(|(_, event)| wanted(event))
    }

    /// Headers of the segments that left the proxy in this direction.
    pub fn segments(&self, direction: Direction) -> impl Iterator<Item = &wire::Tcp> {
        self.left[direction as usize].iter().filter_map(|packet| match &packet.frame.l4 {
            L4::Tcp(tcp) => Some(tcp),
            _ => None,
        })
    }
}
