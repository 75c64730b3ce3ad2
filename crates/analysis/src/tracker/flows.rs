//! 4-tuples, and what is known of each.

use rustc_hash::FxHashMap;
use std::net::{IpAddr, SocketAddr};
use tables::Direction;
use wire::{Flags, Ip, Observation, Tcp, Time};

/// A 4-tuple at a site; the lower endpoint comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) low: (u128, u16),
    pub(super) high: (u128, u16),
    pub(super) site: u32,
}

/// What is known of a 4-tuple.
#[derive(Clone, Copy, Debug)]
pub(super) enum Flow {
    Waiting {
        pending: u32,
    },
    Live {
        connection: u32,
        subflow: u32,
        end: u8,
        low_is_client: bool,
    },
    /// Finished; what comes late is let go.
    Gone {
        since: Time,
        why: Why,
        /// The SYN/ACK's numbers.
        answer: Option<Answer>,
    },
}

/// Why a 4-tuple is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// What used it is over.
    Over,
    /// It showed what another 4-tuple shows.
    Copy,
    /// Nothing came of it, and it is counted.
    Counted,
}

/// The numbers of a SYN/ACK: its own, and what it acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) seq: u32,
    pub(super) ack: u32,
}

impl Answer {
    /// Of a packet, if it is one.
    pub(super) fn of(tcp: &Tcp) -> Option<Answer> {
        (tcp.flags.has(Flags::SYN) && tcp.flags.has(Flags::ACK)).then_some(Answer { seq: tcp.seq, ack: tcp.ack })
    }

    /// Whether both answer one SYN: an answer that is sent again acknowledges the same number, or has, with data in the SYN, the
    /// same of its own.
    pub(super) fn is_like(self, other: Answer) -> bool {
        self.seq == other.seq || self.ack == other.ack
    }
}

#[derive(Default)]
pub(super) struct Flows {
    known: FxHashMap<Key, Flow>,
    /// The flow of the latest packet, by point: mostly the next one's too. Forgotten whenever something becomes known.
    latest: [Option<Latest>; LATEST],
}

#[derive(Clone, Copy)]
struct Latest {
    point: u32,
    low: (u16, IpAddr),
    high: (u16, IpAddr),
    flow: Flow,
}

const LATEST: usize = 8;

impl Key {
    /// The key of a packet, and whether it comes from the lower endpoint.
    pub(super) fn of(observation: &Observation, tcp: &Tcp, site: u32) -> (Key, bool) {
        Key::between(&observation.frame.ip, (tcp.source_port, tcp.destination_port), site)
    }

    /// The same, from addresses and ports.
    #[inline]
    pub(super) fn between(ip: &Ip, ports: (u16, u16), site: u32) -> (Key, bool) {
        let source = (number(ip.source), ports.0);
        let destination = (number(ip.destination), ports.1);
        let from_low = source <= destination;
        let (low, high) = if from_low { (source, destination) } else { (destination, source) };
        (Key { low, high, site }, from_low)
    }
}

impl Flows {
    /// What is known of a packet's flow, and whether the packet comes from the lower endpoint.
    #[inline]
    pub(super) fn of(&mut self, observation: &Observation, tcp: &Tcp, site: u32) -> (Option<Flow>, bool) {
        let ip = &observation.frame.ip;
        let (source, destination) = ((tcp.source_port, ip.source), (tcp.destination_port, ip.destination));
        let point = observation.point.0;
        if let Some(latest) = &self.latest[point as usize % LATEST]
            && latest.point == point
        {
            if (latest.low, latest.high) == (source, destination) {
                return (Some(latest.flow), true);
            }
            if (latest.low, latest.high) == (destination, source) {
                return (Some(latest.flow), false);
            }
        }
        let (key, from_low) = Key::of(observation, tcp, site);
        let flow = self.known.get(&key).copied();
        if let Some(flow) = flow {
            let (low, high) = if from_low { (source, destination) } else { (destination, source) };
            self.latest[point as usize % LATEST] = Some(Latest { point, low, high, flow });
        }
        (flow, from_low)
    }

    pub(super) fn get(&self, key: &Key) -> Option<Flow> {
        self.known.get(key).copied()
    }

    pub(super) fn insert(&mut self, key: Key, flow: Flow) {
        self.latest = [None; LATEST];
        self.known.insert(key, flow);
    }

    pub(super) fn remove(&mut self, key: &Key) -> Option<Flow> {
        self.latest = [None; LATEST];
        self.known.remove(key)
    }
}

/// IPv4 addresses take the numbers of their IPv4-mapped IPv6 addresses.
fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => 0xffff_0000_0000 | u128::from(u32::from(address)),
        IpAddr::V6(address) => u128::from(address),
    }
}

/// The endpoint of a key.
pub(super) fn address((number, port): (u128, u16)) -> SocketAddr {
    let address = match u32::try_from(number.wrapping_sub(0xffff_0000_0000)) {
        Ok(number) => IpAddr::V4(number.into()),
        Err(_) => IpAddr::V6(number.into()),
    };
    SocketAddr::new(address, port)
}

/// The direction of a packet that the client sent, or the server.
pub(super) fn direction(from_client: bool) -> Direction {
    if from_client { Direction::Up } else { Direction::Down }
}
