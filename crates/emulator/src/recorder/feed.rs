use super::{Batches, Entry, Happened, Line, Shared};
use std::sync::Arc;
use std::sync::mpsc::TrySendError;
use wire::{CaptureDirection, Direction, Packet, Time};

/// So many entries are handed over at a time.
const BATCH: usize = 256;
/// Or those that are as old as this.
const PATIENCE_NS: i64 = 20_000_000;

/// A link thread's way to the recorder. It never waits: what the recorder has no room for is counted.
pub(crate) struct Feed {
    link_thread: usize,
    shared: Arc<Shared>,
    sender: Batches,
    batch: Vec<Entry>,
    /// When the batch is to be handed over.
    due: Time,
    /// What is done ahead of its time is recorded as done at this time.
    most: Time,
    /// Of each site, the last time. Of packets of one time nobody could tell which came first.
    last: [Time; 2],
}

impl Feed {
    pub fn new(link_thread: usize, shared: Arc<Shared>, sender: Batches) -> Feed {
        let last = [Time::from_nanos(i64::MIN); 2];
        Feed { link_thread, shared, sender, batch: Vec::new(), due: Time::MAX, most: Time::MAX, last }
    }

    /// Nothing that follows happens later than this, until the next call.
    pub fn limit(&mut self, most: Time) {
        self.most = most;
    }

    /// A packet passed the point of this number.
    pub fn passed(&mut self, now: Time, point: u32, direction: CaptureDirection, packet: &Packet) {
        let now = now.min(self.most);
        let last = &mut self.last[self.shared.points()[point as usize].site as usize];
        *last = now.max(*last + 1);
        let at = *last;
        self.push(now, Entry::Packet { at, point, direction, packet: packet.clone() });
    }

    /// Whether there is a link log.
    pub fn logs(&self) -> bool {
        self.shared.log().is_some()
    }

    /// Something happened to a packet on a link.
    pub fn happened(
        &mut self,
        at: Time,
        (link, direction): (u32, Direction),
        bytes: u32,
        happened: Happened,
        queued: (u64, u64),
    ) {
        let at = at.min(self.most);
        self.push(at, Entry::Line(Line { at, link, direction, happened, bytes, queued }));
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
            self.shared.reach(self.link_thread, Time::MAX);
        }
    }

    /// To be called after every wait and before a look at the clock, with a time before it.
    pub fn wake(&self, before: Time) {
        if self.batch.is_empty() {
            self.shared.reach(self.link_thread, before);
        }
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

    fn hand_over(&mut self, now: Time) {
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        if let Err(TrySendError::Full(lost) | TrySendError::Disconnected(lost)) = self.sender.try_send(batch) {
            for entry in &lost {
                match entry {
                    Entry::Packet { point, .. } => self.shared.points()[*point as usize].tally.lose(),
                    Entry::Line(_) => self.shared.log().into_iter().for_each(|tally| tally.lose()),
                }
            }
        }
        self.due = Time::MAX;
        self.shared.reach(self.link_thread, now);
    }
}

impl Drop for Feed {
    /// The end: now it may wait.
    fn drop(&mut self) {
        // If the recorder is gone, it says why.
        let _ = self.sender.send(std::mem::take(&mut self.batch));
        self.shared.reach(self.link_thread, Time::MAX);
    }
}
