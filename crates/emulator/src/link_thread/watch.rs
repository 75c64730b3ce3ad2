use crate::device::pool;
use crate::lateness::Lateness;
use crate::recorder::{Feed, Happened};
use link::{Dropped, Reason};
use network::{DropPoint, Link, Network, Tap};
use std::collections::BTreeMap;
use std::sync::Arc;
use wire::{Direction, Packet, Time};

/// What is recorded and counted of a network's packets.
pub(crate) struct Watch {
    pub feed: Feed,
    /// By link.
    pub counts: Vec<LinkCounts>,
    /// What the link log calls the first link; the others follow.
    first: u32,
    /// The time up to which everything has happened: after a coalescing pause a little ahead of the clock.
    pub now: Time,
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

impl Watch {
    pub fn new(feed: Feed, links: usize, first: u32, now: Time) -> Watch {
        Watch { feed, counts: vec![LinkCounts::default(); links], first, now }
    }

    /// A packet ended behind all elements.
    pub fn lose(&mut self, network: &Network, index: usize, direction: Direction, packet: Box<Packet>, reason: Reason) {
        let dropped = Dropped { at: self.now, packet, direction, reason, element: u32::MAX };
        self.record_drop(index, &network.links()[index], None, dropped);
    }

    fn record_drop(&mut self, index: usize, link: &Link, element: Option<&Arc<str>>, dropped: Dropped) {
        let Dropped { packet, direction, reason, .. } = dropped;
        let bytes = packet.frame.wire_len();
        pool::give(packet);
        *self.counts[index].drops.entry((direction, reason)).or_default() += 1;
        self.log(index, link, direction, bytes, || Happened::Drop(reason, element.cloned()));
    }

    fn log(
        &mut self,
        index: usize,
        link: &Link,
        direction: Direction,
        bytes: u32,
        happened: impl FnOnce() -> Happened,
    ) {
        if self.feed.logs() {
            let of_direction = link.queues().filter(|(towards, _, _)| *towards == direction);
            let queued = of_direction
                .fold((0, 0), |(bytes, packets), (_, _, state)| (bytes + state.bytes, packets + state.packets));
            self.feed.happened(self.now, (self.first + index as u32, direction), bytes, happened(), queued);
        }
    }
}

impl Tap for Watch {
    fn looks_at_queues(&self) -> bool {
        self.feed.logs()
    }

    fn arrived(&mut self, index: usize, link: &Link, direction: Direction, bytes: u32) {
        let counts = &mut self.counts[index];
        counts.packets[direction as usize] += 1;
        counts.bytes[direction as usize] += u64::from(bytes);
        self.log(index, link, direction, bytes, || Happened::Arrival);
    }

    fn departed(&mut self, index: usize, link: &Link, direction: Direction, bytes: u32) {
        self.log(index, link, direction, bytes, || Happened::Departure);
    }

    fn dropped(&mut self, at: DropPoint, dropped: Dropped) {
        // A path's gate and translator are none of the link's elements.
        let element = if at.path.is_none() { at.link.element(&dropped).cloned() } else { None };
        self.record_drop(at.index, at.link, element.as_ref(), dropped);
    }
}
