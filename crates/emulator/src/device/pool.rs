//! Boxes of packets that a device has written, for those that the same thread reads: in the long run nothing is
//! allocated for a packet.

use std::cell::RefCell;
use wire::Packet;

/// More are given back to the allocator.
const MOST: usize = 4096;

thread_local! {
    #[expect(clippy::vec_box, reason = "packets travel in boxes, which are used again")]
    static FREE: RefCell<Vec<Box<Packet>>> = const { RefCell::new(Vec::new()) };
}

/// A packet to be written over.
pub(crate) fn take() -> Box<Packet> {
    FREE.with_borrow_mut(Vec::pop).unwrap_or_else(|| Box::new(host::blank()))
}

/// The packet ends.
pub(crate) fn give(mut packet: Box<Packet>) {
    packet.body = None;
    FREE.with_borrow_mut(|free| {
        if free.len() < MOST {
            free.push(packet);
        }
    });
}
