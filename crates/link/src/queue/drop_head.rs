use super::{Discipline, Item, Limits, Site, Store, stored};
use crate::parameter::{Bytes, Duration, Packets};
use crate::{Out, Reason};
use parameters::{Fault, parameters};
use wire::Time;

parameters! {
    /// First come, first served; who has waited longest makes room. Packets are dropped from the head until there is room
    /// for the one that comes. An empty queue takes any packet; the packet that is being sent is not in the queue. Without any limit
    /// 1000 packets may wait.
    "drop-head"
    struct Settings {
        /// Most bytes that may wait.
        bytes: Option<Bytes> = None,
        /// Most packets that may wait.
        packets: Option<Packets> = None,
        /// Most bytes that may wait, said as the time in which they leave at the mean rate of the server.
        delay: Option<Duration> = None,
    }
}

pub(super) fn make(settings: Settings, site: &Site) -> Result<Box<dyn Discipline>, Fault> {
    let Settings { bytes, packets, delay } = settings;
    Ok(Box::new(DropHead { store: Store::new(&Limits { bytes, packets, delay }, site) }))
}

struct DropHead {
    store: Store,
}

impl Discipline for DropHead {
    fn enqueue(&mut self, item: Item, out: &mut Out) {
        while !self.store.has_room(&item)
            && let Some(oldest) = self.store.pop()
        {
            oldest.drop(Reason::QueueFull, out);
        }
        self.store.push(item);
    }

    fn dequeue(&mut self, _now: Time, _out: &mut Out) -> Option<Item> {
        self.store.pop()
    }

    fn drops_late(&self) -> bool {
        false
    }

    stored!();
}
