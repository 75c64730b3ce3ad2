//! All connections of a host.

mod event;
mod open;
mod snapshot;
#[cfg(test)]
mod tests;

pub use event::{Event, Outcome, PathDecision};
pub use snapshot::{Snapshot, SubflowSnapshot};

use crate::Config;
use crate::connection::{Connection, Opening};
use crate::context::{Address, Context};
use crate::deadlines::Deadlines;
use crate::early_joins::EarlyJoins;
use crate::ready::Ready;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use wire::mptcp::crypto::token;
use wire::{Flags, Frame, L4, Packet, Time, TooBig};

/// An interface of the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nic(pub u32);

/// A connection of an endpoint. Never used again for another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u32);

/// All connections of a host. Addresses come and go with [`Endpoint::address_up`] and [`Endpoint::address_down`].
pub struct Endpoint {
    context: Context,
    listening: Vec<u16>,
    connections: Vec<Option<Box<Connection>>>,
    tokens: FxHashMap<u32, u32>,
    deadlines: Deadlines,
    ready: Ready,
    /// Answers to segments of no connection.
    resets: VecDeque<(Nic, Frame)>,
    early: EarlyJoins,
}

impl Endpoint {
    /// An endpoint whose keys, random numbers and initial sequence numbers come from `seed`.
    ///
    /// # Panics
    /// When [`Config::check`] refuses `config`.
    pub fn new(config: Config, seed: u64) -> Endpoint {
        if let Err(error) = config.check() {
            panic!("{error}");
        }
        Endpoint {
            context: Context::new(config, seed),
            listening: Vec::new(),
            connections: Vec::new(),
            tokens: FxHashMap::default(),
            deadlines: Deadlines::default(),
            ready: Ready::default(),
            resets: VecDeque::new(),
            early: EarlyJoins::default(),
        }
    }

    /// The host has `address` on `nic`, whose packets hold at most `mtu_bytes`.
    pub fn address_up(&mut self, now: Time, nic: Nic, address: IpAddr, mtu_bytes: u32) {
        self.context.addresses.retain(|known| known.ip != address);
        self.context.addresses.push(Address { ip: address, nic, mtu_bytes, heard_dbm: None });
        for id in 0..self.connections.len() {
            self.with(id, |connection, ctx| connection.address_up(now, address, nic, ctx));
        }
    }

    /// The host has `address` no more.
    pub fn address_down(&mut self, now: Time, address: IpAddr) {
        self.context.addresses.retain(|known| known.ip != address);
        for id in 0..self.connections.len() {
            self.with(id, |connection, ctx| connection.address_down(now, address, ctx));
        }
    }

    /// The radio of an address hears this from now on, in dBm. Nothing happens where the host does not have it.
    pub fn heard(&mut self, now: Time, address: IpAddr, dbm: i32) {
        for known in self.context.addresses.iter_mut().filter(|known| known.ip == address) {
            known.heard_dbm = Some(dbm);
        }
        for id in 0..self.connections.len() {
            self.with(id, |connection, ctx| connection.heard(now, address, dbm, ctx));
        }
    }

    /// By this interface only TCP is spoken, and it is no path.
    pub fn speak_plain(&mut self, nic: Nic) {
        self.context.plain.push(nic);
    }

    /// Takes what SYNs carry (RFC 7413). They need no cookie.
    pub fn open_fast(&mut self) {
        self.context.fast_open = true;
    }

    /// Accepts connections to `port` on all addresses.
    pub fn listen(&mut self, port: u16) {
        self.listening.push(port);
    }

    /// Opens a connection from `local`, one of the host's addresses, to `remote`. Port 0 of `local` means any free one.
    ///
    /// # Panics
    /// When `local` is no address of the host.
    pub fn connect(&mut self, now: Time, local: SocketAddr, remote: SocketAddr) -> ConnectionId {
        self.connect_fast(now, local, remote, Vec::new())
    }

    /// As [`Endpoint::connect`], with `preface` in the SYN (RFC 7413). The peer must take it ([`Endpoint::open_fast`]).
    ///
    /// # Panics
    /// When `local` is no address of the host.
    pub fn connect_fast(
        &mut self,
        now: Time,
        mut local: SocketAddr,
        remote: SocketAddr,
        preface: Vec<u8>,
    ) -> ConnectionId {
        while local.port() == 0 || self.context.tuples.contains(local, remote) {
            // Ephemeral ports (RFC 6335 §6).
            local.set_port(49_152 + (self.context.random() % 16_384) as u16);
        }
        let address = self.context.addresses.iter().find(|address| address.ip == local.ip());
        let Address { nic, mtu_bytes, .. } = *address.expect("connects from an address of the host");
        let opening = Opening { client: true, local, remote, nic, mtu_bytes, key: self.key(), preface };
        let connection = Connection::connect(now, &opening, &mut self.context);
        self.insert(connection)
    }

    /// Writes up to `bytes`; says how many the send buffer took. [`Event::Writable`] follows when it took fewer.
    pub fn write(&mut self, connection: ConnectionId, bytes: u64) -> u64 {
        self.with(connection.0 as usize, |connection, _| connection.write(bytes)).unwrap_or(0)
    }

    /// Whether short segments go at once, rather than when no other is on its way (TCP_NODELAY). Matters where short segments
    /// wait: in MPTCP with Linux's scheduler.
    pub fn set_no_delay(&mut self, connection: ConnectionId, no_delay: bool) {
        self.with(connection.0 as usize, |connection, _| connection.set_no_delay(no_delay));
    }

    /// Reads up to `bytes` that are in order; says how many there were. Not reading closes the window.
    pub fn read(&mut self, now: Time, connection: ConnectionId, bytes: u64) -> u64 {
        self.with(connection.0 as usize, |connection, ctx| connection.read(now, bytes, ctx)).unwrap_or(0)
    }

    /// Bytes that are in order and not read.
    pub fn readable(&self, connection: ConnectionId) -> u64 {
        let connection = self.connections.get(connection.0 as usize).and_then(Option::as_ref);
        connection.map_or(0, |connection| connection.readable())
    }

    /// Sends `preface` before all data, of which nothing may have been written.
    pub fn send_preface(&mut self, connection: ConnectionId, preface: &[u8]) {
        self.with(connection.0 as usize, |connection, _| connection.send_preface(preface));
    }

    /// The peer sends so many bytes before all data, unless it did in its SYN: [`Endpoint::take_preface`].
    pub fn expect_preface(&mut self, connection: ConnectionId, bytes: usize) {
        self.with(connection.0 as usize, |connection, _| connection.expect_preface(bytes));
    }

    /// Reads what the peer sends before all data, once it is whole.
    pub fn take_preface(&mut self, now: Time, connection: ConnectionId) -> Option<Vec<u8>> {
        self.with(connection.0 as usize, |connection, ctx| {
            let preface = connection.preface()?.to_vec();
            connection.read(now, connection.preface_bytes(), ctx);
            Some(preface)
        })?
    }

    /// Nothing more is written: ends this direction after all that was (DATA_FIN, FIN).
    pub fn finish(&mut self, now: Time, connection: ConnectionId) {
        self.with(connection.0 as usize, |connection, ctx| connection.finish(now, ctx));
    }

    /// Gives the connection up at once (MP_FASTCLOSE, RST).
    pub fn abort(&mut self, now: Time, connection: ConnectionId) {
        self.with(connection.0 as usize, |connection, ctx| connection.abort(now, ctx));
    }

    /// A packet came in by `nic`. Packets for nobody are answered with a reset, or ignored when they are no TCP.
    pub fn handle(&mut self, now: Time, nic: Nic, packet: &Packet) {
        let Frame { ip, l4: L4::Tcp(tcp), .. } = &packet.frame else { return };
        let (local, remote) = ((ip.destination, tcp.destination_port), (ip.source, tcp.source_port));
        if let Some((id, subflow)) = self.context.tuples.get(local, remote) {
            self.with(id as usize, |connection, ctx| connection.handle(now, subflow as usize, tcp, packet, ctx));
            if !self.early.is_empty() {
                self.take_early_joins(now, id as usize);
            }
            return;
        }
        if !self.open(now, nic, packet, tcp) && !tcp.flags.has(Flags::RST) {
            self.refuse(nic, &packet.frame, tcp);
        }
    }

    /// A probe from `local` was answered ([`Event::Probe`]).
    pub fn answered(&mut self, now: Time, connection: ConnectionId, local: IpAddr, number: u16) {
        self.with(connection.0 as usize, |connection, ctx| connection.answered(now, local, number, ctx));
    }

    /// ICMP says that a segment of ours was too big for the path (RFC 1191, RFC 8201). Connections that it does not
    /// concern ignore it.
    pub fn too_big(&mut self, too_big: &TooBig) {
        let TooBig { mtu_bytes, source, destination, seq } = *too_big;
        let ends = ((source.ip(), source.port()), (destination.ip(), destination.port()));
        if let Some((id, subflow)) = self.context.tuples.get(ends.0, ends.1) {
            self.with(id as usize, |connection, _| connection.too_big(subflow as usize, seq, mtu_bytes));
        }
    }

    /// Writes the next packet to send to `packet` and says by which interface it goes; none: nothing to send now.
    pub fn transmit(&mut self, now: Time, packet: &mut Packet) -> Option<Nic> {
        while let Some(id) = self.ready.first() {
            let mut sent = None;
            if let Some(connection) = &mut self.connections[id as usize] {
                sent = connection.transmit(now, packet);
                if let Some((nic, true)) = sent {
                    return Some(nic);
                }
                if connection.is_gone() {
                    self.forget(id);
                } else {
                    self.deadlines.set(id as usize, connection.deadline());
                }
            }
            self.ready.served();
            if let Some((nic, _)) = sent {
                return Some(nic);
            }
        }
        // After what connections say of their own end: a peer hears only the first reset.
        let (nic, frame) = self.resets.pop_front()?;
        (packet.frame, packet.body) = (frame, None);
        Some(nic)
    }

    /// Whether [`Endpoint::transmit`] surely has nothing to send now.
    #[inline]
    pub fn has_sent_all(&self) -> bool {
        self.ready.is_empty() && self.resets.is_empty()
    }

    /// Nothing is left of a connection.
    #[cold]
    #[inline(never)]
    fn forget(&mut self, id: u32) {
        self.deadlines.set(id as usize, Time::MAX);
        if let Some(connection) = self.connections[id as usize].take() {
            self.tokens.remove(&connection.local_token());
            for tuple in connection.tuples() {
                self.context.tuples.release(tuple, id);
            }
        }
    }

    /// When [`Endpoint::timeout`] is to be called. It is right once [`Endpoint::transmit`] had nothing to send.
    pub fn deadline(&self) -> Time {
        self.deadlines.first().0
    }

    /// The deadline has come.
    pub fn timeout(&mut self, now: Time) {
        while let (at, id) = self.deadlines.first()
            && at <= now
        {
            // Set again by `transmit`, when all that follows is sent.
            self.deadlines.set(id, Time::MAX);
            self.with(id, |connection, ctx| connection.timeout(now, ctx));
        }
    }

    /// Begins with what another remembered of destinations.
    pub fn recall(&mut self, other: &Endpoint) {
        self.context.metrics.clone_from(&other.context.metrics);
    }

    /// The next thing that the host should know.
    pub fn event(&mut self) -> Option<(ConnectionId, Event)> {
        self.context.events.pop_front()
    }

    /// What can be seen of a connection; none when it is over.
    pub fn snapshot(&self, connection: ConnectionId) -> Option<Snapshot> {
        self.connections.get(connection.0 as usize)?.as_ref().map(|connection| connection.snapshot())
    }

    /// A key whose token names no other connection (RFC 8684 §3.1).
    fn key(&mut self) -> u64 {
        loop {
            let key = self.context.random();
            if !self.tokens.contains_key(&token(self.context.config.mptcp.version, key)) {
                return key;
            }
        }
    }

    fn insert(&mut self, connection: Connection) -> ConnectionId {
        let id = self.connections.len() as u32;
        self.tokens.insert(connection.local_token(), id);
        self.connections.push(Some(Box::new(connection)));
        self.with(id as usize, |_, _| {});
        ConnectionId(id)
    }

    /// Calls a connection and takes notice of what came of it.
    fn with<R>(&mut self, id: usize, call: impl FnOnce(&mut Connection, &mut Context) -> R) -> Option<R> {
        let connection = self.connections.get_mut(id)?.as_deref_mut()?;
        self.context.connection = ConnectionId(id as u32);
        let result = call(connection, &mut self.context);
        while let Some(subflow) = connection.opened.pop() {
            self.context.tuples.insert(connection.tuple(subflow), (id as u32, subflow as u32));
        }
        while let Some(tuple) = connection.gone.pop() {
            self.context.tuples.remove(tuple);
        }
        self.ready.add(id as u32);
        Some(result)
    }
}
