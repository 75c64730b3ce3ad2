//! What segments that came occupy until the application has read them.

use std::collections::VecDeque;
use std::ops::Range;

/// Segments that are not read, and the bytes that each counts for.
#[derive(Debug, Default)]
pub struct Held {
    /// By the offset of their data.
    segments: VecDeque<(Range<u64>, u64)>,
    bytes: u64,
}

impl Held {
    /// A segment came with this data, and counts for `bytes`; those that it covers are of no use any more.
    pub fn hold(&mut self, data: Range<u64>, bytes: u64) {
        let at = match self.segments.back() {
            Some((last, _)) if last.start >= data.start => {
                self.segments.partition_point(|(held, _)| held.start < data.start)
            }
            _ => self.segments.len(),
        };
        while let Some((_, covered)) = self.segments.get(at).filter(|(held, _)| held.end <= data.end) {
            self.bytes -= covered;
            self.segments.remove(at);
        }
        self.bytes += bytes;
        self.segments.insert(at, (data, bytes));
    }

    /// Everything below `offset` was read.
    pub fn let_go(&mut self, offset: u64) {
        while let Some((_, bytes)) = self.segments.front().filter(|(held, _)| held.end <= offset) {
            self.bytes -= bytes;
            self.segments.pop_front();
        }
    }

    /// What all of them count for.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}
