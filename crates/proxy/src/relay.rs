//! Two connections back to back: one with the client in the server's name, one with the server in the client's.

use crate::make_plain;
use crate::memory::Memory;
use link::{Direction, Element, Out};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use transport::{Config, ConnectionId, Endpoint, Event, Nic, Outcome};
use wire::{Flags, L4, Packet, Tcp, Time, TooBig};

/// The side of the client, and that of the server.
const NEAR: Nic = Nic(0);
const FAR: Nic = Nic(1);
/// Bytes of the largest packet of its own; peers may ask for smaller ones.
const MTU_BYTES: u32 = 1500;

pub(super) fn make(config: Config, seed: u64, memory: Option<Memory>) -> Box<dyn Element> {
    Box::new(Relay {
        endpoint: Endpoint::new(config, seed),
        ports: BTreeSet::new(),
        taken: BTreeSet::new(),
        others: BTreeMap::new(),
        near: BTreeSet::new(),
        ended: BTreeSet::new(),
        memory,
        spare: Vec::new(),
    })
}

struct Relay {
    endpoint: Endpoint,
    /// Of servers that were called.
    ports: BTreeSet<u16>,
    /// Client and server of every connection that began here.
    taken: BTreeSet<(SocketAddr, SocketAddr)>,
    /// The connection with the other end, for each.
    others: BTreeMap<ConnectionId, ConnectionId>,
    /// The clients'.
    near: BTreeSet<ConnectionId>,
    /// Those whose peer has ended, where the other end was not told yet.
    ended: BTreeSet<ConnectionId>,
    /// Of one that caches.
    memory: Option<Memory>,
    /// Boxes of packets that ended here, for those to come.
    #[expect(clippy::vec_box, reason = "packets travel in boxes, which are used again")]
    spare: Vec<Box<Packet>>,
}

impl Element for Relay {
    fn push(&mut self, now: Time, direction: Direction, mut packet: Box<Packet>, out: &mut Out) {
        if self.deadline() <= now {
            self.wake(now, out);
        }
        if !self.takes(now, direction, &packet) {
            return out.send(direction, packet);
        }
        make_plain(&mut packet);
        match TooBig::of(&packet) {
            Some(too_big) => self.endpoint.too_big(&too_big),
            None => self.endpoint.handle(now, if direction == Direction::Up { NEAR } else { FAR }, &packet),
        }
        self.spare.push(packet);
        self.go_on(now, out);
    }

    fn wake(&mut self, now: Time, out: &mut Out) {
        self.endpoint.timeout(now);
        self.go_on(now, out);
    }

    fn deadline(&self) -> Time {
        self.endpoint.deadline()
    }

    fn answered(&self) -> [u64; 2] {
        self.memory.as_ref().map_or([0, 0], |memory| memory.answered)
    }

    fn answers(&self) -> bool {
        true
    }

    fn sees_both_directions(&self) -> bool {
        true
    }
}

impl Relay {
    /// Whether a packet ends here: the client's SYN and all that follows it, and ICMP that speaks of what was sent here.
    fn takes(&mut self, now: Time, direction: Direction, packet: &Packet) -> bool {
        let (from, to) = (packet.frame.ip.source, packet.frame.ip.destination);
        match (&packet.frame.l4, TooBig::of(packet)) {
            (L4::Tcp(tcp), _) => {
                let source = SocketAddr::new(from, tcp.source_port);
                let destination = SocketAddr::new(to, tcp.destination_port);
                match direction {
                    Direction::Down => self.taken.contains(&(destination, source)),
                    Direction::Up if begins(tcp) => {
                        self.meet(now, source, destination);
                        true
                    }
                    Direction::Up => self.taken.contains(&(source, destination)),
                }
            }
            (_, Some(TooBig { source, destination, .. })) => match direction {
                Direction::Down => self.taken.contains(&(source, destination)),
                Direction::Up => self.taken.contains(&(destination, source)),
            },
            _ => false,
        }
    }

    /// From now on it is the server to this client, and the client to this server.
    fn meet(&mut self, now: Time, client: SocketAddr, server: SocketAddr) {
        let met = |ends: &(SocketAddr, SocketAddr), client: SocketAddr, server: SocketAddr| {
            (ends.0.ip() == client.ip(), ends.1.ip() == server.ip())
        };
        let known = self.taken.iter().map(|ends| met(ends, client, server));
        let (knows_client, knows_server) = known.fold((false, false), |all, one| (all.0 | one.0, all.1 | one.1));
        if !knows_client {
            self.endpoint.address_up(now, FAR, client.ip(), MTU_BYTES);
        }
        if !knows_server {
            self.endpoint.address_up(now, NEAR, server.ip(), MTU_BYTES);
        }
        if self.ports.insert(server.port()) {
            self.endpoint.listen(server.port());
        }
        self.taken.insert((client, server));
    }

    /// Passes on what came, and sends what there is to send.
    fn go_on(&mut self, now: Time, out: &mut Out) {
        while let Some((connection, event)) = self.endpoint.event() {
            let other = self.others.get(&connection).copied();
            match (event, other) {
                (Event::Connected, None) => self.extend(now, connection),
                (Event::Readable, Some(other)) => self.pass_on(now, connection, other),
                (Event::Finished, Some(other)) => {
                    self.ended.insert(connection);
                    self.pass_on(now, connection, other);
                }
                (Event::Writable, Some(other)) => {
                    self.answer(now, connection);
                    self.pass_on(now, other, connection);
                }
                (Event::Closed(Outcome::Failed(_)), Some(other)) => self.endpoint.abort(now, other),
                _ => {}
            }
        }
        loop {
            let mut packet = self.spare.pop().unwrap_or_else(|| Box::new(host::blank()));
            match self.endpoint.transmit(now, &mut packet) {
                Some(NEAR) => out.send(Direction::Down, packet),
                Some(_) => out.send(Direction::Up, packet),
                None => return self.spare.push(packet),
            }
        }
    }

    /// A client is there: calls the server in its name.
    fn extend(&mut self, now: Time, near: ConnectionId) {
        let snapshot = self.endpoint.snapshot(near);
        let Some(ends) = snapshot.as_ref().and_then(|snapshot| snapshot.subflows.first()) else { return };
        let far = self.endpoint.connect(now, ends.remote, ends.local);
        self.others.extend([(near, far), (far, near)]);
        self.near.insert(near);
    }

    /// Moves what can be read of one connection into the other, as far as there is room, and the end of it.
    fn pass_on(&mut self, now: Time, from: ConnectionId, to: ConnectionId) {
        let is_near = self.near.contains(&from);
        if is_near {
            self.answer(now, from);
        }
        let readable = self.endpoint.readable(from);
        let wanted = self.memory.as_ref().filter(|_| is_near).map_or(readable, |memory| memory.to_pass(from, readable));
        let taken = self.endpoint.write(to, wanted);
        self.endpoint.read(now, from, taken);
        if let Some(memory) = &mut self.memory {
            if is_near { memory.passed(from, taken) } else { memory.brought(to, taken) }
        }
        if taken == readable && self.ended.remove(&from) {
            self.endpoint.finish(now, to);
        }
    }

    /// Gives a client what it asks for and the memory holds.
    fn answer(&mut self, now: Time, near: ConnectionId) {
        let Some(memory) = &mut self.memory else { return };
        let readable = self.endpoint.readable(near);
        if memory.to_pass(near, readable) == 0 && readable > 0 {
            memory.asked(near, self.endpoint.read(now, near, readable));
        }
        let given = self.endpoint.write(near, memory.owed(near));
        memory.gave(near, given);
    }
}

fn begins(tcp: &Tcp) -> bool {
    tcp.flags.has(Flags::SYN) && !tcp.flags.has(Flags::ACK) && !tcp.flags.has(Flags::RST)
}
