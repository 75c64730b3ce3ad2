//! Which subflow brought each byte of a direction first, as far as one end can tell.

use std::collections::VecDeque;

/// Pieces of data wait here until they are delivered, then count for the subflow that brought them.
#[derive(Debug, Default)]
pub(crate) struct Carriers {
    /// In order of offset, apart from each other.
    waiting: VecDeque<Piece>,
    /// The last of those that were counted, in order of offset.
    past: VecDeque<Piece>,
    /// Everything below was counted.
    counted_to: i64,
    counted: Counted,
}

/// Delivered bytes, per subflow.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    /// For the subflow over which they passed first: who stands at the receiver sees them arrive so.
    pub(crate) by_passing: Vec<u64>,
    /// For the subflow that they were sent over; of several, the one that acknowledged them first.
    pub(crate) by_sending: Vec<u64>,
    /// Of these, sent over a second subflow before the first had acknowledged them: the sender cannot tell which came first.
    pub(crate) uncertain_bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    start: i64,
    end: i64,
    first: usize,
    /// The subflow that acknowledged it first.
    confirmed: Option<usize>,
    /// Sent over another subflow before that.
    again: bool,
}

/// Pieces beyond this are counted before they are delivered, oldest first: the acknowledgements are not in the capture.
const MOST_WAITING: usize = 1 << 16;

/// So many of those that were counted are remembered.
const MOST_PAST: usize = 4096;

/// Mostly what is looked for is among so many.
const NEAR: usize = 4;

impl Carriers {
    /// Nothing before `origin` is of interest.
    pub(super) fn begin(&mut self, origin: i64) {
        self.counted_to = origin;
    }

    /// `[start, end)` passed for the first time, on a subflow.
    #[inline]
    pub(super) fn passed(&mut self, start: i64, end: i64, subflow: usize) {
        match self.waiting.back_mut() {
            Some(last) if start == last.end && last.first == subflow && last.confirmed.is_none() && !last.again => {
                last.end = end;
            }
            _ => self.insert(Piece { start, end, first: subflow, confirmed: None, again: false }),
        }
        if self.waiting.len() > MOST_WAITING {
            self.count_first();
        }
    }

    fn insert(&mut self, mut piece: Piece) {
        if piece.start < self.counted_to {
            // Captured after its acknowledgement.
            let to = piece.end.min(self.counted_to);
            self.counted.add(Piece { end: to, ..piece });
            piece.start = to;
        }
        if piece.start < piece.end {
            let index = match self.waiting.back() {
                Some(last) if last.start > piece.start => {
                    self.waiting.partition_point(|other| other.start < piece.start)
                }
                _ => self.waiting.len(),
            };
            self.waiting.insert(index, piece);
        }
    }

    /// `[start, end)` passed on a subflow, and some of it had passed before.
    #[cold]
    pub(super) fn passed_again(&mut self, start: i64, end: i64, subflow: usize) {
        for piece in self.pieces(start, end) {
            piece.again |= piece.first != subflow && piece.confirmed.is_none();
        }
    }

    /// `[start, end)` was acknowledged on a subflow.
    pub(super) fn confirmed(&mut self, start: i64, end: i64, subflow: usize) {
        if end <= self.counted_to {
            return;
        }
        for piece in self.pieces(start, end) {
            if piece.again || piece.first == subflow {
                piece.confirmed.get_or_insert(subflow);
            }
        }
    }

    /// Everything below `to` was delivered.
    #[inline]
    pub(super) fn delivered(&mut self, to: i64) {
        while let Some(first) = self.waiting.front_mut() {
            if first.start >= to {
                break;
            }
            if first.end > to {
                let whole = *first;
                first.start = to;
                self.count(Piece { end: to, ..whole });
                break;
            }
            self.count_first();
        }
        self.counted_to = self.counted_to.max(to);
    }

    pub(crate) fn counted(&self) -> &Counted {
        &self.counted
    }

    fn count_first(&mut self) {
        if let Some(piece) = self.waiting.pop_front() {
            self.counted_to = self.counted_to.max(piece.end);
            self.count(piece);
        }
    }

    #[inline]
    fn count(&mut self, piece: Piece) {
        self.counted.add(piece);
        match self.past.back_mut() {
            Some(last) if last.end == piece.start && last.first == piece.first => last.end = piece.end,
            _ => {
                if self.past.len() == MOST_PAST {
                    self.past.pop_front();
                }
                self.past.push_back(piece);
            }
        }
    }

    /// Bytes of `[start, end)` that passed first on a subflow, as far as that is remembered.
    #[cold]
    pub(super) fn brought(&self, start: i64, end: i64, subflow: usize) -> u64 {
        let within = |pieces: &VecDeque<Piece>| -> i64 {
            let from = pieces.partition_point(|piece| piece.end <= start);
            let pieces = pieces.range(from..).take_while(|piece| piece.start < end);
            let own = pieces.filter(|piece| piece.first == subflow);
            own.map(|piece| piece.end.min(end) - piece.start.max(start)).sum()
        };
        (within(&self.past) + within(&self.waiting)) as u64
    }

    /// What waits of `[start, end)`.
    fn pieces(&mut self, start: i64, end: i64) -> impl Iterator<Item = &mut Piece> {
        let from = self.split_at(start, 0);
        let to = self.split_at(end, from);
        self.waiting.range_mut(from..to.max(from))
    }

    /// Cuts the piece that holds `at` in two; returns the index of the first piece that begins at or after it. All before
    /// the index `from` end before it.
    fn split_at(&mut self, at: i64, from: usize) -> usize {
        let is_behind = |&index: &usize| self.waiting.get(index).is_none_or(|piece| piece.end > at);
        let near = (from..from + NEAR).find(is_behind);
        let index = near.unwrap_or_else(|| self.waiting.partition_point(|piece| piece.end <= at));
        match self.waiting.get_mut(index) {
            Some(piece) if piece.start < at => {
                let left = Piece { end: at, ..*piece };
                piece.start = at;
                self.waiting.insert(index, left);
                index + 1
            }
            _ => index,
        }
    }
}

impl Counted {
    #[inline]
    fn add(&mut self, piece: Piece) {
        let bytes = (piece.end - piece.start) as u64;
        let sender = if piece.again { piece.confirmed.unwrap_or(piece.first) } else { piece.first };
        for (counts, subflow) in [(&mut self.by_passing, piece.first), (&mut self.by_sending, sender)] {
            if subflow >= counts.len() {
                counts.resize(subflow + 1, 0);
            }
            counts[subflow] += bytes;
        }
        self.uncertain_bytes += if piece.again { bytes } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Per subflow as it passed, as the sender would count, and what it is not sure of.
    fn counts(carriers: &Carriers) -> (Vec<u64>, Vec<u64>, u64) {
        let Counted { by_passing, by_sending, uncertain_bytes } = carriers.counted();
        (by_passing.clone(), by_sending.clone(), *uncertain_bytes)
    }

    #[test]
    fn a_byte_counts_for_the_subflow_that_brought_it_first_once_it_is_delivered() {
        let mut carriers = Carriers::default();
        for (start, end, subflow) in [(0, 10, 0), (10, 20, 0), (30, 40, 1), (20, 30, 1)] {
            carriers.passed(start, end, subflow);
        }
        carriers.passed_again(15, 35, 1);
        carriers.passed_again(5, 12, 0);
        carriers.delivered(5);
        assert_eq!(counts(&carriers).0, [5]);
        carriers.delivered(32);
        carriers.passed_again(0, 20, 1); // counted long ago
        assert_eq!(counts(&carriers).0, [20, 12]);
        assert_eq!([0, 1].map(|subflow| carriers.brought(15, 35, subflow)), [5, 15]);
        carriers.delivered(100);
        assert_eq!(counts(&carriers), (vec![20, 20], vec![20, 20], 5));
        carriers.passed(60, 110, 0); // captured after its acknowledgement
        assert_eq!(counts(&carriers).0, [60, 20]);
    }

    #[test]
    fn the_sender_is_sure_of_what_was_acknowledged_before_it_was_sent_elsewhere() {
        let mut carriers = Carriers::default();
        carriers.passed(0, 30, 0);
        carriers.confirmed(0, 10, 0);
        carriers.passed_again(0, 20, 1); // of 0 to 10 there is no doubt
        carriers.confirmed(0, 20, 1);
        carriers.confirmed(10, 30, 0);
        carriers.delivered(30);
        assert_eq!(counts(&carriers), (vec![30], vec![20, 10], 10));
    }
}
