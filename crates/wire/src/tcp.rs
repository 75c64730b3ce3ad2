//! The TCP header (RFC 9293 §3.1).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-------------------------------+-------------------------------+
//! |          Source Port          |       Destination Port        |
//! +-------------------------------+-------------------------------+
//! |                        Sequence Number                        |
//! +---------------------------------------------------------------+
//! |                    Acknowledgment Number                      |
//! +-------+-------+---------------+-------------------------------+
//! | Offset| Resvd |  Control bits |            Window             |
//! +-------+-------+---------------+-------------------------------+
//! |           Checksum            |         Urgent Pointer        |
//! +-------------------------------+-------------------------------+
//! |                    Options (0 to 40 bytes)                    |
//! +---------------------------------------------------------------+
//! ```

use crate::bytes::{be16, be32};
use crate::checksum::Sum;
use crate::emit::check;
use crate::{EmitError, Malformed, Options};

const NAME: &str = "TCP header";
const LEN: usize = 20;

/// Where the checksum stands.
pub(crate) const CHECKSUM: std::ops::Range<usize> = 16..18;

/// A TCP header (RFC 9293 §3.1). Options stay raw, so that garbled and unknown ones survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tcp {
    /// Sender's port.
    pub source_port: u16,
    /// Receiver's port.
    pub destination_port: u16,
    /// Sequence number of the first byte (of SYN, where set).
    pub seq: u32,
    /// Next sequence number expected, if [`Flags::ACK`].
    pub ack: u32,
    /// Control bits.
    pub flags: Flags,
    /// Window as on the wire, not scaled.
    pub window: u16,
    /// Urgent pointer.
    pub urgent: u16,
    /// Options as on the wire.
    pub options: Options,
}

/// TCP control bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Flags(pub u8);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Flags = Flags(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Flags = Flags(0x02);
    /// Reset.
    pub const RST: Flags = Flags(0x04);
    /// Push.
    pub const PSH: Flags = Flags(0x08);
    /// Acknowledgement is significant.
    pub const ACK: Flags = Flags(0x10);
    /// Urgent pointer is significant.
    pub const URG: Flags = Flags(0x20);
    /// Echo of a congestion mark (RFC 3168 §6.1).
    pub const ECE: Flags = Flags(0x40);
    /// Congestion window reduced (RFC 3168 §6.1).
    pub const CWR: Flags = Flags(0x80);

    /// Whether all bits of `other` are set.
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Bits of both.
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

impl Tcp {
    /// A header that says nothing.
    pub const BLANK: Tcp = Tcp {
        source_port: 0,
        destination_port: 0,
        seq: 0,
        ack: 0,
        flags: Flags(0),
        window: 0,
        urgent: 0,
        options: Options::NONE,
    };

    /// Reads the header from the captured part of a segment of `segment_len` bytes; with it, the header's length.
    #[inline]
    pub(crate) fn parse(bytes: &[u8], segment_len: u32) -> Result<(Tcp, u32), Malformed> {
        let Some((header, rest)) = bytes.split_first_chunk::<LEN>() else {
            return Err(Malformed::short(NAME, LEN, bytes.len()));
        };
        let header_len = u32::from(header[12] >> 4) * 4;
        if (header_len as usize) < LEN || header_len > segment_len {
            return Err(Malformed::field(NAME, "data offset", header[12] >> 4));
        }
        let tcp = Tcp {
            source_port: be16(header, 0),
            destination_port: be16(header, 2),
            seq: be32(header, 4),
            ack: be32(header, 8),
            flags: Flags(header[13]),
            window: be16(header, 14),
            urgent: be16(header, 18),
            options: Options::read(rest, header_len as usize - LEN),
        };
        Ok((tcp, header_len))
    }

    /// Appends the header, its checksum 0; with it, its sum.
    #[inline]
    pub(crate) fn emit(&self, out: &mut Vec<u8>) -> Result<Sum, EmitError> {
        let options = self.options.as_bytes();
        check(options.len().is_multiple_of(4), NAME, "options that end off a 32-bit boundary")?;
        let header = [
            u32::from(self.source_port) << 16 | u32::from(self.destination_port),
            self.seq,
            self.ack,
            // The length in words, in the upper four bits.
            self.header_len() << 26 | u32::from(self.flags.0) << 16 | u32::from(self.window),
            u32::from(self.urgent),
        ];
        out.extend_from_slice(header.map(u32::to_be_bytes).as_flattened());
        let end = out.len() + options.len();
        out.extend_from_slice(self.options.room());
        out.truncate(end);
        Ok(Sum::default().add_words(header).add(options))
    }

    /// Bytes of the header.
    pub(crate) fn header_len(&self) -> u32 {
        LEN as u32 + self.options.len()
    }
}

/// Arithmetic on sequence numbers modulo 2³² (RFC 9293 §3.4).
pub mod seq {
    /// `a − b` as a signed distance.
    pub const fn diff(a: u32, b: u32) -> i32 {
        a.wrapping_sub(b) as i32
    }
}
