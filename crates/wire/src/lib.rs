//! IP, TCP and MPTCP, UDP, what QUIC shows, and Convert: bytes to values and values to bytes.
//!
//! Nothing here reads a clock, opens a file or allocates while parsing. Parsing never panics, whatever the bytes.
//! A [`Frame`] is one IP packet; an [`Observation`] is a frame seen at a time and a point.

mod body;
mod brief;
mod bytes;
mod checksum;
pub mod convert;
mod direction;
mod emit;
mod frame;
mod glimpse;
mod icmp;
mod ip;
mod ipv4;
mod ipv6;
pub mod mptcp;
mod network;
mod observation;
mod options;
mod packet;
pub mod pattern;
pub mod quic;
mod revise;
mod tcp;
mod time;
mod too_big;
mod udp;

pub use body::{Body, Original, Unsummed};
pub use brief::Brief;
pub use direction::Direction;
pub use emit::EmitError;
pub use frame::{Content, Frame, L4, Payload};
pub use glimpse::Glimpse;
pub use ip::{Ecn, Fragment, Ip};
pub use observation::{CaptureDirection, Observation, Point, PointId};
pub use options::{Options, OptionsIter, SackBlocks, TcpOption};
pub use packet::Packet;
pub use tcp::{Flags, Tcp, seq};
pub use time::Time;
pub use too_big::TooBig;

/// Why bytes are not what they claim to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Fewer bytes than the header needs.
    #[error("{header} is cut: {have} of {need} bytes")]
    Short {
        /// The header that does not fit.
        header: &'static str,
        /// Bytes needed.
        need: usize,
        /// Bytes there.
        have: usize,
    },
    /// A length or another field holds a value that cannot be.
    #[error("{header}: {field} {value} is impossible")]
    Field {
        /// The header that holds the field.
        header: &'static str,
        /// The field.
        field: &'static str,
        /// Its value.
        value: u32,
    },
}

impl Malformed {
    #[cold]
    pub(crate) fn short(header: &'static str, need: usize, have: usize) -> Malformed {
        Malformed::Short { header, need, have }
    }

    #[cold]
    pub(crate) fn field(header: &'static str, field: &'static str, value: impl Into<u32>) -> Malformed {
        Malformed::Field { header, field, value: value.into() }
    }

    /// A TCP option that has `data` bytes after kind and length, which no form of it has.
    #[cold]
    pub(crate) fn length(option: &'static str, data: usize) -> Malformed {
        Malformed::Field { header: option, field: "length", value: data as u32 + 2 }
    }
}
