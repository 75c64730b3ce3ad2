//! MP_CAPABLE opens a connection (RFC 8684 §3.1, figure 4; RFC 6824 §3.1, figure 4).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +---------------+---------------+-------+-------+---------------+
//! |     Kind      |    Length     |Subtype|Version|A|B|C|D|E|F|G|H|
//! +---------------+---------------+-------+-------+---------------+
//! |                   Option Sender's Key (64 bits)               |
//! |                      (if option Length > 4)                   |
//! +---------------------------------------------------------------+
//! |                  Option Receiver's Key (64 bits)              |
//! |                      (if option Length > 12)                  |
//! +-------------------------------+-------------------------------+
//! |  Data-Level Length (16 bits)  |  Checksum (16 bits, optional) |
//! +-------------------------------+-------------------------------+
//! ```
//!
//! Lengths in version 1: SYN 4, SYN/ACK 12, ACK 20, with data 22 or, with checksum, 24.
//! In version 0: SYN and SYN/ACK 12, ACK 20.

use crate::bytes::{be16, be64};
use crate::emit::{Writer, check};
use crate::{EmitError, Malformed};

pub(super) const SUBTYPE: u8 = 0;

/// Keys and capabilities of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MpCapable {
    /// Protocol version: 0 or 1.
    pub version: u8,
    /// Flags A to H, A being 0x80 (checksum required), C 0x20 (v1: no more subflows to this address), H 0x01 (HMAC).
    pub flags: u8,
    /// Sender's key: absent on a SYN of version 1.
    pub sender_key: Option<u64>,
    /// Receiver's key: on the third packet and the first data.
    pub receiver_key: Option<u64>,
    /// Version 1, with data: its length.
    pub data_len: Option<u16>,
    /// Version 1, with data: its DSS checksum.
    pub checksum: Option<u16>,
}

impl MpCapable {
    /// The form is what the length says, whatever the version: a SYN offers versions that this host may not know.
    pub(super) fn parse(data: &[u8]) -> Result<Self, Malformed> {
        let len = data.len() + 2;
        if !matches!(len, 4 | 12 | 20 | 22 | 24) {
            return Err(Malformed::length("MP_CAPABLE", data.len()));
        }
        Ok(MpCapable {
            version: data[0] & 0x0f,
            flags: data[1],
            sender_key: (len >= 12).then(|| be64(data, 2)),
            receiver_key: (len >= 20).then(|| be64(data, 10)),
            data_len: (len >= 22).then(|| be16(data, 18)),
            checksum: (len >= 24).then(|| be16(data, 20)),
        })
    }

    pub(super) fn emit(&self, out: &mut Writer) -> Result<(), EmitError> {
        const NAME: &str = "MP_CAPABLE";
        check(self.version < 16, NAME, "version")?;
        check(self.receiver_key.is_none() || self.sender_key.is_some(), NAME, "receiver's key without sender's")?;
        check(self.data_len.is_none() || self.receiver_key.is_some(), NAME, "data length without keys")?;
        check(self.checksum.is_none() || self.data_len.is_some(), NAME, "checksum without data length")?;
        out.put(&[SUBTYPE << 4 | self.version, self.flags]);
        for key in [self.sender_key, self.receiver_key].into_iter().flatten() {
            out.put(&key.to_be_bytes());
        }
        for field in [self.data_len, self.checksum].into_iter().flatten() {
            out.put(&field.to_be_bytes());
        }
        Ok(())
    }
}
