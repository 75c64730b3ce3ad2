use super::{Discipline, Item, Limits, Site, Store, stored};
use crate::parameter::{Bytes, Duration, Flag, Packets};
use crate::{Out, Reason};
use parameters::{Fault, fault, parameters};
use wire::Time;

parameters! {
    /// CoDel (RFC 8289): once packets have waited longer than `target` for a whole `interval`, it drops from the head
    /// of the queue, at an increasing rate, until they wait less. Packets that exceed a limit are dropped as by
    /// drop-tail. As in Linux, ECN marking is off by default.
    "codel"
    struct Settings {
        /// Limit in bytes.
        bytes: Option<Bytes> = None,
        /// Limit in packets.
        packets: Option<Packets> = None,
        /// Limit in bytes, given as the time in which these bytes leave at the mean rate of the element.
        delay: Option<Duration> = None,
        /// Acceptable standing delay of the queue.
        target: Duration = Duration(5_000_000),
        /// Time for which a longer delay is tolerated: about the longest round-trip time.
        interval: Duration = Duration(100_000_000),
        /// Largest packet. Nothing is dropped while the queue holds no more than this.
        largest: Bytes = Bytes(1500),
        /// Whether packets of ECN-capable connections are marked instead of dropped (RFC 8289 §5.5, RFC 3168).
        ecn: Flag = Flag(false),
    }
}

pub(super) fn make(settings: Settings, site: &Site) -> Result<Box<dyn Discipline>, Fault> {
    let Settings { bytes, packets, delay, target, interval, largest, ecn } = settings;
    let codel = Codel::new(target, interval, largest, ecn)?;
    Ok(Box::new(Managed { codel, store: Store::new(&Limits { bytes, packets, delay }, site) }))
}

struct Managed {
    codel: Codel,
    store: Store,
}

impl Discipline for Managed {
    fn enqueue(&mut self, item: Item, out: &mut Out) {
        if self.store.has_room(&item) { self.store.push(item) } else { item.drop(Reason::QueueFull, out) }
    }

    fn dequeue(&mut self, now: Time, out: &mut Out) -> Option<Item> {
        self.codel.dequeue(now, &mut self.store, out)
    }

    stored!();
}

/// State of RFC 8289 §5.2.
#[derive(Clone)]
pub(super) struct Codel {
    target: i64,
    interval: i64,
    largest: u64,
    ecn: bool,
    /// When the waiting time will have been above the target for an interval.
    first_above: Option<Time>,
    drop_next: Time,
    /// Packets dropped since dropping began.
    count: u64,
    last_count: u64,
    dropping: bool,
}

impl Codel {
    pub fn new(target: Duration, interval: Duration, largest: Bytes, ecn: Flag) -> Result<Codel, Fault> {
        if interval.0 == 0 {
            return Err(fault("interval", "must be longer than 0"));
        }
        Ok(Codel {
            target: target.nanos(),
            interval: interval.nanos(),
            largest: largest.0,
            ecn: ecn.0,
            first_above: None,
            drop_next: Time::default(),
            count: 0,
            last_count: 0,
            dropping: false,
        })
    }

    /// RFC 8289 §5.5, `deque`; what is marked leaves, and counts as dropped (Linux's codel_dequeue).
    pub fn dequeue(&mut self, now: Time, store: &mut Store, out: &mut Out) -> Option<Item> {
        let mut next = self.next(now, store);
        if self.dropping {
            self.dropping = matches!(next, Some((_, true)));
            while self.dropping && now >= self.drop_next {
                let Some((mut item, _)) = next else { break };
                self.count += 1;
                if self.ecn && item.mark() {
                    self.drop_next = self.after(self.drop_next);
                    return Some(item);
                }
                item.drop(Reason::QueueManaged, out);
                next = self.next(now, store);
                match next {
                    Some((_, true)) => self.drop_next = self.after(self.drop_next),
                    _ => self.dropping = false,
                }
            }
        } else if let Some((mut item, true)) = next {
            next = if self.ecn && item.mark() {
                Some((item, true))
            } else {
                item.drop(Reason::QueueManaged, out);
                self.next(now, store)
            };
            self.dropping = true;
            // Where dropping ended not long ago, its rate then is the better guess.
            let delta = self.count - self.last_count;
            self.count = if delta > 1 && now - self.drop_next < 16 * self.interval { delta } else { 1 };
            self.drop_next = self.after(now);
            self.last_count = self.count;
        }
        next.map(|(item, _)| item)
    }

    /// RFC 8289 §5.6, `dodequeue`: a packet, and whether it may be dropped.
    fn next(&mut self, now: Time, store: &mut Store) -> Option<(Item, bool)> {
        let Some(item) = store.pop() else {
            self.first_above = None;
            return None;
        };
        if now - item.at < self.target || store.bytes() <= self.largest {
            self.first_above = None;
            return Some((item, false));
        }
        let first_above = *self.first_above.get_or_insert(now + self.interval);
        Some((item, now >= first_above))
    }

    /// RFC 8289 §5.6, `control_law`.
    fn after(&self, time: Time) -> Time {
        time + (self.interval as f64 / (self.count as f64).sqrt()) as i64
    }
}
