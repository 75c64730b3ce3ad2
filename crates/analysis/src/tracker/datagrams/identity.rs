//! Connection IDs, and whether a datagram is QUIC's.

use std::fmt;
use wire::Glimpse;
use wire::quic::{self, Quic};

/// A connection ID of at most 20 bytes (RFC 9000 §17.2).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Id {
    bytes: [u8; Quic::MOST_ID],
    len: u8,
}

/// What a datagram begins with.
#[derive(Clone, Copy)]
pub(super) enum Header<'a> {
    Long {
        version: u32,
        destination: Id,
        source: Id,
    },
    /// What may be one, from the connection ID on.
    Short {
        destination: &'a [u8],
    },
    /// Nothing of QUIC's.
    Other,
}

/// Shorter IDs come up by chance.
const FEWEST_BYTES: u8 = 4;
/// A client's first datagram has as many bytes at least, and its ID (RFC 9000 §14.1, §7.2).
const FIRST_BYTES: u32 = 1200;
const FIRST_ID_BYTES: usize = 8;
/// All packets of versions 1 and 2 have it (RFC 9000 §17.2, §17.3): it tells them from RTP, STUN and DTLS (RFC 9443 §2).
const FIXED: u8 = 0x40;

impl Id {
    /// From at most 20 bytes.
    pub(super) fn new(given: &[u8]) -> Id {
        let mut bytes = [0; Quic::MOST_ID];
        bytes[..given.len()].copy_from_slice(given);
        Id { bytes, len: given.len() as u8 }
    }

    /// Long enough to say which connection it is.
    pub(super) fn tells(&self) -> bool {
        self.len >= FEWEST_BYTES
    }

    pub(super) fn len(&self) -> u8 {
        self.len
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.bytes[..self.len.into()].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// What a datagram with a payload of `len` bytes begins with.
///
/// Any UDP payload may look like a long header: it is taken for one where the version is in use, or where it is as long as a
/// client's first datagram.
pub(super) fn header<'a>(glimpse: &'a Glimpse, len: u32) -> Header<'a> {
    let bytes = glimpse.bytes();
    let Some(&first) = bytes.first() else {
        // A capture of headers alone does not tell.
        return if len > 0 { Header::Short { destination: &[] } } else { Header::Other };
    };
    match Quic::parse(bytes) {
        // Where versions are negotiated there is none: an answer, which begins nothing.
        Ok(Quic::Long { version, destination, source })
            if version == 0
                || first & FIXED != 0
                    && (quic::is_version_in_use(version)
                        || len >= FIRST_BYTES && destination.len() >= FIRST_ID_BYTES) =>
        {
            Header::Long { version, destination: Id::new(destination), source: Id::new(source) }
        }
        Ok(Quic::Short { destination }) if first & FIXED != 0 => Header::Short { destination },
        _ => Header::Other,
    }
}
