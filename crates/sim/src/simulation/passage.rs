//! How packets get from hosts into the network and from the network to hosts.

use super::{MOST_AT_ONCE, Simulation};
use crate::Observer;
use crate::observer::Tap;
use host::Reception;
use link::Reason;
use network::{CLIENT, Entry, Exit};
use transport::Nic;
use wire::{Direction, Packet};

impl Simulation {
    /// Hands over what is on its way at this instant, in the order in which it came.
    #[inline]
    pub(super) fn work_off(&mut self, observer: &mut impl Observer) {
        while self.at_once <= MOST_AT_ONCE
            && let Some((host, nic, packet)) = self.next_hop()
        {
            self.at_once += 1;
            self.come(host, nic, packet, observer);
        }
    }

    /// The next packet that comes to a host at this instant.
    #[inline(always)] // every packet passes here
    fn next_hop(&mut self) -> Option<(usize, Nic, Box<Packet>)> {
        let Some((exit, packet)) = self.network.poll(self.now, &mut self.sink) else { return self.between.pop_front() };
        let (host, nic) = match exit {
            Exit::Client { path } => (CLIENT, Nic(path)),
            Exit::Server { host, .. } | Exit::Neighbour { host, .. } => (host as usize, Nic(0)),
        };
        Some((host, nic, packet))
    }

    /// A packet comes to a host, which sees it now or once its card has called for attention.
    #[inline(always)] // every packet passes here
    fn come(&mut self, host: usize, nic: Nic, packet: Box<Packet>, observer: &mut impl Observer) {
        if self.nodes[host].inbox.is_immediate() {
            self.arrive(host, nic, packet, observer);
            return self.pump(host, observer);
        }
        let at = self.nodes[host].inbox.add(self.now, nic, packet);
        let deadline = &mut self.deadlines[host];
        *deadline = at.min(*deadline);
    }

    /// A host looks at what has come, if its time is there, all of it before it answers: as where packets that came together
    /// are merged (GRO), one ACK may be for several.
    pub(super) fn look(&mut self, host: usize, observer: &mut impl Observer) {
        while let Some((nic, packet)) = self.nodes[host].inbox.next(self.now) {
            self.arrive(host, nic, packet, observer);
        }
    }

    #[inline(always)] // every packet passes here
    fn arrive(&mut self, host: usize, nic: Nic, packet: Box<Packet>, observer: &mut impl Observer) {
        let node = &mut self.nodes[host];
        let tap = &mut Tap { observer, site: node.site.as_mut() };
        let reason = match node.host.handle(self.now, nic, &packet, tap) {
            Reception::Taken => {
                self.packets += 1;
                self.sink.give(packet);
                return;
            }
            Reception::Down => Reason::Detached,
            Reception::NotAddressed => Reason::Unreachable,
        };
        let direction = if self.is_client_side(host) { Direction::Down } else { Direction::Up };
        self.sink.drop_at(&self.nodes[host].name, self.now, direction, packet, reason);
    }

    /// Takes what a host has to send now.
    pub(super) fn pump(&mut self, host: usize, observer: &mut impl Observer) {
        let Simulation { nodes, network, between, deadlines, sink, now, .. } = self;
        let node = &mut nodes[host];
        loop {
            let mut packet = sink.take();
            let tap = &mut Tap { observer, site: node.site.as_mut() };
            let Some(nic) = node.host.transmit(*now, &mut packet, tap) else {
                sink.give(packet);
                break;
            };
            let is_last = node.host.has_sent_all();
            if let Some((_, other, peer)) = node.lan.filter(|(lan, ..)| *lan == nic) {
                between.push_back((other, peer, packet));
            } else {
                let entry = match node.uplink {
                    _ if host == CLIENT => Entry::Path(nic.0 as usize),
                    Some(link) => Entry::Link(link),
                    None => Entry::Router,
                };
                if let Err(packet) = network.inject(*now, entry, packet, sink) {
                    sink.drop_at(&node.name, *now, Direction::Down, packet, Reason::Unreachable);
                }
            }
            if is_last {
                break;
            }
        }
        deadlines[host] = node.host.deadline().min(node.inbox.deadline());
    }

    fn is_client_side(&self, host: usize) -> bool {
        host == CLIENT || self.nodes[host].uplink.is_some()
    }
}
