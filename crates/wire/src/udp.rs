//! The UDP header (RFC 768).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-------------------------------+-------------------------------+
//! |          Source Port          |       Destination Port        |
//! +-------------------------------+-------------------------------+
//! |            Length             |           Checksum            |
//! +-------------------------------+-------------------------------+
//! ```

use crate::bytes::be16;
use crate::checksum::Sum;

pub(crate) const LEN: usize = 8;

/// Whether the header is that of a datagram of `len` bytes.
pub(crate) fn has_length(header: [u8; LEN], len: u32) -> bool {
    u32::from(be16(&header, 4)) == len && len >= LEN as u32
}

/// The header of a datagram of `len` bytes; `rest` is the sum of pseudo-header and payload.
pub(crate) fn emit(source_port: u16, destination_port: u16, len: u32, rest: Sum) -> [u8; LEN] {
    let mut header = [0; LEN];
    header[0..2].copy_from_slice(&source_port.to_be_bytes());
    header[2..4].copy_from_slice(&destination_port.to_be_bytes());
    header[4..6].copy_from_slice(&(len as u16).to_be_bytes());
    // 0 would mean that there is none.
    let checksum = match rest.add(&header).finish() {
        0 => 0xffff,
        checksum => checksum,
    };
    header[6..8].copy_from_slice(&checksum.to_be_bytes());
    header
}
