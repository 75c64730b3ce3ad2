//! What stands before the data of a connection, byte by byte: a message of the Convert Protocol (RFC 8803). Data is a pattern
//! from its own beginning on.

use super::Connection;
use crate::subflow::Piece;
use wire::mptcp::{dss_checksum, dss_checksum_of_pattern};
use wire::{Content, Packet, Payload, pattern};

/// The prefaces of both directions.
#[derive(Debug, Default)]
pub(super) struct Preface {
    /// What this end sends in its SYN (RFC 7413): it has no data sequence number (RFC 8684 §B.2).
    pub in_syn: Vec<u8>,
    /// What it sends before its data.
    sent: Vec<u8>,
    /// What the peer sends before its data, as far as it has come.
    received: Vec<u8>,
    /// What the peer sent in its SYN.
    pub received_in_syn: Option<Vec<u8>>,
}

impl Preface {
    /// Bytes before what the peer's application writes.
    pub fn received_bytes(&self) -> u64 {
        self.received.len() as u64
    }

    /// Whether the peer sends something before its data.
    pub fn is_expected(&self) -> bool {
        !self.received.is_empty()
    }

    /// Takes what belongs to it of bytes that came at `data_offset`.
    pub fn receive(&mut self, data_offset: u64, bytes: &[u8]) {
        if let Some(room) = self.received.get_mut(data_offset as usize..) {
            let len = room.len().min(bytes.len());
            room[..len].copy_from_slice(&bytes[..len]);
        }
    }

    /// Makes a piece the payload of a packet that has no bytes, with its bytes where some belong to the preface.
    #[inline]
    pub fn fill(&self, piece: &Piece, packet: &mut Packet) {
        packet.frame.payload = match piece.data_offset.checked_sub(self.sent.len() as u64) {
            Some(at) => Payload { len: piece.len, content: Content::Pattern(at) },
            None => {
                packet.body = Some(self.bytes(piece).into());
                Payload::unsaid(piece.len)
            }
        };
    }

    /// The same with what the SYN carries.
    pub fn fill_syn(&self, packet: &mut Packet) {
        packet.frame.payload = Payload::unsaid(self.in_syn.len() as u32);
        packet.body = Some(self.in_syn.clone().into());
    }

    /// The sum of a piece that is mapped so, for checksums of DSS (RFC 8684 §3.3.1).
    pub fn checksum(&self, data_seq: u64, subflow_seq: u32, len: u16, piece: &Piece) -> u16 {
        match piece.data_offset.checked_sub(self.sent.len() as u64) {
            Some(at) => dss_checksum_of_pattern(data_seq, subflow_seq, len, at, piece.len),
            None => dss_checksum(data_seq, subflow_seq, len, &self.bytes(piece)),
        }
    }

    /// The bytes of a piece that begins within the preface.
    fn bytes(&self, piece: &Piece) -> Vec<u8> {
        let mut bytes = self.sent[piece.data_offset as usize..].to_vec();
        let from_preface = bytes.len().min(piece.len as usize);
        bytes.resize(piece.len as usize, 0);
        pattern::fill(0, &mut bytes[from_preface..]);
        bytes
    }
}

impl Connection {
    /// Sends `preface` before all data. Nothing may have been written.
    pub fn send_preface(&mut self, preface: &[u8]) {
        debug_assert_eq!(self.send.next(), 0, "the preface comes first");
        self.preface.sent = preface.to_vec();
        self.write(preface.len() as u64);
    }

    /// The peer sends so many bytes before all data, unless it did in its SYN.
    pub fn expect_preface(&mut self, bytes: usize) {
        if self.preface.received_in_syn.is_none() {
            self.preface.received = vec![0; bytes];
        }
    }

    /// What the peer sent before all data, once it is whole.
    pub fn preface(&self) -> Option<&[u8]> {
        let preface = &self.preface;
        let is_whole = preface.is_expected() && self.receive.next() >= preface.received_bytes();
        preface.received_in_syn.as_deref().or_else(|| is_whole.then_some(&*preface.received))
    }

    /// How much of what is readable is the preface: all of it, until it is read.
    pub fn preface_bytes(&self) -> u64 {
        self.preface.received_bytes()
    }

    /// Keeps what belongs to the preface of the payload of a segment at `offset` of subflow `i`.
    pub(super) fn receive_preface(&mut self, i: usize, offset: u64, packet: &Packet) {
        let Some(body) = &packet.body else { return };
        let mut from = 0;
        while let Some(rest) = body.get(from..).filter(|rest| !rest.is_empty())
            && let Some((data_offset, mapped)) = self.entries[i].mappings.piece(offset + from as u64)
        {
            let len = rest.len().min(mapped as usize);
            self.preface.receive(data_offset, &rest[..len]);
            from += len;
        }
    }
}
