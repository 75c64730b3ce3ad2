//! Which data sequence numbers a subflow's bytes carry (RFC 8684 §3.3.1).

use std::collections::VecDeque;

/// Mappings of one direction of one subflow, ordered by subflow position.
#[derive(Debug, Default)]
pub(super) struct Mappings {
    kept: VecDeque<Mapping>,
}

/// Subflow positions `[start, end)` are data offsets from `data` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mapping {
    start: i64,
    end: i64,
    data: i64,
}

/// Where a mapping ends that goes on for ever.
const ENDLESS: i64 = i64::MAX / 4;

/// Mappings beyond this are forgotten, oldest first.
const MOST: usize = 4096;

/// So many are looked at one by one.
const NEAR: usize = 4;

impl Mappings {
    /// Subflow position = data offset: plain TCP.
    pub(super) fn identity() -> Self {
        let mut mappings = Mappings::default();
        mappings.add(i64::MIN / 4, ENDLESS, i64::MIN / 4);
        mappings
    }

    pub(super) fn add(&mut self, start: i64, end: i64, data: i64) {
        let mut mapping = Mapping { start, end, data };
        match self.kept.back() {
            Some(last) if *last == mapping => return,
            Some(last) if last.end > start => {
                let mut index = self.kept.partition_point(|kept| kept.start <= start);
                // What the one before says too is left to it.
                if let Some(before) = index.checked_sub(1).map(|before| self.kept[before])
                    && before.end > start
                    && before.data - before.start == data - start
                {
                    if before.end >= end {
                        return;
                    }
                    mapping = Mapping { start: before.end, end, data: data + (before.end - start) };
                }
                // Those that it covers it replaces.
                while self.kept.get(index).is_some_and(|next| next.end <= end) {
                    self.kept.remove(index);
                }
                if let Some(before) = index.checked_sub(1).filter(|&before| self.kept[before].start == mapping.start) {
                    self.kept.remove(before);
                    index = before;
                }
                self.kept.insert(index, mapping);
            }
            _ => self.kept.push_back(mapping),
        }
        if self.kept.len() > MOST {
            self.kept.pop_front();
        }
    }

    /// Everything before `start` keeps its meaning, everything from there on is data from `data` on: the infinite
    /// mapping (RFC 8684 §3.7).
    pub(super) fn fall_back(&mut self, start: i64, data: i64) {
        self.kept.retain(|kept| kept.start < start);
        self.add(start, ENDLESS, data);
    }

    /// The last mapping goes on for ever; false if there is none.
    pub(super) fn go_on(&mut self) -> bool {
        self.kept.back_mut().map(|last| last.end = ENDLESS).is_some()
    }

    /// Forgets what lies wholly before `position`.
    pub(super) fn forget(&mut self, position: i64) {
        while self.kept.len() > 1 && self.kept[0].end <= position {
            self.kept.pop_front();
        }
    }

    pub(super) fn shrink(&mut self) {
        self.kept.shrink_to_fit();
    }

    /// Data offset of a position, where that is mapped.
    pub(super) fn data_offset(&self, position: i64) -> Option<i64> {
        let mut offset = None;
        self.map(position, position + 1, |data, _| offset = Some(data));
        offset
    }

    /// Calls `piece` with (data offset, length) for each mapped piece of `[start, end)`; returns how many bytes are mapped.
    pub(super) fn map(&self, start: i64, end: i64, mut piece: impl FnMut(i64, i64)) -> u64 {
        let mut mapped = 0;
        let mut from = start;
        let first = match self.kept.back() {
            Some(last) if last.start <= start => self.kept.len() - 1,
            // What is acknowledged is nearly the oldest.
            _ => match self.kept.iter().take(NEAR).position(|kept| kept.end > start) {
                Some(near) => near,
                None => self.kept.partition_point(|kept| kept.end <= start),
            },
        };
        for kept in self.kept.range(first..) {
            if kept.start >= end {
                break;
            }
            let left = from.max(kept.start);
            let right = end.min(kept.end);
            if left < right {
                piece(kept.data + (left - kept.start), right - left);
                mapped += (right - left) as u64;
                from = right;
            }
        }
        mapped
    }
}
