use crate::recorder::{Entry, Shared};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::mpsc::SyncSender;
use wire::{Direction, Packet, Time};

/// So many entries are handed over at a time.
const BATCH: usize = 256;
/// Or those that are as old as this.
const PATIENCE_NS: i64 = 20_000_000;

/// A lane's way to the recorder. It never waits: what the recorder has no room for is counted.
pub(crate) struct Feed {
    lane: usize,
    shared: Arc<Shared>,
    sender: SyncSender<Vec<Entry>>,
    batch: Vec<Entry>,
    /// When the oldest of the batch is to be handed over.
    due: Time,
    /// Of each site, the last time. Of packets of one time nobody could tell which came first.
    last: [Time; 2],
}

impl Feed {
    pub fn new(lane: usize, shared: Arc<Shared>, sender: SyncSender<Vec<Entry>>) -> Feed {
        let last = [Time::from_nanos(i64::MIN); 2];
        Feed { lane, shared, sender, batch: Vec::new(), due: Time::MAX, last }
    }

    /// A packet passed the point of this number.
    pub fn passed(&mut self, now: Time, point: u32, direction: Direction, packet: &Packet) {
        let last = &mut self.last[self.shared.points[point as usize].site];
        *last = now.max(*last + 1);
        let at = *last;
        self.push(now, Entry::Packet { at, point, direction, packet: packet.clone() });
    }

    fn push(&mut self, now: Time, entry: Entry) {
        if self.batch.is_empty() {
            self.due = now + PATIENCE_NS;
        }
        self.batch.push(entry);
        if self.batch.len() >= BATCH {
            self.hand_over(now);
        }
    }

    /// When [`Feed::tick`] is to be called.
    pub fn deadline(&self) -> Time {
        self.due
    }

    /// Hands over what has waited long enough. To be called before every wait.
    pub fn tick(&mut self, now: Time) {
        if self.due <= now {
            self.hand_over(now);
        }
        if self.batch.is_empty() {
            // Whatever comes is later than any time that the clock has shown.
            self.shared.reached(self.lane, Time::MAX);
        }
    }

    /// To be called after every wait, with the time before it.
    pub fn wake(&self, before: Time) {
        self.shared.reached(self.lane, before);
    }

    fn hand_over(&mut self, now: Time) {
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        if let Err(refused) = self.sender.try_send(batch) {
            let (std::sync::mpsc::TrySendError::Full(batch) | std::sync::mpsc::TrySendError::Disconnected(batch)) =
                refused;
            for Entry::Packet { point, .. } in &batch {
                self.shared.points[*point as usize].lost.fetch_add(1, Relaxed);
            }
        }
        self.due = Time::MAX;
        self.shared.reached(self.lane, now);
    }
}

impl Shared {
    fn reached(&self, lane: usize, at: Time) {
        self.reached[lane].store(at.as_nanos(), SeqCst);
    }
}

impl Drop for Feed {
    /// The end: waiting is no harm any more.
    fn drop(&mut self) {
        // If the recorder is gone, it says why.
        let _ = self.sender.send(std::mem::take(&mut self.batch));
        self.shared.reached(self.lane, Time::MAX);
    }
}
