use super::codel::Codel;
use super::{Discipline, Item, Limits, Site, Store};
use crate::parameter::{Bytes, Count, Duration, Flag, Packets};
use crate::random::mixed;
use crate::{Out, Reason};
use parameters::{Fault, fault, parameters};
use std::collections::VecDeque;
use std::net::IpAddr;
use wire::{Frame, L4, Time};

parameters! {
    /// FQ-CoDel (RFC 8290): flows take turns, `quantum` bytes at a time, each with its own CoDel. Flows that are new or
    /// send little go first. Flows are told apart by a hash of addresses, protocol and ports; its seed comes from the
    /// run's seed. If all queues together exceed the limit, the flow that holds most loses the packet at its head.
    "fq-codel"
    struct Settings {
        /// Limit in bytes for all flows together.
        bytes: Option<Bytes> = None,
        /// Limit in packets; 10240 if no limit is given.
        packets: Option<Packets> = None,
        /// Limit in bytes, given as the time in which these bytes leave at the mean rate of the element.
        delay: Option<Duration> = None,
        /// Number of queues that flows are hashed to, from 1 to 65536.
        flows: Count = Count(1024),
        /// Bytes that a flow may send per turn, at least 1.
        quantum: Bytes = Bytes(1514),
        /// Acceptable standing delay of a flow's queue (CoDel).
        target: Duration = Duration(5_000_000),
        /// Time for which CoDel tolerates a longer delay: about the longest round-trip time.
        interval: Duration = Duration(100_000_000),
        /// Largest packet. Nothing is dropped from a flow that holds no more than this.
        largest: Bytes = Bytes(1500),
        /// Whether packets of ECN-capable connections are marked instead of dropped, as in Linux (RFC 8290 §6.2, RFC
        /// 3168).
        ecn: Flag = Flag(true),
    }
}

const DEFAULT_PACKETS: u64 = 10_240;
const MOST_FLOWS: u64 = 65_536;
/// Packets that a full queue drops at once at most (RFC 8290 §4.1).
const MOST_AT_ONCE: u64 = 64;

pub(super) fn make(settings: Settings, site: &Site) -> Result<Box<dyn Discipline>, Fault> {
    let Settings { bytes, packets, delay, flows, quantum, target, interval, largest, ecn } = settings;
    if !(1..=MOST_FLOWS).contains(&flows.0) {
        return Err(fault("flows", format!("must be from 1 to {MOST_FLOWS}")));
    }
    if quantum.0 == 0 {
        return Err(fault("quantum", "must be more than 0"));
    }
    let codel = Codel::new(target, interval, largest, ecn)?;
    let (max_bytes, max_packets) = Limits { bytes, packets, delay }.at(site, DEFAULT_PACKETS);
    Ok(Box::new(FqCodel {
        seed: site.context.stream("flows").word(),
        codel,
        quantum: quantum.0 as i64,
        max_bytes,
        max_packets,
        flows: (0..flows.0).map(|_| None).collect(),
        fresh: VecDeque::new(),
        old: VecDeque::new(),
        bytes: 0,
        packets: 0,
    }))
}

struct FqCodel {
    seed: u64,
    /// As it is when a flow begins.
    codel: Codel,
    quantum: i64,
    max_bytes: u64,
    max_packets: u64,
    /// By hash; those that there were.
    flows: Vec<Option<Box<Flow>>>,
    /// Flows that have just begun, and the others, in the order of their turns.
    fresh: VecDeque<usize>,
    old: VecDeque<usize>,
    bytes: u64,
    packets: u64,
}

struct Flow {
    codel: Codel,
    store: Store,
    /// Bytes that it may still send.
    credit: i64,
    /// Whether it has a turn.
    is_listed: bool,
}

impl Discipline for FqCodel {
    /// RFC 8290 §4.1.
    fn enqueue(&mut self, item: Item, out: &mut Out) {
        let index = hash(&item.packet.frame, self.seed) as usize % self.flows.len();
        let begin =
            || Box::new(Flow { codel: self.codel.clone(), store: Store::unlimited(), credit: 0, is_listed: false });
        let flow = self.flows[index].get_or_insert_with(begin);
        if !flow.is_listed {
            (flow.is_listed, flow.credit) = (true, self.quantum);
            self.fresh.push_back(index);
        }
        self.bytes += u64::from(item.bytes);
        self.packets += 1;
        flow.store.push(item);
        while self.packets > 1 && (self.bytes > self.max_bytes || self.packets > self.max_packets) {
            self.relieve(out);
        }
    }

    /// RFC 8290 §4.2.
    fn dequeue(&mut self, now: Time, out: &mut Out) -> Option<Item> {
        loop {
            let is_fresh = !self.fresh.is_empty();
            let turns = if is_fresh { &mut self.fresh } else { &mut self.old };
            let index = *turns.front()?;
            let flow = self.flows[index].as_mut()?;
            if flow.credit <= 0 {
                flow.credit += self.quantum;
                turns.pop_front();
                self.old.push_back(index);
                continue;
            }
            let (bytes, packets) = (flow.store.bytes(), flow.store.packets());
            let item = flow.codel.dequeue(now, &mut flow.store, out);
            self.bytes -= bytes - flow.store.bytes();
            self.packets -= packets - flow.store.packets();
            if let Some(item) = item {
                flow.credit -= i64::from(item.bytes);
                return Some(item);
            }
            turns.pop_front();
            // One that begins waits its turn among the others before it may begin again.
            if is_fresh {
                self.old.push_back(index);
            } else {
                flow.is_listed = false;
            }
        }
    }

    fn take(&mut self, items: &mut Vec<Item>) {
        let from = items.len();
        self.flows.iter_mut().flatten().for_each(|flow| flow.store.take(items));
        // As they came: each flow stays in order.
        items[from..].sort_by_key(|item| item.at);
        (self.bytes, self.packets) = (0, 0);
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn packets(&self) -> u64 {
        self.packets
    }
}

impl FqCodel {
    /// RFC 8290 §4.1: half of what the flow with the most bytes holds goes, from its head.
    fn relieve(&mut self, out: &mut Out) {
        let flows = self.flows.iter_mut().flatten();
        let Some(fattest) = flows.max_by_key(|flow| flow.store.bytes()) else { return };
        for _ in 0..(fattest.store.packets() / 2).clamp(1, MOST_AT_ONCE) {
            let Some(item) = fattest.store.pop() else { return };
            self.bytes -= u64::from(item.bytes);
            self.packets -= 1;
            item.drop(Reason::QueueFull, out);
        }
    }
}

/// Of what tells a flow from others: addresses, protocol and ports.
fn hash(frame: &Frame, seed: u64) -> u64 {
    let ends = [frame.ip.source, frame.ip.destination].map(|address| match address {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    });
    let l4 = match &frame.l4 {
        L4::Tcp(tcp) => [6, tcp.source_port, tcp.destination_port],
        L4::Udp { source_port, destination_port, .. } => [17, *source_port, *destination_port],
        L4::Icmp { .. } => [1, 0, 0],
        L4::Other(protocol) => [u16::from(*protocol), 0, 0],
    };
    let ends = ends.into_iter().flat_map(|address| [address as u64, (address >> 64) as u64]);
    let l4 = l4.into_iter().fold(0, |word, part| word << 16 | u64::from(part));
    ends.chain([l4]).fold(seed, |hash, word| mixed(hash ^ word))
}
