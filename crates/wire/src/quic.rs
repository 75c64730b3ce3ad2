//! What every version of QUIC has in its packets: the invariants (RFC 8999 §5).
//!
//! ```text
//! Long Header Packet {                 Short Header Packet {
//!   Header Form (1) = 1,                 Header Form (1) = 0,
//!   Version-Specific Bits (7),           Version-Specific Bits (7),
//!   Version (32),                        Destination Connection ID (..),
//!   Destination Connection ID Length (8),
//!   Destination Connection ID (..),      ...
//!   Source Connection ID Length (8),
//!   Source Connection ID (..),
//! ```

use crate::Malformed;
use crate::bytes::be32;

const NAME: &str = "QUIC header";

/// The invariant part of a packet's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quic<'a> {
    /// Long: while a connection is made.
    Long {
        /// Version; 0 where versions are negotiated.
        version: u32,
        /// The connection ID by which the receiver knows the connection.
        destination: &'a [u8],
        /// The one by which the sender does.
        source: &'a [u8],
    },
    /// Short: afterwards. How long the connection ID is only its receiver knows.
    Short {
        /// It, and what follows.
        destination: &'a [u8],
    },
}

impl<'a> Quic<'a> {
    /// Versions 1 (RFC 9000) and 2 (RFC 9369).
    pub const V1: u32 = 1;
    /// See [`Quic::V1`].
    pub const V2: u32 = 0x6b33_43cf;
    /// Longest connection ID of these versions, and of the drafts (RFC 9000 §17.2).
    pub const MOST_ID: usize = 20;

    /// Reads the header of the packet that a datagram begins with.
    ///
    /// # Errors
    /// [`Malformed`] where it is cut, or has connection IDs that are longer than any version's that is in use.
    pub fn parse(payload: &'a [u8]) -> Result<Quic<'a>, Malformed> {
        let Some((&form, rest)) = payload.split_first() else { return Err(Malformed::short(NAME, 1, 0)) };
        if form & 0x80 == 0 {
            return Ok(Quic::Short { destination: rest });
        }
        if rest.len() < 4 {
            return Err(Malformed::short(NAME, 5, payload.len()));
        }
        let (destination, rest) = connection_id(&rest[4..])?;
        let (source, _) = connection_id(rest)?;
        Ok(Quic::Long { version: be32(payload, 1), destination, source })
    }

    /// Bytes of the header that every version has; of a short one, the first.
    pub fn header_len(&self) -> usize {
        match self {
            Quic::Long { destination, source, .. } => 7 + destination.len() + source.len(),
            Quic::Short { .. } => 1,
        }
    }
}

fn connection_id(bytes: &[u8]) -> Result<(&[u8], &[u8]), Malformed> {
    let Some((&len, rest)) = bytes.split_first() else { return Err(Malformed::short("connection ID", 1, 0)) };
    if usize::from(len) > Quic::MOST_ID {
        return Err(Malformed::field("connection ID", "length", len));
    }
    rest.split_at_checked(len.into()).ok_or(Malformed::short("connection ID", len.into(), rest.len()))
}

/// Whether a version is one that is in use: 1, 2, drafts of them, and what Google and Facebook have of their own.
pub fn is_version_in_use(version: u32) -> bool {
    matches!(version, Quic::V1 | Quic::V2) || matches!(version >> 8, 0xff_0000 | 0x51_3035 | 0x54_3035 | 0xfa_ceb0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The client's Initial of RFC 9001, appendix A.2.
    #[test]
    fn the_rfc_s_initial() {
        let packet = [0xc3, 0, 0, 0, 1, 8, 0x83, 0x94, 0xc8, 0xf0, 0x3e, 0x51, 0x57, 0x08, 0, 0, 0x44, 0x9e];
        let destination = &packet[6..14];
        let long = Quic::Long { version: 1, destination, source: &[] };
        assert_eq!(Quic::parse(&packet), Ok(long));
        assert_eq!(long.header_len(), 15);
        assert!(is_version_in_use(1));
    }

    /// The server's Initial of RFC 9001, appendix A.3, and the Retry of A.4.
    #[test]
    fn the_rfc_s_answers() {
        for first in [0xcf, 0xff] {
            let packet = [first, 0, 0, 0, 1, 0, 8, 0xf0, 0x67, 0xa5, 0x50, 0x2a, 0x42, 0x62, 0xb5, 0];
            let long = Quic::Long { version: 1, destination: &[], source: &packet[7..15] };
            assert_eq!(Quic::parse(&packet), Ok(long));
        }
    }

    /// RFC 9001, appendix A.5: a short header, with a connection ID of no bytes.
    #[test]
    fn the_rfc_s_short_header() {
        let packet = [0x4c, 0xfe, 0x41, 0x89];
        assert_eq!(Quic::parse(&packet), Ok(Quic::Short { destination: &packet[1..] }));
    }

    #[test]
    fn what_is_cut_or_cannot_be_is_said() {
        let packet = [0xc3, 0, 0, 0, 1, 4, 1, 2, 3, 4, 2, 5, 6];
        for len in 0..packet.len() {
            assert!(matches!(Quic::parse(&packet[..len]), Err(Malformed::Short { .. })), "{len} bytes");
        }
        let long = [0xc3, 0, 0, 0, 1, 21];
        assert_eq!(Quic::parse(&long).unwrap_err().to_string(), "connection ID: length 21 is impossible");
    }
}
