use super::{Discipline, Item, Limits, Store};
use crate::describe::{Fault, parameters};
use crate::parameter::{Bytes, Duration, Packets};
use crate::{Out, Reason};
use wire::Time;

parameters! {
    /// First come, first served; a packet for which there is no room is dropped. An empty queue takes any packet; the
    /// packet that is being sent is not in the queue. Without any limit 1000 packets may wait.
    "drop-tail"
    struct Settings {
        /// Most bytes that may wait.
        bytes: Option<Bytes> = None,
        /// Most packets that may wait.
        packets: Option<Packets> = None,
        /// Most bytes that may wait, said as the time in which they leave at the mean rate of the server.
        delay: Option<Duration> = None,
    }
}

pub(super) fn make(settings: Settings) -> Result<(Box<dyn Discipline>, Limits), Fault> {
    let Settings { bytes, packets, delay } = settings;
    Ok((Box::new(DropTail), Limits { bytes, packets, delay }))
}

struct DropTail;

impl Discipline for DropTail {
    fn enqueue(&mut self, store: &mut Store, item: Item, out: &mut Out) {
        if store.has_room(&item) { store.push(item) } else { item.drop(Reason::QueueFull, out) }
    }

    fn dequeue(&mut self, _now: Time, store: &mut Store, _out: &mut Out) -> Option<Item> {
        store.pop()
    }
}
