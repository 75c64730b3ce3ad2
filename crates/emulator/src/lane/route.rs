//! Where packets go: client → path (gate, translator) → link → router, and back.

use super::{Lane, To};
use crate::Error;
use crate::device::pool;
use crate::recorder::Happened;
use host::Reception;
use link::{Direction, Dropped, Element, Reason};
use network::{CLIENT, Owner, SERVER};
use std::net::IpAddr;
use wire::Packet;

impl Lane {
    /// Hands on what is on its way, in the order in which it came.
    pub fn work_off(&mut self) {
        while let Some((to, packet)) = self.work.pop_front() {
            self.go(to, packet);
        }
    }

    fn go(&mut self, to: To, packet: Box<Packet>) {
        match to {
            To::Link(link, direction) => self.meet(link, direction, packet),
            To::Path(path, direction) => self.pass(path, direction, packet),
            To::Router => self.descend(packet),
            To::Port(port) => self.reach(port, packet),
            To::Resident(place, path) => self.visit(place, path, packet),
        }
    }

    /// For what has just left a chain, while its output is taken apart: no other chain may be met before that is done.
    fn hand_on(&mut self, to: To, packet: Box<Packet>) {
        match to {
            To::Port(port) => self.reach(port, packet),
            to => self.work.push_back((to, packet)),
        }
    }

    fn reach(&mut self, port: usize, packet: Box<Packet>) {
        let port = &mut self.ports[port];
        if let Some(point) = port.point {
            self.feed.passed(self.now, point, wire::Direction::Inbound, &packet);
        }
        port.add(self.due, packet);
    }

    /// Gives the kernel what has come to the ports.
    pub fn hand_over(&mut self) -> Result<(), Error> {
        self.ports.iter_mut().filter(|port| !port.out.is_empty()).try_for_each(|port| port.send())
    }

    fn meet(&mut self, place: usize, direction: Direction, packet: Box<Packet>) {
        let bytes = packet.frame.wire_len();
        let Some(line) = &mut self.lines[place] else { return };
        line.counts.packets[direction as usize] += 1;
        line.counts.bytes[direction as usize] += u64::from(bytes);
        line.link.chain.push(self.now, direction, packet, &mut self.out);
        self.log(place, direction, bytes, || Happened::Arrival);
        self.leave(place);
    }

    /// What left a link goes on.
    pub fn leave(&mut self, place: usize) {
        let mut sent = std::mem::take(&mut self.out.sent);
        for (direction, packet) in sent.drain(..) {
            self.log(place, direction, packet.frame.wire_len(), || Happened::Departure);
            match self.behind(place, direction, &packet) {
                Some(to) => self.hand_on(to, packet),
                None => self.nobody(place, direction, packet),
            }
        }
        self.out.sent = sent;
        self.bury(place);
    }

    fn behind(&self, place: usize, direction: Direction, packet: &Packet) -> Option<To> {
        let owner = self.routes.find(packet.frame.ip.destination)?;
        match (direction, owner) {
            (Direction::Up, Owner::Server(SERVER)) => {
                let path = self.path_of(place, packet.frame.ip.source)?;
                Some(self.doors.server[path].map_or(To::Resident(SERVER, path), To::Port))
            }
            (Direction::Up, Owner::Server(host)) | (Direction::Down, Owner::Neighbour { host, .. }) => {
                self.doors.others[host - SERVER - 1].map(To::Port)
            }
            (Direction::Down, Owner::Path(path)) => Some(To::Path(path, direction)),
            _ => None,
        }
    }

    /// The path of a link that a packet took: that of its source. A source may also be none of the link's paths'.
    fn path_of(&self, link: usize, source: IpAddr) -> Option<usize> {
        let is_on = |path: &usize| self.paths[*path].as_ref().is_some_and(|path| path.link == link);
        let owner = match self.routes.find(source) {
            Some(Owner::Path(path)) => Some(path),
            _ => None,
        };
        owner.filter(is_on).or_else(|| (0..self.paths.len()).find(is_on))
    }

    /// From the router to the link behind which the destination is.
    fn descend(&mut self, packet: Box<Packet>) {
        let link = match self.routes.find(packet.frame.ip.destination) {
            Some(Owner::Path(path)) => self.paths[path].as_ref().map(|path| path.link),
            Some(Owner::Neighbour { link, .. }) => Some(link),
            _ => None,
        };
        match link.filter(|link| self.lines[*link].is_some()) {
            Some(link) => self.meet(link, Direction::Down, packet),
            None => {
                // It is nobody's: counted where it came from.
                let link = self.lines.iter().position(Option::is_some).expect("a lane has a link");
                self.nobody(link, Direction::Down, packet);
            }
        }
    }

    /// A packet meets a path's gate and translator.
    fn pass(&mut self, place: usize, direction: Direction, packet: Box<Packet>) {
        let path = self.paths[place].as_mut().expect("packets stay in their lane");
        match &mut path.chain {
            Some(chain) => {
                chain.push(self.now, direction, packet, &mut self.out);
                self.leave_path(place);
            }
            None => self.go(self.beyond(place, direction), packet),
        }
    }

    /// What left a path goes on.
    pub fn leave_path(&mut self, place: usize) {
        let mut sent = std::mem::take(&mut self.out.sent);
        for (direction, packet) in sent.drain(..) {
            self.hand_on(self.beyond(place, direction), packet);
        }
        self.out.sent = sent;
        let link = self.link_of(place);
        // The gate and the translator are none of the link's elements.
        self.out.dropped.iter_mut().for_each(|dropped| dropped.element = u32::MAX);
        self.bury(link);
    }

    fn beyond(&self, place: usize, direction: Direction) -> To {
        match direction {
            Direction::Up => To::Link(self.link_of(place), direction),
            Direction::Down => self.doors.client[place].map_or(To::Resident(CLIENT, place), To::Port),
        }
    }

    /// A packet comes to a host of ours.
    fn visit(&mut self, place: usize, path: usize, packet: Box<Packet>) {
        let resident = self.residents[place].as_mut().expect("checked: there is a port, or a host of ours");
        let reception = resident.handle(self.now, path, &packet, &mut self.feed, &self.routes);
        let (link, direction) = (self.link_of(path), if place == CLIENT { Direction::Down } else { Direction::Up });
        match reception {
            Reception::Taken => pool::give(packet),
            Reception::Down => self.lose_at(link, direction, packet, Reason::Detached),
            Reception::Stranger => self.lose_at(link, direction, packet, Reason::Unreachable),
        }
        self.pump(place);
    }

    /// Takes what a host of ours has to send now.
    pub fn pump(&mut self, place: usize) {
        let Some(resident) = &mut self.residents[place] else { return };
        loop {
            let mut packet = pool::take();
            let Some(nic) = resident.transmit(self.now, &mut packet, &mut self.feed, &self.routes) else {
                return pool::give(packet);
            };
            let to = if place == CLIENT { To::Path(nic.0 as usize, Direction::Up) } else { To::Router };
            self.work.push_back((to, packet));
        }
    }

    fn link_of(&self, path: usize) -> usize {
        self.paths[path].as_ref().expect("packets stay in their lane").link
    }

    fn bury(&mut self, place: usize) {
        if self.out.dropped.is_empty() {
            return;
        }
        let mut dropped = std::mem::take(&mut self.out.dropped);
        dropped.drain(..).for_each(|dropped| self.lose(place, dropped));
        self.out.dropped = dropped;
    }

    fn nobody(&mut self, place: usize, direction: Direction, packet: Box<Packet>) {
        self.lose_at(place, direction, packet, Reason::Unreachable);
    }

    /// It ended behind all elements.
    fn lose_at(&mut self, place: usize, direction: Direction, packet: Box<Packet>, reason: Reason) {
        self.lose(place, Dropped { at: self.now, packet, direction, reason, element: u32::MAX });
    }

    fn lose(&mut self, place: usize, Dropped { packet, direction, reason, element, .. }: Dropped) {
        let bytes = packet.frame.wire_len();
        pool::give(packet);
        if let Some(line) = &mut self.lines[place] {
            line.counts.lose(direction, reason);
            let element = line.element(element);
            self.log(place, direction, bytes, || Happened::Drop(reason, element));
        }
    }

    fn log(&mut self, place: usize, direction: Direction, bytes: u32, happened: impl FnOnce() -> Happened) {
        if self.feed.logs()
            && let Some(line) = &self.lines[place]
        {
            let queued = line.queued(direction);
            self.feed.happened(self.now, (place as u32, direction), bytes, happened(), queued);
        }
    }
}

/// Whether it is for the link alone: neighbours are looked for, routers, groups. There is nobody there.
pub(super) fn is_local(destination: IpAddr) -> bool {
    match destination {
        IpAddr::V4(address) => address.is_multicast() || address.is_broadcast() || address.is_link_local(),
        IpAddr::V6(address) => address.is_multicast() || address.is_unicast_link_local(),
    }
}
