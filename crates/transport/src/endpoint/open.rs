//! Segments of no connection that is known: they open one, or a subflow, or are refused.

use super::{Endpoint, Event, Nic};
use crate::config::Join;
use crate::connection::{Connection, MPTCP_SPECIFIC, Opening, Signals};
use crate::context::{Address, Context};
use crate::early_joins::EarlyJoin;
use std::net::SocketAddr;
use wire::mptcp::{MpJoin, MpTcpRst, Mptcp};
use wire::{Flags, Frame, Ip, L4, Options, Packet, Payload, Tcp, TcpOption, Time};

impl Endpoint {
    /// A segment that begins a connection or a subflow; says whether it was taken.
    pub(super) fn open(&mut self, now: Time, nic: Nic, packet: &Packet, tcp: &Tcp) -> bool {
        let frame = &packet.frame;
        let local = SocketAddr::new(frame.ip.destination, tcp.destination_port);
        let remote = SocketAddr::new(frame.ip.source, tcp.source_port);
        let address = self.context.addresses.iter().find(|address| address.ip == local.ip() && address.nic == nic);
        let Some(&Address { mtu_bytes, .. }) = address else { return true };
        if !tcp.flags.has(Flags::SYN) || tcp.flags.has(Flags::ACK) || tcp.flags.has(Flags::RST) {
            return false;
        }
        let mut opening = Opening { client: false, local, remote, nic, mtu_bytes, key: 0, preface: Vec::new() };
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
            opening.preface = body.to_vec();
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
    pub(super) fn take_early_joins(&mut self, now: Time, id: usize) {
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
    pub(super) fn refuse(&mut self, nic: Nic, frame: &Frame, tcp: &Tcp) {
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
}
