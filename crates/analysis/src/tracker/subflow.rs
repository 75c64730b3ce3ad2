//! A subflow, and how it looks from one end.

use super::{
    flows::Answer, handshake::Handshake, mappings::Mappings, repeats::Repeats, sequence::Sequence, signs::Signs,
};
use crate::event::Seen;
use std::net::SocketAddr;
use tables::Direction;
use wire::Flags;

/// Where a subflow goes between, as seen at one end: a NAT may stand between the ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Addresses {
    pub(crate) client: SocketAddr,
    pub(crate) server: SocketAddr,
}

/// A subflow of a connection.
#[derive(Debug)]
pub(crate) struct Subflow {
    /// `Up`: the client opened it.
    pub(crate) opener: Direction,
    pub(crate) kind: Kind,
    /// Random numbers of MP_JOIN, of the client's and of the server's side; several where a SYN came anew from behind an
    /// address translator and was answered anew.
    pub(crate) nonces: [Vec<u32>; 2],
    pub(crate) address_ids: [Option<u8>; 2],
    pub(crate) hmac_valid: Option<bool>,
    pub(crate) backup: bool,
    pub(crate) mss_bytes: [Option<u16>; 2],
    /// The side's SYN had more options than were captured.
    pub(super) syn_cut: [bool; 2],
    pub(crate) window_scale: [Option<u8>; 2],
    /// Whether the SYN asked for ECN, and whether its answer agreed (RFC 3168 §6.1.1).
    pub(super) ecn: [Option<bool>; 2],
    pub(crate) reset_reason: Option<&'static str>,
    /// 4-tuples that showed it once more.
    pub(super) copies: u32,
    pub(crate) views: [Option<Box<View>>; 2],
}

impl Subflow {
    /// How its addresses look at any end.
    pub(super) fn addresses(&self) -> impl Iterator<Item = Addresses> {
        self.views.iter().flatten().map(|view| view.addresses)
    }

    /// A SYN was read: what it said of windows may be known now.
    pub(super) fn learn_window_shifts(&mut self) {
        for end in 0..2 {
            let shifts = Direction::BOTH.map(|by| self.window_shift(by, end));
            if let Some(view) = &mut self.views[end] {
                view.window_shifts = shifts;
            }
        }
    }

    /// A SYN, or its answer, says this: one that asks is sent again without, and answers may be altered on their way.
    pub(super) fn says_of_ecn(&mut self, flags: Flags) {
        let (ece, cwr) = (flags.has(Flags::ECE), flags.has(Flags::CWR));
        let [asks, agrees] = &mut self.ecn;
        if flags.has(Flags::ACK) {
            *agrees = Some(agrees.unwrap_or(true) && ece && !cwr);
        } else {
            *asks = Some(asks.unwrap_or(false) || ece && cwr);
        }
    }

    /// Whether both sides agreed on ECN.
    pub(crate) fn speaks_ecn(&self) -> Option<bool> {
        let [asks, agrees] = self.ecn;
        Some(asks? && agrees?)
    }

    /// As seen at an end: by what the side's SYN said if both SYNs said something (RFC 7323 §2.2).
    fn window_shift(&self, by: Direction, end: usize) -> Option<u8> {
        let handshake = &self.views[end].as_ref()?.handshake;
        let said = |side: Direction| {
            let syn = if side == self.opener { handshake.syn } else { handshake.syn_ack };
            let shift = self.window_scale[side as usize];
            syn.filter(|_| shift.is_some() || !self.syn_cut[side as usize]).map(|_| shift)
        };
        match (said(by), said(by.reverse())) {
            (Some(None), _) | (_, Some(None)) => Some(0),
            (Some(Some(shift)), Some(Some(_))) => Some(shift.min(14)),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Initial,
    Join,
    Tcp,
    Unknown,
    /// None: packets that the other side did not know, and reset.
    Stray,
}

/// A subflow as seen at one end. Arrays are indexed by the direction of the data.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) first: Seen,
    pub(crate) last: Seen,
    pub(crate) addresses: Addresses,
    /// The capture that shows it.
    pub(super) site: u32,
    pub(super) signs: Signs,
    pub(super) handshake: Handshake,
    /// Whether each side's SYN had an MPTCP option.
    pub(super) offers: [Option<bool>; 2],
    /// How far the windows that each side announces are shifted, where that is known.
    pub(super) window_shifts: [Option<u8>; 2],
    pub(super) sequences: [Sequence; 2],
    pub(super) mappings: [Mappings; 2],
    /// Subflow sequence numbers of mappings count from the SYN; this turns them into positions where it was not seen.
    pub(super) alignment: [Alignment; 2],
    /// A mapping was seen.
    pub(super) mapped: [bool; 2],
    pub(super) unmapped_bytes: [u64; 2],
    /// Where they are, of so many pieces as are kept.
    pub(super) unmapped: [Vec<(i64, i64)>; 2],
    /// The last packet of the side said nothing of data sequence numbers.
    pub(super) silent: [bool; 2],
    pub(crate) merged: [bool; 2],
    pub(super) fins: [bool; 2],
    pub(super) reset: bool,
    /// The end that reset it.
    pub(super) resets: [bool; 2],
    /// Its ports were used again before it ended.
    pub(super) abandoned: bool,
    /// Data goes on without mappings.
    pub(super) fallen_back: bool,
    pub(super) repeats: Repeats,
    pub(crate) duplicates: u64,
    /// Packets of another connection with the same ports, and acknowledgements of what was never sent.
    pub(super) stray: u64,
    /// The SYN was answered from an older connection of the same ports.
    pub(super) challenged: bool,
}

/// Where positions stand against the subflow sequence numbers of mappings.
#[derive(Clone, Copy, Debug)]
pub(super) enum Alignment {
    /// They agree: the SYN was seen.
    Known(i64),
    /// A first mapping hints at a shift; it may have begun before the segment that carried it.
    Hint {
        data_seq: u64,
        shift: i64,
    },
    Unknown,
}

impl View {
    pub(super) fn new(first: Seen, addresses: Addresses, site: u32) -> Self {
        View {
            first,
            last: first,
            addresses,
            site,
            signs: Signs::default(),
            handshake: Handshake::default(),
            offers: [None; 2],
            window_shifts: [None; 2],
            sequences: Default::default(),
            mappings: Default::default(),
            alignment: [Alignment::Unknown; 2],
            mapped: [false; 2],
            unmapped_bytes: [0; 2],
            unmapped: Default::default(),
            silent: [false; 2],
            merged: [false; 2],
            fins: [false; 2],
            reset: false,
            resets: [false; 2],
            abandoned: false,
            fallen_back: false,
            repeats: Repeats::default(),
            duplicates: 0,
            stray: 0,
            challenged: false,
        }
    }

    /// The SYN/ACK's numbers, of the side that sends in this direction.
    pub(super) fn answered(&self, direction: Direction) -> Option<Answer> {
        self.handshake.syn_ack?;
        let before = |direction| self.sequences[direction as usize].base();
        Some(Answer { seq: before(direction)?.wrapping_sub(1), ack: before(direction.reverse())? })
    }

    /// What answered the SYN: a SYN/ACK, or else a reset.
    pub(super) fn answer(&self) -> Option<Seen> {
        self.handshake.syn_ack.or(self.handshake.reset)
    }

    /// How long the handshake's answers took, of both sides: a round trip, and nearly.
    pub(super) fn round_trip_nanos(&self) -> i64 {
        self.handshake.waits().map_or(0, |(acceptor, opener)| (acceptor + opener) as i64)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_cut_off()
            || Direction::BOTH.iter().all(|&direction| {
                let sequence = &self.sequences[direction as usize];
                sequence.fin.zip(sequence.acked()).is_some_and(|(fin, acked)| acked > fin)
            })
    }

    /// It ended otherwise than by FINs.
    pub(super) fn is_cut_off(&self) -> bool {
        self.reset || self.abandoned
    }

    /// The connection fell back to TCP: data goes on after the last mapping, or from the start where there was none.
    pub(super) fn fall_back(&mut self) {
        self.fallen_back = true;
        for (mappings, sequence) in self.mappings.iter_mut().zip(&self.sequences) {
            if !mappings.go_on() && sequence.from_syn {
                *mappings = Mappings::identity();
            }
        }
    }

    /// Remembers what no mapping covers of a piece of data, in case it turns out that it needs none: on a subflow that is
    /// all there is, positions are data offsets.
    #[cold]
    pub(super) fn keep_unmapped(&mut self, d: usize, from: i64, to: i64) {
        let kept = &mut self.unmapped[d];
        let mut keep = |from, to| {
            if from < to && kept.len() < MOST_UNMAPPED {
                kept.push((from, to));
            }
        };
        let mut at = from;
        self.mappings[d].map(from, to, |data, len| {
            keep(at, data);
            at = data + len;
        });
        keep(at, to);
    }

    /// Gives back memory that a closed subflow no longer needs.
    pub(super) fn shrink(&mut self) {
        self.sequences.iter_mut().for_each(Sequence::shrink);
        self.mappings.iter_mut().for_each(Mappings::shrink);
        self.unmapped = Default::default();
        self.repeats = Repeats::default();
    }

    pub(super) fn ended(&self) -> &'static str {
        match (self.reset, self.fins) {
            (true, _) => "reset",
            (false, [true, true]) => "fin",
            (false, [false, false]) => "open",
            _ => "half-closed",
        }
    }

    pub(crate) fn handshake_outcome(&self) -> &'static str {
        self.handshake.outcome()
    }
}

impl Alignment {
    /// Shift from subflow sequence number − 1 to position, once it is certain. Without the SYN, the segment that carries a
    /// mapping first need not be where the mapping begins; but of two mappings in a row one does, and its shift is the smaller.
    /// A segment as long as its mapping (`whole`) is where it begins.
    pub(super) fn shift(&mut self, position: i64, subflow_seq: u32, data_seq: u64, whole: bool) -> Option<i64> {
        let relative = i64::from(subflow_seq) - 1;
        match *self {
            Alignment::Known(shift) => return Some(shift),
            _ if whole => *self = Alignment::Known(position - relative),
            Alignment::Unknown => *self = Alignment::Hint { data_seq, shift: position - relative },
            Alignment::Hint { data_seq: other, shift } if other != data_seq => {
                *self = Alignment::Known(shift.min(position - relative));
            }
            Alignment::Hint { .. } => {}
        }
        match *self {
            Alignment::Known(shift) => Some(shift),
            _ => None,
        }
    }
}

/// Pieces of data without a mapping that are kept.
const MOST_UNMAPPED: usize = 1024;
