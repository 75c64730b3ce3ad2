//! IP, TCP and MPTCP: bytes to values and values to bytes.
//!
//! Nothing here reads a clock, opens a file or allocates while parsing. Parsing never panics, whatever the bytes.
//! A [`Frame`] is one IP packet; an [`Observation`] is a frame seen at a time and a place.

mod frame;
mod ip;
pub mod mptcp;
mod observation;
mod tcp;
mod time;

pub use frame::{Frame, L4, Payload};
pub use ip::{Fragment, Ip};
pub use observation::{Direction, Observation, Point, PointId};
pub use tcp::{Flags, Options, SackBlocks, Tcp, TcpOption, seq};
pub use time::Time;

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
    #[error("{header}: {field} {value} cannot be")]
    Field {
        /// The header that holds the field.
        header: &'static str,
        /// The field.
        field: &'static str,
        /// Its value.
        value: u32,
    },
}
