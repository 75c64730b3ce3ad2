//! MP_PRIO makes a subflow a backup, or no longer one (RFC 8684 §3.3.8, figure 11; RFC 6824 §3.3.8, figure 11).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +---------------+---------------+-------+-----+-+---------------+
//! |     Kind      |  Length 3/4   |Subtype|(rsv)|B| AddrID (opt)  |   address: version 0 only
//! +---------------+---------------+-------+-----+-+---------------+
//! ```

use crate::Malformed;
use crate::emit::Writer;

pub(super) const SUBTYPE: u8 = 5;

const BACKUP: u8 = 0x01;

/// Change of priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MpPrio {
    /// Use as backup only.
    pub backup: bool,
    /// Version 0: whose subflows; absent: this one.
    pub address_id: Option<u8>,
}

impl MpPrio {
    pub(super) fn parse(data: &[u8]) -> Result<Self, Malformed> {
        match *data {
            [first] => Ok(MpPrio { backup: first & BACKUP != 0, address_id: None }),
            [first, id] => Ok(MpPrio { backup: first & BACKUP != 0, address_id: Some(id) }),
            _ => Err(Malformed::length("MP_PRIO", data.len())),
        }
    }

    pub(super) fn emit(&self, out: &mut Writer) {
        out.put(&[SUBTYPE << 4 | if self.backup { BACKUP } else { 0 }]);
        if let Some(id) = self.address_id {
            out.put(&[id]);
        }
    }
}
