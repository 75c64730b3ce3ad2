//! Connections as what stands between their ends knows them.

use crate::Direction;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use wire::{L4, Packet, Time};

/// Both ends of a connection, or of what datagrams go between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Flow {
    pub is_tcp: bool,
    pub client: SocketAddr,
    pub server: SocketAddr,
}

/// What is remembered of flows, each until nothing was heard of it for a time.
#[derive(Debug)]
pub(crate) struct Flows<T> {
    known: BTreeMap<Flow, (Time, T)>,
    idle_ns: i64,
    /// So many are known when those are thrown out that are forgotten.
    sweep_at: usize,
}

/// How many flows are known at least before any is thrown out.
const SWEEP: usize = 1024;

impl Flow {
    /// Of a packet; none where it has no ports.
    pub fn of(direction: Direction, packet: &Packet) -> Option<Flow> {
        let (is_tcp, source_port, destination_port) = match &packet.frame.l4 {
            L4::Tcp(tcp) => (true, tcp.source_port, tcp.destination_port),
            L4::Udp { source_port, destination_port, .. } => (false, *source_port, *destination_port),
            L4::Icmp { .. } | L4::Other(_) => return None,
        };
        let source = SocketAddr::new(packet.frame.ip.source, source_port);
        let destination = SocketAddr::new(packet.frame.ip.destination, destination_port);
        Some(match direction {
            Direction::Up => Flow { is_tcp, client: source, server: destination },
            Direction::Down => Flow { is_tcp, client: destination, server: source },
        })
    }
}

impl<T: Copy> Flows<T> {
    /// Flows that are remembered for ever, or until they were idle for so long.
    pub fn new(idle_ns: Option<i64>) -> Flows<T> {
        Flows { known: BTreeMap::new(), idle_ns: idle_ns.unwrap_or(i64::MAX), sweep_at: SWEEP }
    }

    /// What is known of a flow of which a packet is there now.
    pub fn get(&mut self, now: Time, flow: &Flow) -> Option<&mut T> {
        let idle_ns = self.idle_ns;
        let (last, value) = self.known.get_mut(flow).filter(|(last, _)| now - *last < idle_ns)?;
        *last = now;
        Some(value)
    }

    /// What is known of a flow, of which this is no packet.
    pub fn peek(&self, flow: &Flow) -> Option<T> {
        self.known.get(flow).map(|(_, value)| *value)
    }

    /// Remembers a flow; gives those that were forgotten meanwhile.
    pub fn insert(&mut self, now: Time, flow: Flow, value: T) -> Vec<(Flow, T)> {
        let mut gone = Vec::new();
        if self.known.len() >= self.sweep_at {
            let idle_ns = self.idle_ns;
            self.known.retain(|flow, (last, value)| {
                let keep = now - *last < idle_ns;
                if !keep {
                    gone.push((*flow, *value));
                }
                keep
            });
            self.sweep_at = (2 * self.known.len()).max(SWEEP);
        }
        self.known.insert(flow, (now, value));
        gone
    }
}
