//! MP_FASTCLOSE ends a connection at once, on an ACK or a RST (RFC 8684 §3.5, figure 14).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +---------------+---------------+-------+-----------------------+
//! |     Kind      |    Length=12  |Subtype|      (reserved)       |
//! +---------------+---------------+-------+-----------------------+
//! |                 Option Receiver's Key (64 bits)               |
//! +---------------------------------------------------------------+
//! ```

use crate::Malformed;
use crate::bytes::be64;
use crate::emit::Writer;

pub(super) const SUBTYPE: u8 = 7;

/// Abrupt end of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MpFastClose {
    /// Receiver's key.
    pub receiver_key: u64,
}

impl MpFastClose {
    pub(super) fn parse(data: &[u8]) -> Result<Self, Malformed> {
        match data.len() + 2 {
            12 => Ok(MpFastClose { receiver_key: be64(data, 2) }),
            _ => Err(Malformed::length("MP_FASTCLOSE", data.len())),
        }
    }

    pub(super) fn emit(&self, out: &mut Writer) {
        out.put(&[SUBTYPE << 4, 0]);
        out.put(&self.receiver_key.to_be_bytes());
    }
}
