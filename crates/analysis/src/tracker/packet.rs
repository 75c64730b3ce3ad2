//! A packet of a subflow, as a connection takes it.

use crate::event::{FlowEvent, Kind, Seen};
use tables::Direction;
use wire::mptcp::MpCapable;
use wire::{Brief, Observation, Tcp};

/// A packet on its way through a connection.
pub(super) struct Packet<'a> {
    pub(super) observation: &'a Observation,
    pub(super) tcp: &'a Tcp,
    /// What its options say that every segment may say.
    pub(super) brief: &'a Brief,
    pub(super) subflow: usize,
    pub(super) end: usize,
    pub(super) direction: Direction,
    pub(super) seen: Seen,
}

/// Options of a packet that few have and that what follows needs.
#[derive(Default)]
pub(super) struct Signals {
    pub(super) capable: Option<MpCapable>,
    /// Of MP_TCPRST.
    pub(super) reset_reason: Option<u8>,
}

impl Packet<'_> {
    #[inline(always)]
    pub(super) fn event<'a>(&self, direction: Direction, kind: Kind<'a>) -> FlowEvent<'a> {
        FlowEvent { seen: self.seen, subflow: self.subflow, direction, kind }
    }
}
