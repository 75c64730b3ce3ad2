//! MP_TCPRST says why a subflow is reset (RFC 8684 §3.6, figure 15).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +---------------+---------------+-------+-------+---------------+
//! |     Kind      |    Length=4   |Subtype|U|V|W|T|    Reason     |
//! +---------------+---------------+-------+-------+---------------+
//! ```

use crate::emit::{Writer, check};
use crate::{EmitError, Malformed};

pub(super) const SUBTYPE: u8 = 8;

/// Why a subflow is reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MpTcpRst {
    /// Flags U, V, W, T, T (0x01) saying that the condition is transient.
    pub flags: u8,
    /// Reason code (RFC 8684 §3.6, figure 15).
    pub reason: u8,
}

impl MpTcpRst {
    pub(super) fn parse(data: &[u8]) -> Result<Self, Malformed> {
        match *data {
            [first, reason] => Ok(MpTcpRst { flags: first & 0x0f, reason }),
            _ => Err(Malformed::length("MP_TCPRST", data.len())),
        }
    }

    pub(super) fn emit(&self, out: &mut Writer) -> Result<(), EmitError> {
        check(self.flags < 16, "MP_TCPRST", "flags")?;
        out.put(&[SUBTYPE << 4 | self.flags, self.reason]);
        Ok(())
    }
}
