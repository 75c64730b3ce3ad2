//! Ranges of a stream, sorted and merged: what arrived out of order, what was selectively acknowledged.

use std::ops::Range;

/// Disjoint ranges in order that do not touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges {
    ranges: Vec<(u64, u64)>,
    /// In all of them.
    bytes: u64,
}

impl Ranges {
    /// Adds a range; `new` is called, in order, with what of it was not there. The range that it is part of now.
    pub fn insert(&mut self, range: Range<u64>, mut new: impl FnMut(Range<u64>)) -> Range<u64> {
        let (mut start, mut end) = (range.start, range.end);
        // Mostly the last one grows.
        let from = match self.ranges.last() {
            None => 0,
            Some(&(last, _)) if last <= start => {
                self.ranges.len() - usize::from(self.ranges[self.ranges.len() - 1].1 >= start)
            }
            Some(_) => self.ranges.partition_point(|&(_, right)| right < start),
        };
        let (mut to, mut at) = (from, start);
        while let Some(&(left, right)) = self.ranges.get(to).filter(|&&(left, _)| left <= end) {
            if at < left {
                new(at..left);
            }
            (start, end, at) = (start.min(left), end.max(right), at.max(right));
            self.bytes -= right - left;
            to += 1;
        }
        if at < range.end {
            new(at..range.end);
        }
        self.bytes += end - start;
        if to == from {
            self.ranges.insert(from, (start, end));
        } else {
            self.ranges[from] = (start, end);
            if to > from + 1 {
                self.ranges.drain(from + 1..to);
            }
        }
        start..end
    }

    /// Forgets everything below `offset`.
    pub fn trim(&mut self, offset: u64) {
        let gone = self.ranges.iter().take_while(|&&(_, right)| right <= offset).count();
        if gone > 0 {
            self.bytes -= self.ranges.drain(..gone).map(|(left, right)| right - left).sum::<u64>();
        }
        if let Some(first) = self.ranges.first_mut()
            && first.0 < offset
        {
            self.bytes -= offset - first.0;
            first.0 = offset;
        }
    }

    /// Forgets everything from `offset` on.
    pub fn cut(&mut self, offset: u64) {
        self.ranges.retain(|&(left, _)| left < offset);
        if let Some(last) = self.ranges.last_mut() {
            last.1 = last.1.min(offset);
        }
        self.bytes = self.ranges.iter().map(|(left, right)| right - left).sum();
    }

    /// Takes out what begins at or before `next`; says where it ends, or `next`.
    pub fn take_first(&mut self, mut next: u64) -> u64 {
        while let Some(&(left, right)) = self.ranges.first() {
            if left > next {
                break;
            }
            self.ranges.remove(0);
            self.bytes -= right - left;
            next = next.max(right);
        }
        next
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.ranges.clear();
        self.bytes = 0;
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// End of the last range, if there is one.
    pub fn end(&self) -> Option<u64> {
        self.ranges.last().map(|&(_, right)| right)
    }

    /// The ranges in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Range<u64>> + '_ {
        self.ranges.iter().map(|&(left, right)| left..right)
    }

    /// Bytes in them.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}
