//! What part of a connection each of two captures holds.

use super::span::Span;
use wire::{PointId, Time};

/// What the captures of both ends cover.
#[derive(Debug, Default)]
pub(super) struct Coverage {
    /// By end.
    pub(super) parts: [Option<Part>; 2],
    /// What the two show cannot be one connection.
    pub(super) unrelated: bool,
    /// The step of a capture's clock, where it is coarse.
    pub(super) clock_step_nanos: Option<u64>,
}

/// The part of a connection that an end's capture covers, where it is not all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) span: Span,
    /// A packet of it.
    pub(super) point: PointId,
    pub(super) late: bool,
    pub(super) early: bool,
    /// When the other end's capture shows the connection first, and last.
    pub(super) shown: (Time, Time),
}

impl Coverage {
    /// The end's capture lacks the beginning or the end, and the other's does not.
    pub(super) fn is_part(&self, end: usize) -> bool {
        self.parts[end].is_some() && self.parts[1 - end].is_none()
    }

    /// The end's capture lacks the beginning.
    pub(super) fn is_late(&self, end: usize) -> bool {
        self.parts[end].is_some_and(|part| part.late)
    }

    /// A capture of either end stops before the other's does.
    pub(super) fn stops(&self) -> bool {
        self.parts.iter().flatten().any(|part| part.early)
    }
}
