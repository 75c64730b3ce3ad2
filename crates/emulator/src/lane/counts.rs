use crate::lateness::Lateness;
use link::{Direction, Reason};
use std::collections::BTreeMap;

/// What happened on a link and the paths before it.
#[derive(Clone, Debug, Default)]
pub struct LinkCounts {
    /// Packets that came to it, up and down.
    pub packets: [u64; 2],
    /// Bytes of these.
    pub bytes: [u64; 2],
    /// Packets that ended on it.
    pub drops: BTreeMap<(Direction, Reason), u64>,
    /// By how much it was woken late.
    pub lateness: Lateness,
}

impl LinkCounts {
    pub(crate) fn drop(&mut self, direction: Direction, reason: Reason) {
        *self.drops.entry((direction, reason)).or_default() += 1;
    }
}
