use crate::lateness::Lateness;
use link::{Direction, QueueState, Reason};
use network::Link;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A link and what happened on it.
pub(crate) struct Line {
    pub link: Link,
    pub counts: LinkCounts,
}

/// What happened on a link and the paths before it.
#[derive(Clone, Debug, Default)]
pub struct LinkCounts {
    /// Packets that came to it, up and down.
    pub packets: [u64; 2],
    /// Bytes of these.
    pub bytes: [u64; 2],
    /// Packets that ended on it or at the gate of a path.
    pub drops: BTreeMap<(Direction, Reason), u64>,
    /// By how much it was woken late.
    pub lateness: Lateness,
}

impl Line {
    pub fn new(link: Link) -> Line {
        Line { link, counts: LinkCounts::default() }
    }

    /// Bytes and packets that queue in a direction.
    pub fn queued(&self, direction: Direction) -> (u64, u64) {
        use link::Element;
        let mut states = Vec::new();
        self.link.chain.queues(&mut states);
        let of_direction = |state: &&QueueState| {
            self.link.elements.iter().any(|(full, way, _)| full == state.element && *way == direction)
        };
        states
            .iter()
            .filter(of_direction)
            .fold((0, 0), |(bytes, packets), state| (bytes + state.bytes, packets + state.packets))
    }

    /// What tables call an element.
    pub fn element(&self, place: u32) -> Option<Arc<str>> {
        self.link.elements.get(place as usize).map(|(_, _, short)| short.clone())
    }
}

impl LinkCounts {
    /// A packet ended.
    pub(crate) fn lose(&mut self, direction: Direction, reason: Reason) {
        *self.drops.entry((direction, reason)).or_default() += 1;
    }
}
