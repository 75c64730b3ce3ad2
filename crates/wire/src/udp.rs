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

/// The ports of a datagram of `len` bytes of which `bytes` were captured; none where its header is cut or says another
/// length.
pub(crate) fn parse(bytes: &[u8], len: u32) -> Option<(u16, u16)> {
    let header = bytes.first_chunk::<LEN>()?;
    (u32::from(be16(header, 4)) == len && len >= LEN as u32).then(|| (be16(header, 0), be16(header, 2)))
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
