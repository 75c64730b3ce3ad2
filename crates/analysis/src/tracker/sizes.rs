//! Sizes of segments, and of the windows that their receiver announced.

/// How wide a receiver announced its window to be, its SYN apart.
#[derive(Debug, Default)]
pub(super) struct Windows {
    /// Each clearly wider than the one before, in bytes, and the position that was acknowledged with it.
    wider: Vec<(u64, i64)>,
}

impl Windows {
    #[inline]
    pub(super) fn add(&mut self, bytes: u64, position: i64) {
        if bytes > self.widest_bytes() + self.widest_bytes() / 4 {
            self.wider.push((bytes, position));
        }
    }

    /// The widest, nearly; 0: none that is known.
    #[inline]
    pub(super) fn widest_bytes(&self) -> u64 {
        self.wider.last().map_or(0, |(bytes, _)| *bytes)
    }

    /// The widest that was announced before something after `position` was acknowledged.
    pub(super) fn widest_bytes_before(&self, position: i64) -> u64 {
        self.wider.iter().rfind(|(_, at)| *at < position).map_or(0, |(bytes, _)| *bytes)
    }
}

/// Segments with data, those sent again too.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sizes {
    /// Packets; those that merged segments stand for count.
    pub(super) packets: u64,
    /// Payload of the largest, and of the largest that no offload merged, and how many are as large.
    pub(super) largest: u32,
    pub(super) largest_whole: u32,
    pub(super) of_largest_whole: u32,
}

impl Sizes {
    #[inline]
    pub(super) fn add(&mut self, len: u32, packets: u32, merged: bool) {
        self.packets += u64::from(packets);
        self.largest = self.largest.max(len);
        if merged {
            return;
        }
        if len > self.largest_whole {
            (self.largest_whole, self.of_largest_whole) = (len, 0);
        }
        self.of_largest_whole += u32::from(len == self.largest_whole);
    }
}
