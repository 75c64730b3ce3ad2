//! Flows that wait to be understood: which connection does a 4-tuple belong to?
//!
//! A handshake is decided when its SYN/ACK shows the key, a join when its token is known, and a flow whose handshake was
//! not captured when a data sequence number of 8 bytes lies near those of a known connection.

mod matching;

use super::flows::{Answer, Key, address, direction};
use super::handshake::{Handshake, is_opening};
use super::identity::{Identity, Names, Opened};
use super::known::{Connections, Known};
use super::subflow::{Addresses, Kind as SubflowKind, Subflow};
use super::vantage;
use crate::event::Seen;
use tables::Direction;
use wire::mptcp::{Dss, MpCapable, MpJoin, Mptcp};
use wire::{Flags, L4, Observation, Tcp, TcpOption, Time, seq};

/// Linux asks so often for MPTCP and then for plain TCP (net.mptcp.syn_retrans_before_tcp_fallback).
pub(super) const LEFT_OUT: &str = "the client left MP_CAPABLE out of the SYN that was answered";
/// Packets of a flow that are kept at most before it is decided with what there is.
const MOST_PACKETS: usize = 16;

pub(super) struct Pending {
    pub(super) key: Key,
    packets: Vec<(bool, Observation)>,
    options: Vec<Shown>,
    first_from_low: bool,
}

/// What a packet's options show.
#[derive(Clone, Copy, Default)]
struct Shown {
    capable: Option<MpCapable>,
    join: Option<MpJoin>,
    dss: Option<Dss>,
    /// Any MPTCP option.
    multipath: bool,
    /// There were more options than were captured.
    cut: bool,
}

/// Flows of which nothing came.
#[derive(Clone, Copy)]
pub(super) enum Lone {
    /// SYNs without an answer.
    Unanswered,
    /// SYNs, and resets that answer them.
    Refused,
    /// SYN/ACKs to SYNs that were not seen, and resets.
    Unasked,
}

impl Lone {
    pub(super) const COUNT: usize = 3;
}

pub(super) enum Decision {
    Wait,
    New(Opening),
    Join { connection: u32, subflow: Option<usize>, client_is_low: bool, opener: Direction, kind: SubflowKind },
}

/// How a connection begins.
pub(super) struct Opening {
    pub(super) version: Option<u8>,
    pub(super) midway: bool,
    pub(super) fallback: Option<&'static str>,
    /// Options are cut that would tell whether it speaks MPTCP.
    pub(super) unknown: bool,
    pub(super) server_token: Option<u32>,
    pub(super) kind: SubflowKind,
    pub(super) client_is_low: bool,
    pub(super) opener: Direction,
}

impl Pending {
    pub(super) fn new(key: Key, first_from_low: bool) -> Self {
        Pending { key, packets: Vec::new(), options: Vec::new(), first_from_low }
    }

    pub(super) fn push(&mut self, from_low: bool, observation: &Observation) {
        let mut shown = Shown { cut: tcp(observation).options.is_cut(), ..Shown::default() };
        for option in tcp(observation).options.iter().flatten() {
            let TcpOption::Mptcp(option) = option else { continue };
            shown.multipath = true;
            match option {
                Mptcp::Capable(capable) => shown.capable = Some(capable),
                Mptcp::Join(join) => shown.join = Some(join),
                Mptcp::Dss(dss) => shown.dss = Some(dss),
                _ => {}
            }
        }
        if self.packets.is_empty() {
            // Mostly one SYN of many that nobody answers, or a few packets more.
            (self.packets, self.options) = (Vec::with_capacity(1), Vec::with_capacity(1));
        }
        self.packets.push((from_low, *observation));
        self.options.push(shown);
    }

    pub(super) fn first(&self) -> Seen {
        Seen::of(&self.packets[0].1)
    }

    pub(super) fn len(&self) -> u64 {
        self.packets.len() as u64
    }

    pub(super) fn into_packets(self) -> Vec<(bool, Observation)> {
        self.packets
    }

    /// What it is if nothing came of it so far.
    pub(super) fn lone(&self) -> Option<Lone> {
        let first = tcp(&self.packets[0].1);
        let is_reset = |packet: &Observation| tcp(packet).flags.has(Flags::RST);
        if !first.flags.has(Flags::SYN)
            || !self.packets.iter().all(|(from_low, o)| is_reset(o) || self.is_first_again(*from_low, o))
        {
            return None;
        }
        Some(match (is_opening(first), self.is_answered()) {
            (true, false) => Lone::Unanswered,
            (true, true) => Lone::Refused,
            (false, _) => Lone::Unasked,
        })
    }

    /// Nothing but SYNs came so far.
    pub(super) fn is_unanswered(&self) -> bool {
        self.packets.len() < MOST_PACKETS && matches!(self.lone(), Some(Lone::Unanswered))
    }

    /// The SYN or SYN/ACK that the flow began with, maybe sent again.
    fn is_first_again(&self, from_low: bool, packet: &Observation) -> bool {
        let (first, now) = (tcp(&self.packets[0].1).flags, tcp(packet).flags);
        from_low == self.first_from_low
            && [Flags::SYN, Flags::ACK].into_iter().all(|flag| now.has(flag) == first.has(flag))
    }

    /// A SYN with another sequence number than its side had, or where none was seen the answer to another: the ports are used again.
    pub(super) fn is_reopened_by(&self, from_low: bool, observation: &Observation) -> bool {
        let (now, Some((_, first))) = (tcp(observation), self.packets.first()) else { return false };
        let first = tcp(first);
        if let (Some(now), Some(before)) = (Answer::of(now), self.answer()) {
            return from_low == self.first_from_low && !now.is_like(before);
        }
        let before = match from_low == self.first_from_low {
            true => first.seq,
            false if first.flags.has(Flags::ACK) => first.ack.wrapping_sub(1),
            false => return false,
        };
        is_opening(now) && first.flags.has(Flags::SYN) && now.seq != before
    }

    /// The SYN/ACK that the flow began with.
    pub(super) fn answer(&self) -> Option<Answer> {
        self.packets.first().and_then(|(_, first)| Answer::of(tcp(first)))
    }

    /// It asks for a subflow, or answers who did.
    pub(super) fn is_join(&self) -> bool {
        self.options[0].join.is_some()
    }

    pub(super) fn subflow(kind: SubflowKind, opener: Direction) -> Subflow {
        Subflow {
            opener,
            kind,
            nonces: [Vec::new(), Vec::new()],
            address_ids: [None; 2],
            hmac_valid: None,
            backup: false,
            mss_bytes: [None; 2],
            ecn: [None; 2],
            syn_cut: [false; 2],
            window_scale: [None; 2],
            reset_reason: None,
            copies: 0,
            views: [None, None],
        }
    }

    /// The opener's random number.
    pub(super) fn nonce(&self) -> Option<u32> {
        match self.options[0].join {
            Some(MpJoin::Syn { nonce, .. }) => Some(nonce),
            _ => None,
        }
    }

    /// Client's and server's.
    pub(super) fn addresses(&self, client_is_low: bool) -> Addresses {
        let (low, high) = (address(self.key.low), address(self.key.high));
        let (client, server) = if client_is_low { (low, high) } else { (high, low) };
        Addresses { client, server }
    }

    /// Decides, if what was seen is enough.
    pub(super) fn decide(&self, known: &Known, connections: &Connections) -> Decision {
        let (from_low, last) = self.packets.last().expect("something waits");
        let flags = tcp(last).flags;
        let first = tcp(&self.packets[0].1);
        let over = flags.has(Flags::RST) && !self.is_stray_reset() || self.packets.len() >= MOST_PACKETS;
        if !first.flags.has(Flags::SYN) {
            return match self.by_data(known, connections) {
                Decision::Wait if over || flags.has(Flags::FIN) => self.give_up(known, connections),
                // Its SYN should have been seen: the answer tells whether the other side knows it.
                Decision::Join { connection, .. }
                    if !over && !self.is_answered() && self.lacks_beginning(connection, connections) =>
                {
                    Decision::Wait
                }
                Decision::Join { connection, .. }
                    if self.is_refused() && self.lacks_beginning(connection, connections) =>
                {
                    self.stray(connection)
                }
                decision => decision,
            };
        }
        if let Some(join) = self.options[0].join {
            let by_token = match join {
                MpJoin::Syn { token, nonce, .. } => self.by_token(known, connections, token, nonce),
                _ => Decision::Wait,
            };
            return match by_token {
                Decision::Wait => match self.by_data(known, connections) {
                    Decision::Wait if over => self.give_up(known, connections),
                    decision => decision,
                },
                decision => decision,
            };
        }
        let is_known = if first.flags.has(Flags::ACK) {
            // Where a flood came from forged addresses SYN/ACKs are all there is.
            !self.is_first_again(*from_low, last)
        } else {
            self.is_answer(*from_low, tcp(last)) || self.lacks_answer(last.at)
        };
        if is_known || over { self.give_up(known, connections) } else { Decision::Wait }
    }

    /// Whether the last packet resets an older connection of the same ports: it is not about the SYN that waits (RFC 9293
    /// §3.10.7.3).
    fn is_stray_reset(&self) -> bool {
        let [(opener_is_low, first), .., (from_low, last)] = self.packets.as_slice() else { return false };
        let (syn, reset) = (tcp(first), tcp(last));
        if !is_opening(syn) || self.shown(true).is_some() {
            return false;
        }
        let from_opener = from_low == opener_is_low;
        let number = if from_opener { reset.seq } else { reset.ack };
        let near = (0..=i32::from(u16::MAX)).contains(&seq::diff(number, syn.seq));
        !near && (from_opener || reset.flags.has(Flags::ACK))
    }

    /// Whether a packet answers the SYN that waits. One that acknowledges something else is of an older connection (RFC 9293
    /// §3.5, figure 8).
    fn is_answer(&self, from_low: bool, answer: &Tcp) -> bool {
        let first = tcp(&self.packets[0].1);
        let acknowledges = !is_opening(first)
            || from_low == self.first_from_low
            || (0..=i32::from(u16::MAX)).contains(&seq::diff(answer.ack, first.seq));
        answer.flags.has(Flags::SYN) && answer.flags.has(Flags::ACK) && acknowledges
    }

    /// Whether to wait although the connection is known: the first of its subflows that a capture shows, if no other does,
    /// tells at which end it was taken when the handshake is over.
    pub(super) fn is_early(&self, decision: &Decision, connections: &Connections) -> bool {
        let Decision::Join { connection, subflow, .. } = *decision else { return false };
        let connection = connections[connection as usize].as_ref().expect("known");
        self.packets.len() < MOST_PACKETS
            && self.packets.iter().all(|(_, observation)| tcp(observation).flags.has(Flags::SYN))
            && !connection.knows(self.key.site)
            && subflow.is_none_or(|subflow| connection.subflows[subflow].views.iter().all(Option::is_none))
    }

    /// The end that is near, by the handshake's waits, and whether that is beyond doubt.
    pub(super) fn near_side(&self, client_is_low: bool) -> Option<(Direction, bool)> {
        let mut handshake = Handshake::default();
        for (from_low, observation) in &self.packets {
            let (seen, flags) = (Seen::of(observation), tcp(observation).flags);
            match (flags.has(Flags::SYN), flags.has(Flags::ACK)) {
                (true, false) => handshake.syn(seen),
                (true, true) if self.is_answer(*from_low, tcp(observation)) => handshake.syn_ack(seen),
                (false, true) if *from_low == self.opener_is_low() => {
                    handshake.ack(seen);
                    break;
                }
                _ => {}
            }
        }
        let (acceptor, opener) = handshake.waits().filter(|(acceptor, opener)| acceptor != opener)?;
        let opener_is_near = opener < acceptor;
        let side = direction(opener_is_near == (self.opener_is_low() == client_is_low));
        Some((side, vantage::is_clear(opener, acceptor)))
    }

    /// The opener went on as if the SYN/ACK had come, and it cannot come any more: packets of one time have no order.
    fn lacks_answer(&self, now: Time) -> bool {
        let mut opener = self.packets.iter().filter(|(from_low, _)| *from_low == self.first_from_low);
        opener.any(|(_, observation)| tcp(observation).flags.has(Flags::ACK) && observation.at < now)
    }

    /// Decides with what there is.
    pub(super) fn give_up(&self, known: &Known, connections: &Connections) -> Decision {
        let first = tcp(&self.packets[0].1);
        if !first.flags.has(Flags::SYN) {
            if let by_data @ Decision::Join { .. } = self.by_data(known, connections) {
                return by_data;
            }
            if let Some(connection) = self.by_numbers(known, connections).filter(|_| self.is_refused()) {
                return self.stray(connection);
            }
            return self.midway(self.options.iter().any(|shown| shown.multipath).then_some(1));
        }
        let opener_is_low = self.opener_is_low();
        if let Some(join) = self.options[0].join {
            let server_token = if let MpJoin::Syn { token, .. } = join { Some(token) } else { None };
            return Decision::New(Opening {
                version: Some(1),
                midway: true,
                fallback: None,
                unknown: false,
                server_token,
                kind: SubflowKind::Join,
                client_is_low: opener_is_low,
                opener: Direction::Up,
            });
        }
        if !self.options[0].multipath
            && let Some((connection, subflow)) = self.bare_join(known, connections)
        {
            return Decision::Join {
                connection,
                subflow: Some(subflow),
                client_is_low: opener_is_low,
                opener: Direction::Up,
                kind: SubflowKind::Join,
            };
        }
        let elsewhere = self.seen_elsewhere(known, connections, opener_is_low);
        if let Some(connection) = elsewhere.or_else(|| self.asked_elsewhere(known, connections)) {
            return Decision::Join {
                connection,
                subflow: Some(0),
                client_is_low: opener_is_low,
                opener: Direction::Up,
                kind: SubflowKind::Initial,
            };
        }
        self.initial(opener_is_low)
    }

    /// The end that sent the SYN, or got the SYN/ACK.
    fn opener_is_low(&self) -> bool {
        self.first_from_low != tcp(&self.packets[0].1).flags.has(Flags::ACK)
    }

    /// A connection's first subflow, or plain TCP.
    fn initial(&self, client_is_low: bool) -> Decision {
        let (syn, syn_ack) = (self.shown(false), self.shown(true));
        let asked = syn.and_then(|shown| shown.capable);
        let answered = syn_ack.and_then(|shown| shown.capable);
        let cut = |shown: Option<&Shown>| shown.is_some_and(|shown| shown.cut);
        let refused = syn_ack.is_some() && answered.is_none() && !cut(syn_ack);
        let fallback = self.refusal();
        // A SYN whose options are whole and without MP_CAPABLE asks for plain TCP, whatever the answer's were.
        let may_ask = asked.is_some() || cut(syn) || syn.is_none();
        let unknown = answered.is_none() && !refused && may_ask && (cut(syn) || cut(syn_ack));
        let version = answered.or(asked.filter(|_| !refused)).map(|capable| capable.version);
        let kind = match (asked, answered) {
            (None, None) => SubflowKind::Tcp,
            _ => SubflowKind::Initial,
        };
        let opener = Direction::Up;
        Decision::New(Opening {
            version,
            midway: false,
            fallback,
            unknown,
            server_token: None,
            kind,
            client_is_low,
            opener,
        })
    }

    /// What the SYN's options show, or the SYN/ACK's.
    fn shown(&self, ack: bool) -> Option<&Shown> {
        let mut packets = self.packets.iter().zip(&self.options);
        let is_wanted = |from_low, packet| if ack { self.is_answer(from_low, packet) } else { is_opening(packet) };
        packets.find(|((from_low, o), _)| is_wanted(*from_low, tcp(o))).map(|(_, shown)| shown)
    }

    /// The SYN asked for MPTCP, and its answer does not, or answers a later SYN that did not ask.
    pub(super) fn refusal(&self) -> Option<&'static str> {
        let (syn, syn_ack) = (self.shown(false)?, self.shown(true)?);
        let refused = syn.capable.is_some() && syn_ack.capable.is_none() && !syn_ack.cut;
        let before = self.packets.iter().take_while(|(_, observation)| is_opening(tcp(observation)));
        let last = &self.options[before.count().max(1) - 1];
        let left_out = !last.multipath && !last.cut;
        refused.then_some(if left_out { LEFT_OUT } else { "the SYN/ACK came without MP_CAPABLE" })
    }

    /// What the connection is known by, if this is its first subflow.
    pub(super) fn names(&self, client_is_low: bool) -> Names {
        Names {
            identity: self.identity(client_is_low),
            opened: self.opened(client_is_low),
            addresses: self.addresses(client_is_low),
        }
    }

    fn identity(&self, client_is_low: bool) -> Option<Identity> {
        let (index, syn_ack) = self.packets.iter().enumerate().find_map(|(index, (from_low, observation))| {
            let tcp = tcp(observation);
            self.is_answer(*from_low, tcp).then_some((index, tcp))
        })?;
        let key = self.options[index].capable.and_then(|capable| capable.sender_key);
        let addresses = self.addresses(client_is_low);
        Some(Identity { key, sequence_numbers: (syn_ack.ack.wrapping_sub(1), syn_ack.seq), addresses })
    }

    /// Its SYN's number, as both ends see it, and where it goes.
    fn opened(&self, client_is_low: bool) -> Option<Opened> {
        let first = tcp(&self.packets[0].1);
        let number = if first.flags.has(Flags::ACK) { first.ack.wrapping_sub(1) } else { first.seq };
        first.flags.has(Flags::SYN).then(|| (number, self.addresses(client_is_low).server))
    }

    /// Both sides have spoken.
    fn is_answered(&self) -> bool {
        self.packets.iter().any(|(from_low, _)| *from_low != self.first_from_low)
    }

    /// The side that did not begin only reset what came.
    fn is_refused(&self) -> bool {
        let is_reset = |packet: &Observation| tcp(packet).flags.has(Flags::RST);
        self.is_answered() && self.packets.iter().all(|(from_low, o)| is_reset(o) == (*from_low != self.first_from_low))
    }

    /// The site saw the connection from its beginning on, but not that of this flow.
    fn lacks_beginning(&self, connection: u32, connections: &Connections) -> bool {
        let connection = connections[connection as usize].as_ref().expect("known");
        !connection.midway && connection.knows(self.key.site)
    }

    /// Packets that a connection's other side did not know.
    fn stray(&self, connection: u32) -> Decision {
        Decision::Join {
            connection,
            subflow: None,
            client_is_low: self.first_from_low,
            opener: Direction::Up,
            kind: SubflowKind::Stray,
        }
    }

    /// A connection of its own, begun before the capture. Servers mostly have the lower port.
    fn midway(&self, version: Option<u8>) -> Decision {
        let (low, high) = (self.key.low.1, self.key.high.1);
        let client_is_low = if low == high { self.first_from_low } else { low > high };
        Decision::New(Opening {
            version,
            midway: true,
            fallback: None,
            unknown: version.is_none() && self.options.iter().any(|shown| shown.cut),
            server_token: None,
            kind: if version.is_some() { SubflowKind::Unknown } else { SubflowKind::Tcp },
            client_is_low,
            opener: Direction::Up,
        })
    }
}

fn tcp(observation: &Observation) -> &Tcp {
    match &observation.frame.l4 {
        L4::Tcp(tcp) => tcp,
        _ => unreachable!("only TCP waits"),
    }
}
