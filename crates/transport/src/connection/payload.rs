//! What the payload of a segment that came in means, and whether it is what it should be.

use super::mappings::{self, Mapping};
use super::{Connection, Mode, Signals};
use std::ops::Range;
use wire::mptcp::{DataNumber, dss_checksum, dss_checksum_of_pattern};
use wire::{Content, Packet, Tcp, pattern};

impl Connection {
    /// Remembers what the payload of a segment means, and checks that it is the pattern.
    pub(super) fn note_payload(&mut self, i: usize, tcp: &Tcp, packet: &Packet, signals: &Signals) {
        let entry = &self.entries[i];
        let near = entry.tcp.receive_next();
        let relative = tcp.seq.wrapping_sub(entry.tcp.peer_isn());
        let Some(offset) = near.checked_add_signed(i64::from(wire::seq::diff(relative, near as u32))) else {
            return; // before the first byte there is none
        };
        let len = packet.frame.payload.len;
        let mut new = None;
        if self.mode == Mode::Multipath || self.fallback.is_discarding() {
            match self.mapping(offset, signals) {
                Some(Mapping { offset, data_offset, len: 0, .. }) => {
                    // Infinite (RFC 8684 §3.7).
                    self.mapped_infinitely(i, offset, data_offset);
                }
                Some(mapping) if !self.fallback.is_discarding() => {
                    if self.agreed.awaits_long_number() {
                        self.note_numbers(signals);
                    }
                    self.fallback.note_mapping(mapping.offset, mapping.data_offset);
                    let entry = &mut self.entries[i];
                    if mapping.offset + u64::from(mapping.len) > entry.delivered && entry.mappings.insert(mapping) {
                        new = Some(mapping);
                    }
                }
                // Our MP_FAIL was lost, or is under way.
                Some(_) => self.tell_failed(i),
                None => {}
            }
            if self.agreed.has_checksums() {
                self.entries[i].mappings.sum(offset..offset + u64::from(len), sum(packet));
            }
        }
        if self.preface.is_expected() {
            self.receive_preface(i, offset, packet);
        }
        // What a checksum covers is not delivered when it is wrong.
        let checked = self.agreed.has_checksums() && self.mode == Mode::Multipath;
        if checked {
            return;
        }
        self.corrupt_bytes += match new {
            // Nearly all segments bring a mapping of their own.
            Some(mapping) if mapping.offset == offset && mapping.len == len => {
                if self.is_pattern(packet, 0..u64::from(len), mapping.data_offset) { 0 } else { u64::from(len) }
            }
            _ => self.corrupt(i, offset, packet),
        };
    }

    /// A number of 8 bytes is answered by such (RFC 8684 §3.3.2), for which segments with data have less room; data that came
    /// with the keys has one. What was sent before goes again as it was, with 4.
    #[cold]
    #[inline(never)]
    fn note_numbers(&mut self, signals: &Signals) {
        let mapping = signals.dss().and_then(|dss| dss.mapping);
        if mapping.is_some_and(|mapping| matches!(mapping.data_seq, DataNumber::Short(_))) {
            return;
        }
        self.agreed.note_long_number();
        let bytes = self.agreed.dss_bytes();
        for i in 0..self.entries.len() {
            self.with(i, |entry, control| entry.tcp.reserve_options(bytes, control));
        }
    }

    /// Bytes of a payload at `offset` of subflow `i` that are not the pattern of the data offset that they are mapped to. What
    /// was joined on the way is of several mappings, or behind the end of its only one.
    #[inline(never)] // seldom
    fn corrupt(&self, i: usize, offset: u64, packet: &Packet) -> u64 {
        let (mut looked_at, mut corrupt) = (0, 0);
        let len = u64::from(packet.frame.payload.len);
        while looked_at < len
            && let Some((data_offset, mapped)) = self.entries[i].mappings.piece(offset + looked_at)
        {
            let piece = mapped.min(len - looked_at);
            if !self.is_pattern(packet, looked_at..looked_at + piece, data_offset) {
                corrupt += piece;
            }
            looked_at += piece;
        }
        corrupt
    }

    /// The mapping in the options of a segment that begins at `offset` (RFC 8684 §3.1, §3.3.1).
    fn mapping(&self, offset: u64, signals: &Signals) -> Option<Mapping> {
        let (start, data_offset, len, end, subflow_seq, checksum) = match signals.dss() {
            Some(dss) => {
                let mapping = dss.mapping?;
                let distance = mapping.subflow_seq.wrapping_sub(offset as u32) as i32;
                let start = offset.checked_add_signed(i64::from(distance))?;
                let data_offset = self.agreed.receiving().data_offset(mapping.data_seq, self.receive.next())?;
                (start, data_offset, mapping.len, dss.data_fin, mapping.subflow_seq, mapping.checksum)
            }
            // With the keys comes the first data.
            None => {
                let capable = signals.capable()?;
                (1, 0, capable.data_len?, false, 1, capable.checksum)
            }
        };
        let check = checksum
            .filter(|_| self.agreed.has_checksums())
            .map(|checksum| mappings::check(self.agreed.receiving().number(data_offset), subflow_seq, len, checksum));
        let data = u32::from(len).saturating_sub(u32::from(end));
        (len == 0 || data > 0).then_some(Mapping { offset: start, data_offset, len: data, check })
    }

    /// Whether a piece of a payload is the pattern at `data_offset`, as far as its bytes are there. A preface may be before it.
    fn is_pattern(&self, packet: &Packet, piece: Range<u64>, data_offset: u64) -> bool {
        let before = self.preface.received_bytes();
        match (packet.frame.payload.content, &packet.body) {
            (Content::Pattern(at), _) => at + before + piece.start == data_offset,
            (Content::Unsaid, Some(body)) => {
                let end = (piece.end as usize).min(body.len());
                let begin = (piece.start + before.saturating_sub(data_offset)) as usize;
                pattern::matches(data_offset.saturating_sub(before), &body[begin.min(end)..end])
            }
            (Content::Unsaid, None) => true,
        }
    }
}

/// Ones' complement sum of a payload.
#[inline(never)] // most connections have no checksums
fn sum(packet: &Packet) -> u16 {
    // What the checksum sums, with nothing but the payload: all others are zeros.
    !match packet.frame.payload.content {
        Content::Pattern(data_offset) => dss_checksum_of_pattern(0, 0, 0, data_offset, packet.frame.payload.len),
        Content::Unsaid => dss_checksum(0, 0, 0, packet.body.as_deref().unwrap_or(&[])),
    }
}
