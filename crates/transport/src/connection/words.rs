//! What stands before the data of a connection, byte by byte: a message of the Convert Protocol (RFC 8803). Data is a pattern
//! from its own beginning on.

use super::Connection;
use crate::subflow::Piece;
use wire::mptcp::{dss_checksum, dss_checksum_of_pattern};
use wire::{Content, Packet, Payload, pattern};

/// Of both directions.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// What this end says in its SYN (RFC 7413): it has no place in the data (RFC 8684 §B.2).
    pub in_syn: Vec<u8>,
    /// What it says at the beginning of its data.
    said: Vec<u8>,
    /// What the peer says there, as far as it has come.
    heard: Vec<u8>,
    /// What it said in its SYN.
    pub heard_in_syn: Option<Vec<u8>>,
}

impl Words {
    /// Bytes before what the peer's application writes.
    pub fn heard_bytes(&self) -> u64 {
        self.heard.len() as u64
    }

    /// Whether the peer says something before its data.
    pub fn are_heard(&self) -> bool {
        !self.heard.is_empty()
    }

    /// Takes what belongs to them of bytes that came at `place`.
    pub fn hear(&mut self, place: u64, bytes: &[u8]) {
        if let Some(room) = self.heard.get_mut(place as usize..) {
            let len = room.len().min(bytes.len());
            room[..len].copy_from_slice(&bytes[..len]);
        }
    }

    /// Makes a piece the payload of a packet that has no bytes, with its bytes where words are among them.
    #[inline]
    pub fn fill(&self, piece: &Piece, packet: &mut Packet) {
        packet.frame.payload = match piece.data_offset.checked_sub(self.said.len() as u64) {
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
        match piece.data_offset.checked_sub(self.said.len() as u64) {
            Some(at) => dss_checksum_of_pattern(data_seq, subflow_seq, len, at, piece.len),
            None => dss_checksum(data_seq, subflow_seq, len, &self.bytes(piece)),
        }
    }

    /// The bytes of a piece that begins within the words.
    fn bytes(&self, piece: &Piece) -> Vec<u8> {
        let mut bytes = self.said[piece.data_offset as usize..].to_vec();
        let words = bytes.len().min(piece.len as usize);
        bytes.resize(piece.len as usize, 0);
        pattern::fill(0, &mut bytes[words..]);
        bytes
    }
}

impl Connection {
    /// Says something before all data. Nothing may have been written.
    pub fn say(&mut self, words: &[u8]) {
        debug_assert_eq!(self.send.next(), 0, "words come first");
        self.words.said = words.to_vec();
        self.write(words.len() as u64);
    }

    /// The peer says so many bytes before all data, unless it did in its SYN.
    pub fn expect(&mut self, bytes: usize) {
        if self.words.heard_in_syn.is_none() {
            self.words.heard = vec![0; bytes];
        }
    }

    /// What the peer said before all data, once it is whole.
    pub fn words(&self) -> Option<&[u8]> {
        let words = &self.words;
        let is_whole = words.are_heard() && self.receive.next() >= words.heard_bytes();
        words.heard_in_syn.as_deref().or_else(|| is_whole.then_some(&*words.heard))
    }

    /// How much of what is readable is words: all of them, until they are read.
    pub fn words_bytes(&self) -> u64 {
        self.words.heard_bytes()
    }

    /// Keeps the words among the payload of a segment at `offset` of subflow `i`.
    pub(super) fn hear(&mut self, i: usize, offset: u64, packet: &Packet) {
        let Some(body) = &packet.body else { return };
        let mut from = 0;
        while let Some(rest) = body.get(from..).filter(|rest| !rest.is_empty())
            && let Some((place, mapped)) = self.entries[i].mappings.piece(offset + from as u64)
        {
            let len = rest.len().min(mapped as usize);
            self.words.hear(place, &rest[..len]);
            from += len;
        }
    }
}
