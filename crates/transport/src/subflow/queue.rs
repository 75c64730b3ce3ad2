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
    /// How many do not go on where the one before them ends.
    gaps: u32,
}

impl Queue {
    /// A piece comes after all others. Data that goes on with that of the last one needs no push before it.
    pub(super) fn push(&mut self, piece: Piece) {
        if let Some(last) = self.pieces.back_mut() {
            let follows = last.end() == piece.data_offset;
            last.push &= !follows;
            self.gaps += u32::from(!follows);
        }
        self.bytes += u64::from(piece.len);
        self.pieces.push_back(piece);
    }

    /// The first leaves.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Piece> {
        let piece = self.pieces.pop_front()?;
        self.bytes -= u64::from(piece.len);
        self.gaps -= u32::from(self.first().is_some_and(|next| next.data_offset != piece.end()));
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
        if self.gaps == 0 {
            return most.min(self.len());
        }
        let mut pieces = self.pieces.iter().take(most as usize);
        let Some(mut end) = pieces.next().map(Piece::end) else { return 0 };
        let follows = |piece: &&Piece| std::mem::replace(&mut end, piece.end()) == piece.data_offset;
        1 + pieces.take_while(follows).count() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_follows_each_other_is_known_without_counting(
            steps in prop::collection::vec((0u32..4, 0u64..3, 1u32..5), 1..60),
            most in 0u32..8,
        ) {
            let (mut queue, mut end) = (Queue::default(), 0);
            for (step, gap, len) in steps {
                match step {
                    0 => _ = queue.pop(),
                    1 => end += queue.extend(end, gap, 4),
                    2 => queue.cut(len),
                    _ => {
                        let piece = Piece { data_offset: end + gap / 2, len, data_fin: false, push: false };
                        end = piece.end();
                        queue.push(piece);
                    }
                }
                let pieces: Vec<_> = queue.pieces().collect();
                let gap = pieces.windows(2).position(|pair| pair[0].end() != pair[1].data_offset);
                let counted = gap.map_or(pieces.len(), |gap| gap + 1) as u32;
                prop_assert_eq!(queue.together(most), counted.min(most));
            }
        }
    }
}
