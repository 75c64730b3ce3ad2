/// A set of numbers kept as disjoint half-open ranges, in order.
///
/// Data mostly arrives at the end of the last range or of the first hole, so both are tried first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    ranges: Vec<(i64, i64)>,
}

/// Holes beyond this are forgotten, oldest first, as if they had been filled: memory stays bounded.
const MOST: usize = 4096;

/// So many ranges are looked at one by one: the first hole is filled first.
const NEAR: usize = 4;

impl Ranges {
    /// Adds `[start, end)` and calls `new` for each piece that was not in the set, in order. Returns their total length.
    pub(crate) fn insert(&mut self, start: i64, end: i64, mut new: impl FnMut(i64, i64)) -> u64 {
        if start >= end {
            return 0;
        }
        if let Some(last) = self.ranges.last_mut() {
            if start == last.1 {
                last.1 = end;
                new(start, end);
                return (end - start) as u64;
            }
            if start > last.1 {
                self.ranges.push((start, end));
                self.bound();
                new(start, end);
                return (end - start) as u64;
            }
        } else {
            self.ranges.push((start, end));
            new(start, end);
            return (end - start) as u64;
        }
        self.insert_within(start, end, new)
    }

    fn insert_within(&mut self, start: i64, end: i64, mut new: impl FnMut(i64, i64)) -> u64 {
        // All ranges that touch [start, end] melt into one.
        let near = self.ranges.iter().take(NEAR).position(|range| range.1 >= start);
        let first = near.unwrap_or_else(|| self.ranges.partition_point(|range| range.1 < start));
        let mut added = 0;
        let mut from = start;
        let mut merged = (start, end);
        let mut last = first;
        while let Some(&(left, right)) = self.ranges.get(last).filter(|range| range.0 <= end) {
            if from < left {
                new(from, left);
                added += (left - from) as u64;
            }
            from = from.max(right);
            merged = (merged.0.min(left), merged.1.max(right));
            last += 1;
        }
        if from < end {
            new(from, end);
            added += (end - from) as u64;
        }
        if first == last {
            self.ranges.insert(first, merged);
            self.bound();
        } else {
            self.ranges[first] = merged;
            self.ranges.drain(first + 1..last);
        }
        added
    }

    fn bound(&mut self) {
        if self.ranges.len() > MOST {
            self.ranges[1].0 = self.ranges[0].0;
            self.ranges.remove(0);
        }
    }

    /// The end of the range that begins at or before `origin`; `origin` if there is none.
    pub(crate) fn contiguous_from(&self, origin: i64) -> i64 {
        let holder = match self.ranges.get(1) {
            Some(second) if second.0 <= origin => self.ranges.partition_point(|range| range.0 <= origin) - 1,
            _ => 0,
        };
        self.ranges.get(holder).filter(|range| range.0 <= origin).map_or(origin, |range| range.1.max(origin))
    }

    /// One past the highest number.
    pub(crate) fn end(&self) -> Option<i64> {
        self.ranges.last().map(|range| range.1)
    }

    /// The lowest number.
    pub(crate) fn start(&self) -> Option<i64> {
        self.ranges.first().map(|range| range.0)
    }

    /// From where on every number below `limit` is in the set; `limit` if the last one is not.
    pub(crate) fn whole_from(&self, limit: i64) -> i64 {
        let below = self.ranges.partition_point(|range| range.0 < limit);
        let last = below.checked_sub(1).map(|index| self.ranges[index]);
        last.filter(|range| range.1 >= limit).map_or(limit, |range| range.0)
    }

    /// How many of the numbers lie below `limit`.
    pub(crate) fn total_below(&self, limit: i64) -> u64 {
        self.ranges.iter().map(|range| (range.1.min(limit) - range.0).max(0) as u64).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Against the plainest model: a set of single numbers.
        #[test]
        fn behaves_like_a_set(inserts in prop::collection::vec((0i64..60, 0i64..12), 0..60)) {
            let mut ranges = Ranges::default();
            let mut model = BTreeSet::new();
            for (start, len) in inserts {
                let mut new = Vec::new();
                let added = ranges.insert(start, start + len, |from, to| new.extend(from..to));
                let expected: Vec<i64> = (start..start + len).filter(|n| !model.contains(n)).collect();
                model.extend(start..start + len);
                prop_assert_eq!(added, expected.len() as u64);
                prop_assert_eq!(new, expected);
                prop_assert_eq!(ranges.total_below(i64::MAX), model.len() as u64);
                prop_assert_eq!(ranges.end(), model.last().map(|n| n + 1));
                prop_assert!(ranges.ranges.windows(2).all(|pair| pair[0].1 < pair[1].0));
                let contiguous = (5..).find(|n| !model.contains(n)).unwrap();
                prop_assert_eq!(ranges.contiguous_from(5), contiguous);
                let whole = (0..40).rev().find(|n| !model.contains(n)).map_or(0, |n| n + 1);
                prop_assert_eq!(ranges.whole_from(40), whole);
            }
        }
    }
}
