//! Opening a connection and joining it.

use super::entry::{Entry, Join};
use super::receive::Receive;
use super::{Connection, MOST_SUBFLOWS, Mode, Signals};
use crate::congestion::Window;
use crate::context::Context;
use crate::endpoint::{Event, Nic};
use crate::path_manager::{Closed, PathEvent};
use crate::subflow::{Received, State, Subflow};
use std::net::{IpAddr, SocketAddr};
use wire::mptcp::crypto::{join_ack_hmac, join_syn_ack_hmac};
use wire::mptcp::{MpCapable, MpJoin};
use wire::{Flags, Tcp, Time};

/// Flag A of MP_CAPABLE: checksums are required.
pub(super) const CHECKSUM_REQUIRED: u8 = 0x80;
/// Flag B: an extension that nobody knows yet.
const EXTENDED: u8 = 0x40;
/// Flag C: no further subflows to this address and port.
const NOT_HERE: u8 = 0x20;
/// Flag H: HMAC-SHA256, in version 0 HMAC-SHA1.
pub(super) const HMAC: u8 = 0x01;
/// Reason codes of MP_TCPRST (RFC 8684 §3.6).
pub(super) mod reason {
    pub const MPTCP_SPECIFIC: u8 = 1;
    pub const PROHIBITED: u8 = 3;
    pub const MIDDLEBOX: u8 = 6;
}
/// Bytes that MP_CAPABLE takes in the first segment with data.
const CAPABLE_BYTES: u32 = 24;

/// A connection to be.
pub struct Opening {
    /// Whether this end opens it.
    pub client: bool,
    pub local: SocketAddr,
    pub remote: SocketAddr,
    pub nic: Nic,
    pub mtu_bytes: u32,
    /// Of this end, its token being nobody else's.
    pub key: u64,
    /// What is said in the SYN.
    pub preface: Vec<u8>,
}

impl Connection {
    /// Opens a connection: the SYN is the next packet.
    pub fn connect(now: Time, opening: &Opening, ctx: &mut Context) -> Connection {
        let mut connection = Connection::new(ctx, opening, ctx.speaks_mptcp(opening.nic));
        let isn = ctx.random() as u32;
        let Opening { local, remote, nic, mtu_bytes, .. } = *opening;
        let mut tcp = Subflow::connect(now, &ctx.tcp_towards(remote.ip()), local, remote, isn, mtu_bytes);
        tcp.carry_in_syn(opening.preface.len() as u32);
        connection.preface.in_syn.clone_from(&opening.preface);
        let entry = Entry::new(tcp, nic, true, None);
        connection.add(entry, ctx);
        if connection.early {
            connection.paths_open(now, ctx);
        }
        connection
    }

    /// Answers a SYN: the SYN/ACK is the next packet.
    pub fn accept(now: Time, opening: &Opening, syn: &Tcp, ctx: &mut Context) -> Connection {
        let version = ctx.config.mptcp.version;
        let capable = Signals::of(&syn.options.brief(), &syn.options).capable();
        let capable = capable.filter(|capable| is_understood(version, capable));
        // A SYN of version 0 carries a key (RFC 6824 §3.1), one of version 1 none.
        let offered = capable.filter(|capable| capable.sender_key.is_some() == (version == 0));
        let mut connection = Connection::new(ctx, opening, ctx.speaks_mptcp(opening.nic) && offered.is_some());
        connection.agree(offered.map_or(0, |capable| capable.flags));
        connection.agreed.note_offered_key(offered.and_then(|capable| capable.sender_key));
        let isn = ctx.random() as u32;
        let Opening { local, remote, nic, mtu_bytes, .. } = *opening;
        let mut tcp = Subflow::accept(now, &ctx.tcp_towards(remote.ip()), local, remote, isn, mtu_bytes, syn);
        if !opening.preface.is_empty() {
            tcp.took_from_syn(opening.preface.len() as u32);
            connection.preface.received_in_syn = Some(opening.preface.clone());
        }
        connection.receive = Receive::new(*tcp.memory(), tcp.window_grown_bytes());
        let entry = Entry::new(tcp, nic, false, None);
        connection.add(entry, ctx);
        if connection.mode == Mode::Plain {
            connection.entries[0].mappings.continue_without(1, 0);
        }
        connection
    }

    /// Opens a further subflow; the reason when it cannot.
    pub(super) fn join(
        &mut self,
        now: Time,
        local: IpAddr,
        remote: SocketAddr,
        backup: bool,
        ctx: &mut Context,
    ) -> Result<(), Closed> {
        let address = ctx.addresses.iter().find(|address| address.ip == local).copied();
        let address = address.ok_or(Closed::AddressLost)?;
        if self.full() || !self.takes_joins() || (self.not_there && remote == self.remote) {
            return Err(Closed::Refused);
        }
        let local = loop {
            // Ephemeral ports (RFC 6335 §6).
            let local = SocketAddr::new(local, 49_152 + (ctx.random() % 16_384) as u16);
            let own = self.entries.iter().any(|entry| (entry.tcp.local(), entry.tcp.remote()) == (local, remote));
            if !own && !ctx.tuples.contains(local, remote) {
                break local;
            }
        };
        let isn = ctx.random() as u32;
        let local_nonce = ctx.random() as u32;
        let tcp = Subflow::connect(now, &ctx.tcp_towards(remote.ip()), local, remote, isn, address.mtu_bytes);
        let join = Join { local_nonce, remote_nonce: None, again: Time::MAX, tries: 0 };
        let mut entry = Entry::new(tcp, address.nic, true, Some(join));
        entry.local_id = self.addresses.id(local.ip());
        entry.remote_id = self.addresses.remote_id(remote);
        entry.backup = backup;
        self.add(entry, ctx);
        Ok(())
    }

    /// Answers a SYN with MP_JOIN; false when no more subflows are taken.
    pub fn accept_join(&mut self, now: Time, opening: &Opening, syn: &Tcp, ctx: &mut Context) -> bool {
        let Some(MpJoin::Syn { backup, address_id, nonce, .. }) =
            Signals::of(&syn.options.brief(), &syn.options).join()
        else {
            return false;
        };
        let joined = self.entries.iter().filter(|entry| entry.join.is_some() && !entry.is_over()).count();
        let allowed = joined < ctx.config.mptcp.path_manager.max_subflows as usize;
        if self.mode != Mode::Multipath || self.over.is_some() || self.full() || !allowed {
            return false;
        }
        let isn = ctx.random() as u32;
        let local_nonce = ctx.random() as u32;
        let Opening { local, remote, nic, mtu_bytes, .. } = *opening;
        let tcp = Subflow::accept(now, &ctx.tcp_towards(remote.ip()), local, remote, isn, mtu_bytes, syn);
        let join = Join { local_nonce, remote_nonce: Some(nonce), again: Time::MAX, tries: 0 };
        let mut entry = Entry::new(tcp, nic, false, Some(join));
        entry.local_id = self.addresses.id(local.ip());
        entry.remote_id = address_id;
        entry.peer_backup = backup;
        self.add(entry, ctx);
        true
    }

    /// Whether a further subflow would still be taken, as neither end has said that it writes nothing more
    /// (net/mptcp/protocol.h, mptcp_is_fully_established).
    fn takes_joins(&self) -> bool {
        self.path_manager.joins_to_the_end() || !(self.send.is_closed() || self.receive.finished())
    }

    fn full(&self) -> bool {
        self.entries.len() == MOST_SUBFLOWS && !self.entries.iter().any(Entry::is_free)
    }

    /// The index of a new subflow: that of one that is long over, or a new one.
    fn add(&mut self, mut entry: Entry, ctx: &Context) {
        entry.tcp.set_ticks(ctx.ticks);
        self.joined += 1;
        entry.joined = self.joined;
        let window = Window {
            cwnd_packets: f64::from(ctx.config.tcp.initial_window_packets),
            ssthresh_packets: ctx.config.tcp.initial_ssthresh_packets.map_or(f64::INFINITY, f64::from),
            srtt_ns: None,
            min_rtt_ns: None,
            mss_bytes: entry.tcp.mss_bytes(),
            recovering: false,
            usable: false,
        };
        let i = match self.entries.iter().position(Entry::is_free) {
            Some(i) => {
                self.send.forget(i);
                self.prios &= !(1 << i);
                self.entries[i] = entry;
                self.windows[i] = window;
                i
            }
            None => {
                self.entries.push(entry);
                self.windows.push(window);
                self.entries.len() - 1
            }
        };
        if self.mode != Mode::Plain {
            // MP_CAPABLE with the first data takes more than a short DSS.
            let tells_keys = self.client && self.mode == Mode::Opening;
            let bytes = self.agreed.dss_bytes().max(if tells_keys { CAPABLE_BYTES } else { 0 });
            self.with(i, |entry, control| entry.tcp.reserve_options(bytes, control));
        }
        self.opened.push(i);
    }

    /// Whether a segment may reach TCP: handshakes of MPTCP are checked first.
    pub(super) fn admits(&mut self, i: usize, tcp: &Tcp, signals: &Signals) -> bool {
        let entry = &mut self.entries[i];
        if self.mode == Mode::Plain || tcp.flags.has(Flags::RST) || tcp.flags.has(Flags::SYN) {
            return true;
        }
        if entry.tcp.state() != State::SynReceived || entry.confirmed {
            if matches!(signals.join(), Some(MpJoin::Ack { .. })) && !entry.opened_here {
                entry.tcp.acknowledge(); // the fourth packet was lost
            }
            return true;
        }
        if entry.join.is_some() {
            let (local, remote) = self.parties(i);
            match signals.join() {
                Some(MpJoin::Ack { hmac }) if hmac == join_ack_hmac(self.agreed.version(), remote, local) => {}
                // Whatever overtook the packet with the HMAC comes again.
                None if signals.any() => return false,
                _ => {
                    self.refuse(i, reason::MPTCP_SPECIFIC);
                    return false;
                }
            }
            if !self.takes_joins() {
                self.refuse(i, reason::PROHIBITED);
                return false;
            }
            self.entries[i].confirmed = true;
            return true;
        }
        match signals.capable() {
            Some(MpCapable { sender_key: Some(peer), receiver_key: Some(own), .. }) => {
                if own != self.agreed.local_key() {
                    return false;
                }
                self.keys_known(peer);
                self.entries[i].confirmed = true;
                true
            }
            // Version 0: the SYN had the key, and data shows that ours arrived (RFC 6824 §3.1).
            _ if signals.dss().is_some() && self.agreed.version() == 0 => {
                if let Some(peer) = self.agreed.remote_key() {
                    self.keys_known(peer);
                    self.entries[i].confirmed = true;
                }
                true
            }
            // Data that overtook the packet with the keys comes again.
            _ if signals.any() => false,
            // The options are gone: a middlebox, or a peer that thought better of it (RFC 8684 §3.7).
            _ => {
                self.fall_back(i);
                true
            }
        }
    }

    /// What the peer's MP_CAPABLE asks for.
    fn agree(&mut self, flags: u8) {
        self.agreed.agree(flags);
        self.not_there = flags & NOT_HERE != 0;
    }

    fn keys_known(&mut self, peer: u64) {
        self.agreed.learn_key(peer);
        self.mode = Mode::Multipath;
        if self.own_windows {
            self.receive.unbind();
            self.send.unbind();
        }
    }

    /// Refuses a subflow with a reset that gives a reason.
    pub(super) fn refuse(&mut self, i: usize, reason: u8) {
        self.entries[i].reset_reason = Some(reason);
        self.entries[i].tcp.abort();
    }

    /// TCP's handshake on subflow `i` is complete.
    #[cold]
    #[inline(never)]
    pub(super) fn subflow_established(
        &mut self,
        now: Time,
        i: usize,
        tcp: &Tcp,
        signals: &Signals,
        received: &Received,
        ctx: &mut Context,
    ) {
        let opened_here = self.entries[i].opened_here;
        let window_bytes = if tcp.flags.has(Flags::SYN) { u64::from(tcp.window) } else { received.window_bytes };
        if self.entries[i].join.is_some() {
            if opened_here && !(self.joined(i, signals) && self.takes_joins()) {
                self.refuse(i, reason::MPTCP_SPECIFIC);
                return self.close_subflow(now, i, Closed::Refused, ctx);
            }
            self.fallback.diverge();
            if !opened_here {
                // The fourth packet, which lets the other end send.
                self.entries[i].tcp.acknowledge();
                self.carries_now();
            }
        } else {
            if self.mode == Mode::Opening && opened_here {
                let answer = signals.capable().filter(|capable| is_understood(self.agreed.version(), capable));
                match answer.and_then(|capable| capable.sender_key.map(|key| (key, capable))) {
                    Some((key, capable)) => {
                        self.agree(capable.flags);
                        self.keys_known(key);
                    }
                    None => self.fall_back(i),
                }
            }
            self.send.acknowledged(0, window_bytes);
            ctx.tell(Event::Connected);
        }
        if self.has_own_windows() {
            self.entries[i].tcp.allow(received.acked + window_bytes);
        }
        if self.entries[i].join.is_none() && self.mode == Mode::Multipath && !opened_here {
            self.paths_open(now, ctx);
        }
        if self.entries[i].join.is_some() {
            let (local, remote) = self.tuple(i);
            self.tell_paths(now, PathEvent::SubflowEstablished { subflow: i, local, remote }, ctx);
        }
    }

    /// Checks the SYN/ACK of a subflow that this end opened.
    fn joined(&mut self, i: usize, signals: &Signals) -> bool {
        let Some(MpJoin::SynAck { backup, address_id, hmac, nonce }) = signals.join() else { return false };
        let entry = &mut self.entries[i];
        if let Some(join) = &mut entry.join {
            join.remote_nonce = Some(nonce);
        }
        entry.peer_backup = backup;
        entry.remote_id = address_id;
        let (local, remote) = self.parties(i);
        hmac == join_syn_ack_hmac(self.agreed.version(), remote, local)
    }
}

/// Whether an MP_CAPABLE is of the version that is spoken and asks for nothing that nobody knows (RFC 8684 §3.1).
fn is_understood(version: u8, capable: &MpCapable) -> bool {
    capable.version == version && capable.flags & EXTENDED == 0 && capable.flags & HMAC != 0
}
