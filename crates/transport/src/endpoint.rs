//! All connections of a host.

use crate::Config;
use crate::config::Join;
use crate::connection::{Connection, MPTCP_SPECIFIC, Opening, Signals};
use crate::context::{Address, Context};
use crate::deadlines::Deadlines;
use crate::early_joins::{EarlyJoin, EarlyJoins};
use crate::path_manager::{Budgeted, Closed};
use crate::ready::Ready;
use crate::scheduler::PathView;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use wire::mptcp::crypto::token;
use wire::mptcp::{MpJoin, MpTcpRst, Mptcp};
use wire::{Flags, Frame, Ip, L4, Options, Packet, Payload, Tcp, TcpOption, Time, TooBig};

/// An interface of the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nic(pub u32);

/// A connection of an endpoint. Never used again for another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u32);

/// What an endpoint tells its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A peer opened a connection to a port that listens.
    Accepted {
        /// The port.
        port: u16,
    },
    /// The connection can carry data.
    Connected,
    /// There is something to read.
    Readable,
    /// There is room to write again.
    Writable,
    /// The peer sent all it had: after what is readable nothing comes.
    Finished,
    /// The peer acknowledged all that was written and the end of it.
    Delivered,
    /// The path manager has used up what an address may carry or cost.
    Spent {
        /// The address.
        address: IpAddr,
        /// What it lacks.
        budget: Budgeted,
    },
    /// The path manager asks the peer's host for an answer: [`Endpoint::answered`].
    Probe {
        /// From this address.
        local: IpAddr,
        /// To this one.
        remote: IpAddr,
        /// What the answer is known by.
        number: u16,
    },
    /// The path manager found something of the path of an address. In a box, since it is far longer than what happens often.
    Decided(Box<PathDecision>),
    /// The connection is over; nothing more comes of it.
    Closed(Outcome),
}

/// What a path manager found of the path of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathDecision {
    /// Both ends of the connection's first subflow.
    pub ends: (SocketAddr, SocketAddr),
    /// The address.
    pub address: IpAddr,
    /// What, on what evidence.
    pub decision: guard::Decision,
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Both directions were finished and acknowledged.
    Complete,
    /// It could not be opened or went on without an answer.
    Failed(Closed),
    /// This end aborted it.
    Aborted,
}

/// What can be seen of a connection, for the `state` table.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Whether it speaks MPTCP; a connection that fell back does not.
    pub mptcp: bool,
    /// Bytes written by the application and not yet acknowledged at connection level.
    pub unacknowledged_bytes: u64,
    /// The peer's window in bytes.
    pub peer_window_bytes: u64,
    /// Bytes that this end's receive buffer holds out of order.
    pub out_of_order_bytes: u64,
    /// The receive buffer.
    pub receive_buffer_bytes: u64,
    /// Bytes that came and were not the pattern they should have been.
    pub corrupt_bytes: u64,
    /// Every subflow.
    pub subflows: Vec<SubflowSnapshot>,
}

/// What can be seen of a subflow.
#[derive(Clone, Debug, PartialEq)]
pub struct SubflowSnapshot {
    /// Local end.
    pub local: SocketAddr,
    /// Remote end.
    pub remote: SocketAddr,
    /// What the scheduler sees; none unless it is established.
    pub path: Option<PathView>,
    /// Retransmission time-out with its back-off.
    pub timeout_ns: i64,
    /// Retransmission time-outs in a row.
    pub backoffs: u32,
    /// Segments that were sent again so far.
    pub retransmitted_packets: u64,
    /// Bytes that the scheduler gave it so far.
    pub scheduled_bytes: u64,
}

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

    /// As [`Endpoint::connect`], with `words` in the SYN (RFC 7413). The peer must take them ([`Endpoint::open_fast`]).
    ///
    /// # Panics
    /// When `local` is no address of the host.
    pub fn connect_fast(
        &mut self,
        now: Time,
        mut local: SocketAddr,
        remote: SocketAddr,
        words: Vec<u8>,
    ) -> ConnectionId {
        while local.port() == 0 || self.context.tuples.contains(local, remote) {
            // Ephemeral ports (RFC 6335 §6).
            local.set_port(49_152 + (self.context.random() % 16_384) as u16);
        }
        let address = self.context.addresses.iter().find(|address| address.ip == local.ip());
        let Address { nic, mtu_bytes, .. } = *address.expect("connects from an address of the host");
        let opening = Opening { client: true, local, remote, nic, mtu_bytes, key: self.key(), words };
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

    /// Says something before all data, of which nothing may have been written.
    pub fn say(&mut self, connection: ConnectionId, words: &[u8]) {
        self.with(connection.0 as usize, |connection, _| connection.say(words));
    }

    /// The peer says so many bytes before all data, unless it did in its SYN: [`Endpoint::hear`].
    pub fn expect(&mut self, connection: ConnectionId, bytes: usize) {
        self.with(connection.0 as usize, |connection, _| connection.expect(bytes));
    }

    /// Reads what the peer says before all data, once it is whole.
    pub fn hear(&mut self, now: Time, connection: ConnectionId) -> Option<Vec<u8>> {
        self.with(connection.0 as usize, |connection, ctx| {
            let words = connection.words()?.to_vec();
            connection.read(now, connection.words_bytes(), ctx);
            Some(words)
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

    /// ICMP says that a segment of ours was too big for the way (RFC 1191, RFC 8201). Whom it does not concern ignores it.
    pub fn too_big(&mut self, too_big: &TooBig) {
        let TooBig { mtu_bytes, source, destination, seq } = *too_big;
        let ends = ((source.ip(), source.port()), (destination.ip(), destination.port()));
        if let Some((id, subflow)) = self.context.tuples.get(ends.0, ends.1) {
            self.with(id as usize, |connection, _| connection.too_big(subflow as usize, seq, mtu_bytes));
        }
    }

    /// A segment that begins a connection or a subflow; says whether it was taken.
    fn open(&mut self, now: Time, nic: Nic, packet: &Packet, tcp: &Tcp) -> bool {
        let frame = &packet.frame;
        let local = SocketAddr::new(frame.ip.destination, tcp.destination_port);
        let remote = SocketAddr::new(frame.ip.source, tcp.source_port);
        let address = self.context.addresses.iter().find(|address| address.ip == local.ip() && address.nic == nic);
        let Some(&Address { mtu_bytes, .. }) = address else { return true };
        if !tcp.flags.has(Flags::SYN) || tcp.flags.has(Flags::ACK) || tcp.flags.has(Flags::RST) {
            return false;
        }
        let mut opening = Opening { client: false, local, remote, nic, mtu_bytes, key: 0, words: Vec::new() };
        if let Some(MpJoin::Syn { token, .. }) = Signals::of(&tcp.options.brief(), &tcp.options).join() {
            let id = self.tokens.get(&token).map(|&id| id as usize);
            if id.is_none() && self.context.config.mptcp.join == Join::Simultaneous {
                self.keep_early_join(now, EarlyJoin { token, opening, frame: *frame });
                return true;
            }
            let accept =
                |connection: &mut Connection, ctx: &mut Context| connection.accept_join(now, &opening, tcp, ctx);
            return id.and_then(|id| self.with(id, accept)) == Some(true);
        }
        if !self.listening.contains(&local.port()) {
            return false;
        }
        opening.key = self.key();
        if let Some(body) = packet.body.as_ref().filter(|_| self.context.fast_open) {
            opening.words = body.to_vec();
        }
        let connection = Connection::accept(now, &opening, tcp, &mut self.context);
        let id = self.insert(connection);
        self.context.events.push_back((id, Event::Accepted { port: local.port() }));
        true
    }

    /// A join that is named by a key that may still come.
    fn keep_early_join(&mut self, now: Time, join: EarlyJoin) {
        let named = |connection: &Option<Box<Connection>>| {
            connection.as_ref().is_some_and(|connection| connection.remote_token() == Some(join.token))
        };
        let id = self.connections.iter().position(named);
        self.early.keep(join);
        if let Some(id) = id {
            self.take_early_joins(now, id);
        }
    }

    /// Takes the joins that came before the keys of this connection.
    #[cold]
    fn take_early_joins(&mut self, now: Time, id: usize) {
        let connection = self.connections[id].as_ref();
        let Some(token) = connection.and_then(|connection| connection.remote_token()) else { return };
        for EarlyJoin { opening, frame, .. } in self.early.take(token) {
            let L4::Tcp(syn) = &frame.l4 else { continue };
            if self.context.tuples.contains(opening.local, opening.remote) {
                // The same SYN without its option came meanwhile, and opened a connection.
                continue;
            }
            if self.with(id, |connection, ctx| connection.accept_join(now, &opening, syn, ctx)) != Some(true) {
                self.refuse(opening.nic, &frame, syn);
            }
        }
    }

    /// Answers a segment of no connection (RFC 9293 §3.10.7.1).
    fn refuse(&mut self, nic: Nic, frame: &Frame, tcp: &Tcp) {
        let length = frame.payload.len + u32::from(tcp.flags.has(Flags::SYN)) + u32::from(tcp.flags.has(Flags::FIN));
        let (seq, ack, flags) = match tcp.flags.has(Flags::ACK) {
            true => (tcp.ack, 0, Flags::RST),
            false => (0, tcp.seq.wrapping_add(length), Flags::RST.with(Flags::ACK)),
        };
        let mut options = Options::NONE;
        let joins = Signals::of(&tcp.options.brief(), &tcp.options).join().is_some();
        if joins && self.context.config.mptcp.version > 0 {
            // RFC 8684 §3.2: a token of nobody, or no further subflow.
            let why = TcpOption::Mptcp(Mptcp::TcpRst(MpTcpRst { flags: 0, reason: MPTCP_SPECIFIC }));
            options.push(&why).expect("it is the only one");
        }
        let ip = Ip { source: frame.ip.destination, destination: frame.ip.source, ttl: 64, tos: 0, id: 0, ..frame.ip };
        let reset = Tcp {
            source_port: tcp.destination_port,
            destination_port: tcp.source_port,
            seq,
            ack,
            flags,
            window: 0,
            urgent: 0,
            options,
        };
        self.resets.push_back((nic, Frame { ip, l4: L4::Tcp(reset), payload: Payload::unsaid(0) }));
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

#[cfg(test)]
mod tests {
    use super::*;
    use wire::mptcp::Mptcp;
    use wire::{Content, TcpOption};

    const NOW: Time = Time::from_nanos(0);

    /// Hands over what each sends until both are silent; gives the last packet with data.
    fn talk(ends: &mut [Endpoint; 2]) -> Option<Packet> {
        let mut data = None;
        let mut silent = 0;
        for from in [0, 1].into_iter().cycle() {
            if silent == 2 {
                return data;
            }
            silent += 1;
            while let Some((packet, nic)) = next(&mut ends[from]) {
                silent = 0;
                ends[1 - from].handle(NOW, nic, &packet);
                data = if packet.frame.payload.len > 0 { Some(packet) } else { data };
            }
        }
        None
    }

    fn next(endpoint: &mut Endpoint) -> Option<(Packet, Nic)> {
        let nobody = IpAddr::from([0; 4]);
        let ip = Ip { source: nobody, destination: nobody, ttl: 0, tos: 0, id: 0, dont_fragment: true, fragment: None };
        let payload = Payload { len: 0, content: Content::Unsaid };
        let mut packet = Packet { frame: Frame { ip, l4: L4::Other(0), payload }, body: None };
        endpoint.transmit(NOW, &mut packet).map(|nic| (packet, nic))
    }

    fn is_fast_close(packet: &Packet) -> bool {
        let L4::Tcp(tcp) = &packet.frame.l4 else { return false };
        tcp.flags.has(Flags::RST)
            && tcp.options.iter().any(|option| matches!(option, Ok(TcpOption::Mptcp(Mptcp::FastClose(_)))))
    }

    // A peer that hears a plain reset first has lost a subflow, not the connection.
    #[test]
    fn a_fast_close_goes_out_before_the_answer_to_what_still_comes() {
        let mut ends = [1, 2].map(|seed| Endpoint::new(Config::default(), seed));
        let addresses = [1, 2].map(|n| IpAddr::from([192, 0, 2, n]));
        for (end, address) in ends.iter_mut().zip(addresses) {
            end.address_up(NOW, Nic(0), address, 1500);
        }
        ends[1].listen(80);
        let id = ends[0].connect(NOW, SocketAddr::new(addresses[0], 0), SocketAddr::new(addresses[1], 80));
        talk(&mut ends);
        ends[0].write(id, 1_000);
        ends[1].write(ConnectionId(0), 1_000);
        let data = talk(&mut ends).expect("both wrote");
        let to = (data.frame.ip.destination == addresses[1]) as usize;
        ends[to].abort(NOW, ConnectionId(0));
        ends[to].handle(NOW, Nic(0), &data);
        let [first, second] = [(), ()].map(|()| next(&mut ends[to]).expect("a reset").0);
        assert!(is_fast_close(&first), "{first:?}");
        assert!(!is_fast_close(&second), "{second:?}");
    }
}
