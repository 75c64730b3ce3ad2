//! How packets get from hosts into links and from links to hosts.

use super::{MOST_AT_ONCE, Simulation};
use crate::Observer;
use crate::observer::Tap;
use host::Reception;
use link::{Direction, Dropped, Element, Reason};
use network::{CLIENT, Owner};
use transport::Nic;
use wire::{Packet, Time};

/// Where a packet goes next.
#[derive(Clone, Copy, Debug)]
pub(super) enum To {
    Link(u32, Direction),
    /// One that has a chain.
    Path(u32, Direction),
    Host(u32, Nic),
}

/// Where a packet ended.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// A link, and which element of it, if any.
    Link(usize, u32),
    Path(usize),
    Host(usize),
}

impl Simulation {
    /// Hands over what is on its way at this instant, in the order in which it came.
    #[inline]
    pub(super) fn work_off(&mut self, observer: &mut impl Observer) {
        while let Some((to, packet)) = self.work.pop_front() {
            self.at_once += 1;
            match to {
                To::Link(link, direction) => self.enter(link as usize, direction, packet),
                To::Path(path, direction) => self.pass(path as usize, direction, packet),
                To::Host(node, nic) => self.come(node as usize, nic, packet, observer),
            }
            if self.at_once > MOST_AT_ONCE {
                self.work.clear();
            }
        }
    }

    #[inline]
    fn enter(&mut self, link: usize, direction: Direction, packet: Box<Packet>) {
        self.network.links[link].chain.push(self.now, direction, packet, &mut self.out);
        self.leave(link);
    }

    /// What left a link goes on.
    #[inline]
    pub(super) fn leave(&mut self, link: usize) {
        if !self.out.sent.is_empty() {
            self.forward();
        }
        if !self.out.dropped.is_empty() {
            self.bury(|element| Place::Link(link, element));
        }
        self.set_link(link);
    }

    fn forward(&mut self) {
        for (direction, packet) in self.out.sent.drain(..) {
            let owner = self.network.routes.find(packet.frame.ip.destination);
            let to = match (direction, owner) {
                (Direction::Up, Some(Owner::Server(node))) => To::Host(node as u32, Nic(0)),
                (Direction::Down, Some(Owner::Path(path))) if self.network.paths[path].chain.is_none() => {
                    To::Host(CLIENT as u32, Nic(path as u32))
                }
                (Direction::Down, Some(Owner::Path(path))) => To::Path(path as u32, direction),
                (Direction::Down, Some(Owner::Neighbour { host, .. })) => To::Host(host as u32, Nic(0)),
                _ => {
                    let (reason, element) = (Reason::Unreachable, u32::MAX);
                    self.out.dropped.push(Dropped { packet, direction, reason, at: self.now, element });
                    continue;
                }
            };
            self.work.push_back((to, packet));
        }
    }

    /// What ended in an element is recorded.
    #[cold]
    fn bury(&mut self, place: impl Fn(u32) -> Place) {
        let mut dropped = std::mem::take(&mut self.out.dropped);
        for Dropped { packet, direction, reason, at, element } in dropped.drain(..) {
            self.drop(at, place(element), direction, packet, reason);
        }
        self.out.dropped = dropped;
    }

    /// A packet meets a path's gate and translator.
    fn pass(&mut self, path: usize, direction: Direction, packet: Box<Packet>) {
        if let Some(chain) = &mut self.network.paths[path].chain {
            chain.push(self.now, direction, packet, &mut self.out);
            self.leave_path(path);
        }
    }

    pub(super) fn leave_path(&mut self, path: usize) {
        for (direction, packet) in self.out.sent.drain(..) {
            let to = match direction {
                Direction::Up => To::Link(self.network.paths[path].link as u32, direction),
                Direction::Down => To::Host(CLIENT as u32, Nic(path as u32)),
            };
            self.work.push_back((to, packet));
        }
        if !self.out.dropped.is_empty() {
            self.bury(|_| Place::Path(path));
        }
    }

    /// A packet comes to a host, which sees it now or once its card has called for attention.
    #[inline]
    fn come(&mut self, place: usize, nic: Nic, packet: Box<Packet>, observer: &mut impl Observer) {
        if self.nodes[place].inbox.is_immediate() {
            self.arrive(place, nic, packet, observer);
            return self.pump(place, observer);
        }
        let at = self.nodes[place].inbox.add(self.now, nic, packet);
        let deadline = &mut self.deadlines[1 + self.network.links.len() + place];
        *deadline = at.min(*deadline);
    }

    /// A host looks at what has come, if its time is there, all of it before it answers: as where packets that came together
    /// are merged (GRO), one ACK may be for several.
    pub(super) fn look(&mut self, place: usize, observer: &mut impl Observer) {
        while let Some((nic, packet)) = self.nodes[place].inbox.next(self.now) {
            self.arrive(place, nic, packet, observer);
        }
    }

    fn arrive(&mut self, place: usize, nic: Nic, packet: Box<Packet>, observer: &mut impl Observer) {
        let node = &mut self.nodes[place];
        let reception = match &mut node.site {
            Some(site) => node.host.handle(self.now, nic, &packet, &mut Tap { observer, site }),
            None => node.host.handle(self.now, nic, &packet, &mut ()),
        };
        let reason = match reception {
            Reception::Taken => {
                self.packets += 1;
                self.pool.give(packet);
                return;
            }
            Reception::Down => Reason::Detached,
            Reception::Stranger => Reason::Unreachable,
        };
        let direction = if self.is_client_side(place) { Direction::Down } else { Direction::Up };
        self.drop(self.now, Place::Host(place), direction, packet, reason);
    }

    /// Takes what a host has to send now.
    pub(super) fn pump(&mut self, place: usize, observer: &mut impl Observer) {
        loop {
            let mut packet = self.pool.take();
            let node = &mut self.nodes[place];
            let nic = match &mut node.site {
                Some(site) => node.host.transmit(self.now, &mut packet, &mut Tap { observer, site }),
                None => node.host.transmit(self.now, &mut packet, &mut ()),
            };
            let Some(nic) = nic else {
                self.pool.give(packet);
                break;
            };
            match self.first_hop(place, nic, &packet) {
                Some(To::Link(link, direction)) => self.enter(link as usize, direction, packet),
                Some(to) => self.work.push_back((to, packet)),
                None => self.drop(self.now, Place::Host(place), Direction::Down, packet, Reason::Unreachable),
            }
        }
        let node = &self.nodes[place];
        let deadline = node.host.deadline().min(node.inbox.deadline());
        self.deadlines[1 + self.network.links.len() + place] = deadline;
    }

    #[inline]
    fn first_hop(&self, place: usize, nic: Nic, packet: &Packet) -> Option<To> {
        let (link, direction) = if place == CLIENT {
            let path = &self.network.paths[nic.0 as usize];
            if path.chain.is_some() {
                return Some(To::Path(nic.0, Direction::Up));
            }
            (path.link, Direction::Up)
        } else if let Some(link) = self.nodes[place].uplink {
            (link, Direction::Up)
        } else {
            let link = match self.network.routes.find(packet.frame.ip.destination)? {
                Owner::Path(path) => self.network.paths[path].link,
                Owner::Neighbour { link, .. } => link,
                Owner::Server(_) => return None,
            };
            (link, Direction::Down)
        };
        Some(To::Link(link as u32, direction))
    }

    /// A packet ends here.
    #[cold]
    fn drop(&mut self, at: Time, place: Place, direction: Direction, packet: Box<Packet>, reason: Reason) {
        let network = &self.network;
        let (kind, name, element) = match place {
            Place::Link(link, element) => {
                let link = &network.links[link];
                let element = link.elements.get(element as usize);
                ("link", &link.name, element.map(|(_, _, short)| short.clone()))
            }
            Place::Path(path) => ("path", &network.paths[path].name, None),
            Place::Host(place) => ("host", &self.nodes[place].name, None),
        };
        self.records.drop(at, (kind, name, element), direction, &packet, reason);
        self.pool.give(packet);
    }

    fn is_client_side(&self, place: usize) -> bool {
        place == CLIENT || self.nodes[place].uplink.is_some()
    }

    #[inline]
    pub(super) fn set_link(&mut self, link: usize) {
        self.deadlines[1 + link] = self.network.links[link].chain.deadline();
    }
}
