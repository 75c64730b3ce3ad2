use wire::{CaptureDirection, Time};

use crate::LinkType;

/// The longest record or packet block that is read.
pub(crate) const LONGEST: usize = 16 * 1024 * 1024;

/// The record of a packet, whose bytes lie in the buffer.
pub(crate) struct Found {
    pub at: Time,
    pub interface: u32,
    pub link_type: LinkType,
    pub original_len: u32,
    pub direction: Option<CaptureDirection>,
    pub offset: usize,
    pub length: usize,
}
