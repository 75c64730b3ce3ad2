//! What a subflow was given to send and has not sent.

use super::Piece;
use super::too_big::cut;
use std::collections::VecDeque;

/// Pieces in the order in which they leave.
#[derive(Debug, Default)]
pub(super) struct Queue {
    pieces: VecDeque<Piece>,
    /// Of all of them.
    bytes: u64,
}

impl Queue {
    /// A piece comes after all others. Data that goes on with that of the last one needs no push before it.
    pub(super) fn push(&mut self, piece: Piece) {
        if let Some(last) = self.pieces.back_mut().filter(|last| last.end() == piece.data_offset) {
            last.push = false;
        }
        self.bytes += u64::from(piece.len);
        self.pieces.push_back(piece);
    }

    /// The first leaves.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Piece> {
        let piece = self.pieces.pop_front()?;
        self.bytes -= u64::from(piece.len);
        Some(piece)
    }

    /// The last, if it ends at `data_offset` and has fewer than `most_bytes`, takes up to `bytes` more of the data that follows
    /// it; says how many.
    pub(super) fn extend(&mut self, data_offset: u64, bytes: u64, most_bytes: u32) -> u64 {
        let Some(last) = self.pieces.back_mut() else { return 0 };
        if last.len == 0 || last.data_fin || last.end() != data_offset {
            return 0;
        }
        let more = bytes.min(u64::from(most_bytes.saturating_sub(last.len)));
        last.len += more as u32;
        last.push &= more == 0;
        self.bytes += more;
        more
    }

    /// No more comes for now (tcp_push).
    pub(super) fn end_write(&mut self) {
        if let Some(last) = self.pieces.back_mut() {
            last.push |= last.len > 0;
        }
    }

    /// Segments have become smaller: pieces are cut to them.
    pub(super) fn cut(&mut self, most_bytes: u32) {
        self.pieces = self.pieces.drain(..).flat_map(|piece| cut(piece, most_bytes)).collect();
    }

    /// The piece that leaves first.
    #[inline]
    pub(super) fn first(&self) -> Option<&Piece> {
        self.pieces.front()
    }

    /// All of them.
    pub(super) fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.pieces.iter()
    }

    /// How many there are.
    #[inline]
    pub(super) fn len(&self) -> u32 {
        self.pieces.len() as u32
    }

    /// Whether nothing waits.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Bytes of all of them.
    #[inline]
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many pieces of the connection's data follow each other from the first on; no more than `most` are counted.
    pub(super) fn together(&self, most: u32) -> u32 {
        let mut pieces = self.pieces.iter().take(most as usize);
        let Some(mut end) = pieces.next().map(Piece::end) else { return 0 };
        let follows = |piece: &&Piece| std::mem::replace(&mut end, piece.end()) == piece.data_offset;
        1 + pieces.take_while(follows).count() as u32
    }
}
