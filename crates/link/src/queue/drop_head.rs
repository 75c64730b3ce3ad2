use super::{Discipline, Item, Limits, Site, Store, stored};
use crate::parameter::{Bytes, Duration, Packets};
use crate::{Out, Reason};
use parameters::{Fault, parameters};
use wire::Time;

parameters! {
    /// First in, first out. If there is no room for a packet, packets are dropped from the head until there is. An
    /// empty queue accepts any packet, and the packet being sent is not counted. Without a limit, up to 1000 packets
    /// may wait.
    "drop-head"
    struct Settings {
        /// Limit in bytes.
        bytes: Option<Bytes> = None,
        /// Limit in packets.
        packets: Option<Packets> = None,
        /// Limit in bytes, given as the time in which these bytes leave at the mean rate of the element.
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
