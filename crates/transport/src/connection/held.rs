//! What segments that came occupy until the application has read them.

use std::collections::VecDeque;
use std::ops::Range;

/// Segments that are not read, and the bytes that each counts for.
#[derive(Debug, Default)]
pub struct Held {
    /// By the offset of their data.
    segments: VecDeque<Segment>,
    bytes: u64,
}

/// One, with what was copied behind it.
#[derive(Debug)]
struct Segment {
    data: Range<u64>,
    /// What it counts for.
    bytes: u32,
    /// So much that follows it counts for nothing.
    left: u32,
}

impl Held {
    /// A segment came with this data, and counts for `bytes`, unless there is room for it in the one that it follows. Into what
    /// is `left` of it others may come. Those that it covers are of no use any more.
    pub fn hold(&mut self, data: Range<u64>, bytes: u64, left: u64) {
        let at = match self.segments.back() {
            Some(last) if last.data.start >= data.start => {
                self.segments.partition_point(|held| held.data.start < data.start)
            }
            _ => self.segments.len(),
        };
        while let Some(covered) = self.segments.get(at).filter(|held| held.data.end <= data.end) {
            self.bytes -= u64::from(covered.bytes);
            self.segments.remove(at);
        }
        let len = data.end - data.start;
        if let Some(before) = at.checked_sub(1).and_then(|before| self.segments.get_mut(before))
            && before.data.end == data.start
            && len <= u64::from(before.left)
        {
            before.data.end = data.end;
            before.left -= len as u32;
            return;
        }
        self.bytes += bytes;
        self.segments.insert(at, Segment { data, bytes: bytes as u32, left: left as u32 });
    }

    /// Everything below `offset` was read.
    pub fn let_go(&mut self, offset: u64) {
        while let Some(read) = self.segments.front().filter(|held| held.data.end <= offset) {
            self.bytes -= u64::from(read.bytes);
            self.segments.pop_front();
        }
    }

    /// What all of them count for.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}
