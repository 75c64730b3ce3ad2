//! Where packets end.

use crate::records::Records;
use link::{Dropped, Reason};
use network::{DropPoint, Tap};
use std::sync::Arc;
use wire::{Direction, Packet, Time};

/// Keeps what is to be recorded of drops, and the boxes of packets that ended for those to come: in the long run nothing
/// is allocated for a packet.
pub(crate) struct Sink {
    pub records: Records,
    #[expect(clippy::vec_box, reason = "packets travel in boxes, which are used again")]
    free: Vec<Box<Packet>>,
}

impl Sink {
    pub fn new(records: Records) -> Sink {
        Sink { records, free: Vec::new() }
    }

    /// A packet to be written over.
    pub fn take(&mut self) -> Box<Packet> {
        self.free.pop().unwrap_or_else(|| Box::new(host::blank()))
    }

    /// The packet ends.
    pub fn give(&mut self, packet: Box<Packet>) {
        self.free.push(packet);
    }

    /// It ends at the host of this name.
    #[cold]
    pub fn drop_at(&mut self, host: &Arc<str>, now: Time, direction: Direction, packet: Box<Packet>, reason: Reason) {
        self.records.drop(now, ("host", host, None), direction, &packet, reason);
        self.give(packet);
    }
}

impl Tap for Sink {
    #[cold]
    fn dropped(&mut self, at: DropPoint, dropped: Dropped) {
        let dropped_at = match at.path {
            Some(path) => ("path", &path.name, None),
            None => ("link", &at.link.name, at.link.element(&dropped).cloned()),
        };
        let Dropped { packet, direction, reason, at, .. } = dropped;
        self.records.drop(at, dropped_at, direction, &packet, reason);
        self.give(packet);
    }
}
