use crate::{Malformed, mptcp::Mptcp};

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

    /// Whether all bits of `other` are set.
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Bits of both.
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// The option bytes of a TCP header, at most 40.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    bytes: [u8; 40],
    len: u8,
}

/// One option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpOption<'a> {
    /// Maximum segment size (RFC 9293 §3.7.1).
    MaximumSegmentSize(u16),
    /// Shift of the window (RFC 7323 §2).
    WindowScale(u8),
    /// Selective acknowledgement permitted (RFC 2018 §2).
    SackPermitted,
    /// Selective acknowledgement (RFC 2018 §3).
    Sack(SackBlocks),
    /// Timestamps (RFC 7323 §3).
    Timestamps {
        /// Sender's clock.
        value: u32,
        /// Echo of the peer's clock.
        echo: u32,
    },
    /// Multipath TCP, kind 30 (RFC 8684, RFC 6824).
    Mptcp(Mptcp<'a>),
    /// Any other.
    Unknown {
        /// Kind.
        kind: u8,
        /// Bytes after the length.
        data: &'a [u8],
    },
}

/// Up to four ranges [left, right) that arrived out of order (RFC 2018 §3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(u32, u32); 4],
    len: u8,
}

impl Options {
    /// No options.
    pub const NONE: Options = Options { bytes: [0; 40], len: 0 };

    /// The bytes as on the wire.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// The options in order; ends after the first malformed one.
    pub fn iter(&self) -> impl Iterator<Item = Result<TcpOption<'_>, Malformed>> {
        std::iter::empty()
    }
}

/// Arithmetic on sequence numbers modulo 2³² (RFC 9293 §3.4).
pub mod seq {
    /// `a − b` as a signed distance.
    pub const fn diff(a: u32, b: u32) -> i32 {
        a.wrapping_sub(b) as i32
    }
}
