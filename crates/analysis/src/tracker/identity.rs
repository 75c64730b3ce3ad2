//! What a connection is known by, at whichever end.

use super::subflow::Addresses;
use std::net::SocketAddr;

/// What both ends see alike in the SYN/ACK, whatever translates addresses between them. A middlebox may take the key away.
#[derive(Clone, Copy, Debug)]
pub(super) struct Identity {
    pub(super) key: Option<u64>,
    pub(super) sequence_numbers: SequenceNumbers,
    /// Where it was seen first.
    pub(super) addresses: Addresses,
}

/// What both ends see alike in a SYN: its number, and the server that it goes to.
pub(super) type Opened = (u32, SocketAddr);

/// Initial ones, of who opened and of who accepted.
pub(super) type SequenceNumbers = (u32, u32);

/// What the packets of a flow that wait show of that.
pub(super) struct Names {
    pub(super) identity: Option<Identity>,
    pub(super) opened: Option<Opened>,
    pub(super) addresses: Addresses,
}
