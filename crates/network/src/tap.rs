use crate::{Link, Path};
use link::Dropped;
use wire::Direction;

/// Observes packets on their way.
pub trait Tap {
    /// A packet of so many bytes has come to the link with this index.
    #[inline]
    fn arrived(&mut self, index: usize, link: &Link, direction: Direction, bytes: u32) {
        let _ = (index, link, direction, bytes);
    }

    /// One leaves it at the other end.
    #[inline]
    fn departed(&mut self, index: usize, link: &Link, direction: Direction, bytes: u32) {
        let _ = (index, link, direction, bytes);
    }

    /// Whether it looks at the queues of links: then they are as they are at the time.
    #[inline]
    fn looks_at_queues(&self) -> bool {
        false
    }

    /// One was dropped.
    fn dropped(&mut self, at: DropPoint, dropped: Dropped);
}

/// Where a packet was dropped.
pub struct DropPoint<'a> {
    /// Index of the link.
    pub index: usize,
    /// The link.
    pub link: &'a Link,
    /// The path in front of it, where that dropped the packet.
    pub path: Option<&'a Path>,
}
