//! Where packets go: client → path (gate, translator) → link → router, and back.

use super::{Lane, To};
use crate::Error;
use link::{Direction, Dropped, Element, Reason};
use scenario::{Owner, SERVER};
use std::net::IpAddr;
use wire::Packet;

impl Lane {
    /// Hands on what is on its way, in the order in which it came.
    pub fn work_off(&mut self) {
        while let Some((to, packet)) = self.work.pop_front() {
            match to {
                To::Link(link, direction) => self.meet(link, direction, packet),
                To::Path(path, direction) => self.pass(path, direction, packet),
                To::Router => self.descend(packet),
                To::Port(port) => {
                    let port = &mut self.ports[port];
                    if let Some(point) = port.point {
                        self.feed.passed(self.now, point, wire::Direction::Inbound, &packet);
                    }
                    port.out.push(packet);
                }
            }
        }
    }

    /// Gives the kernel what has come to the ports.
    pub fn hand_over(&mut self) -> Result<(), Error> {
        self.ports.iter_mut().filter(|port| !port.out.is_empty()).try_for_each(|port| port.send())
    }

    fn meet(&mut self, place: usize, direction: Direction, packet: Box<Packet>) {
        let Some(link) = &mut self.links[place] else { return self.lose(0, direction, Reason::Unreachable) };
        let counts = &mut self.counts[place];
        counts.packets[direction as usize] += 1;
        counts.bytes[direction as usize] += u64::from(packet.frame.wire_len());
        link.chain.push(self.now, direction, packet, &mut self.out);
        self.leave(place);
    }

    /// What left a link goes on.
    pub fn leave(&mut self, place: usize) {
        let mut sent = std::mem::take(&mut self.out.sent);
        for (direction, packet) in sent.drain(..) {
            match self.behind(direction, &packet) {
                Some(to) => self.work.push_back((to, packet)),
                None => self.lose(place, direction, Reason::Unreachable),
            }
        }
        self.out.sent = sent;
        self.bury(place);
    }

    fn behind(&self, direction: Direction, packet: &Packet) -> Option<To> {
        let owner = self.routes.find(packet.frame.ip.destination)?;
        match (direction, owner) {
            (Direction::Up, Owner::Server(SERVER)) => {
                let Owner::Path(path) = self.routes.find(packet.frame.ip.source)? else { return None };
                self.doors.server[path].map(To::Port)
            }
            (Direction::Up, Owner::Server(host)) | (Direction::Down, Owner::Neighbour { host, .. }) => {
                self.doors.others[host - SERVER - 1].map(To::Port)
            }
            (Direction::Down, Owner::Path(path)) => Some(To::Path(path, direction)),
            _ => None,
        }
    }

    /// From the router to the link behind which the destination is.
    fn descend(&mut self, packet: Box<Packet>) {
        let link = match self.routes.find(packet.frame.ip.destination) {
            Some(Owner::Path(path)) => self.paths[path].as_ref().map(|path| path.link),
            Some(Owner::Neighbour { link, .. }) => Some(link),
            _ => None,
        };
        match link {
            Some(link) => self.meet(link, Direction::Down, packet),
            None => self.lose(self.first_link(), Direction::Down, Reason::Unreachable),
        }
    }

    /// A packet meets a path's gate and translator.
    fn pass(&mut self, place: usize, direction: Direction, packet: Box<Packet>) {
        let Some(path) = &mut self.paths[place] else {
            return self.lose(self.first_link(), direction, Reason::Unreachable);
        };
        match &mut path.chain {
            Some(chain) => {
                chain.push(self.now, direction, packet, &mut self.out);
                self.leave_path(place);
            }
            None => self.beyond(place, direction, packet),
        }
    }

    /// What left a path goes on.
    pub fn leave_path(&mut self, place: usize) {
        let mut sent = std::mem::take(&mut self.out.sent);
        sent.drain(..).for_each(|(direction, packet)| self.beyond(place, direction, packet));
        self.out.sent = sent;
        self.bury(self.paths[place].as_ref().map_or(0, |path| path.link));
    }

    fn beyond(&mut self, place: usize, direction: Direction, packet: Box<Packet>) {
        let link = self.paths[place].as_ref().map_or(0, |path| path.link);
        match (direction, self.doors.client[place]) {
            (Direction::Up, _) => self.work.push_back((To::Link(link, direction), packet)),
            (Direction::Down, Some(port)) => self.work.push_back((To::Port(port), packet)),
            (Direction::Down, None) => self.lose(link, direction, Reason::Unreachable),
        }
    }

    fn bury(&mut self, place: usize) {
        let mut dropped = std::mem::take(&mut self.out.dropped);
        for Dropped { direction, reason, .. } in dropped.drain(..) {
            self.lose(place, direction, reason);
        }
        self.out.dropped = dropped;
    }

    fn lose(&mut self, place: usize, direction: Direction, reason: Reason) {
        self.counts[place].drop(direction, reason);
    }

    fn first_link(&self) -> usize {
        self.links.iter().position(Option::is_some).unwrap_or(0)
    }
}

/// Whether it is for the link alone: neighbours are looked for, routers, groups. There is nobody there.
pub(super) fn is_local(destination: IpAddr) -> bool {
    match destination {
        IpAddr::V4(address) => address.is_multicast() || address.is_broadcast() || address.is_link_local(),
        IpAddr::V6(address) => address.is_multicast() || address.is_unicast_link_local(),
    }
}
