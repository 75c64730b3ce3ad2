//! MP_FAIL reports a checksum that failed (RFC 8684 §3.7, figure 16).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +---------------+---------------+-------+-----------------------+
//! |     Kind      |   Length=12   |Subtype|      (reserved)       |
//! +---------------+---------------+-------+-----------------------+
//! |                 Data Sequence Number (8 octets)               |
//! +---------------------------------------------------------------+
//! ```

use crate::Malformed;
use crate::bytes::be64;
use crate::emit::Writer;

pub(super) const SUBTYPE: u8 = 6;

/// Checksum failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MpFail {
    /// Where the failed mapping began.
    pub data_seq: u64,
}

impl MpFail {
    pub(super) fn parse(data: &[u8]) -> Result<Self, Malformed> {
        match data.len() + 2 {
            12 => Ok(MpFail { data_seq: be64(data, 2) }),
            _ => Err(Malformed::length("MP_FAIL", data.len())),
        }
    }

    pub(super) fn emit(&self, out: &mut Writer) {
        out.put(&[SUBTYPE << 4, 0]);
        out.put(&self.data_seq.to_be_bytes());
    }
}
