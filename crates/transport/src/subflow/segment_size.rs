//! How long segments may be.

use super::header::TIMESTAMPS_BYTES;

/// Below, options would leave no room for payload.
pub(super) const LEAST_BYTES: u32 = 88;

/// Bytes of a segment behind its header.
#[derive(Clone, Copy, Debug)]
pub(super) struct SegmentSize {
    /// What this end says that it takes.
    offered: u32,
    /// Options and payload of a full segment.
    full: u32,
    /// What options take of it: timestamps, and those of the connection.
    timestamps: u32,
    reserved: u32,
    /// What they leave.
    payload: u32,
}

impl SegmentSize {
    /// That of an end that takes so many bytes, before the peer says what it takes.
    pub(super) fn new(offered: u32) -> SegmentSize {
        SegmentSize { offered, full: offered, timestamps: 0, reserved: 0, payload: offered }
    }

    /// The peer takes so many bytes; both ends use timestamps or not.
    pub(super) fn agree(&mut self, bytes: u32, timestamps: bool) {
        self.timestamps = if timestamps { TIMESTAMPS_BYTES } else { 0 };
        self.full = self.offered.min(bytes.max(LEAST_BYTES));
        self.fit();
    }

    /// The path takes no more than that; whether it took more before.
    pub(super) fn shrink(&mut self, full: u32) -> bool {
        let full = full.max(LEAST_BYTES);
        let shrinks = full < self.full;
        if shrinks {
            self.full = full;
            self.fit();
        }
        shrinks
    }

    /// Options of the connection take so many bytes; whether that is more than before.
    pub(super) fn reserve(&mut self, bytes: u32) -> bool {
        let is_more = std::mem::replace(&mut self.reserved, bytes) < bytes;
        self.fit();
        is_more
    }

    fn fit(&mut self) {
        self.payload = self.full - self.timestamps - self.reserved;
    }

    /// What this end says that it takes.
    pub(super) fn offered(&self) -> u32 {
        self.offered
    }

    /// Options and payload of a full segment.
    pub(super) fn full(&self) -> u32 {
        self.full
    }

    /// What options of the connection take.
    #[inline]
    pub(super) fn reserved(&self) -> u32 {
        self.reserved
    }

    /// What all options leave.
    #[inline]
    pub(super) fn payload(&self) -> u32 {
        self.payload
    }
}
