use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use wire::{Observation, Point};

use crate::{Error, FileStatistics, Merge};

/// A [`Merge`] that reads ahead on a thread of its own, while what it read before is measured.
pub struct Ahead {
    batches: Receiver<Result<Batch, Error>>,
    spent: Sender<Vec<Observation>>,
    reader: JoinHandle<Vec<FileStatistics>>,
}

/// Observations in a row.
#[derive(Default)]
pub struct Batch {
    /// Points that they brought up first; they go on from those of the batches before.
    pub points: Vec<Point>,
    /// The observations.
    pub observations: Vec<Observation>,
    /// Bytes read so far, and in all where that is known.
    pub progress: (u64, Option<u64>),
}

const LEN: usize = 1024;
const IN_FLIGHT: usize = 4;

impl Ahead {
    /// Begins to read.
    pub fn new(merge: Merge) -> Ahead {
        let (sender, batches) = mpsc::sync_channel(IN_FLIGHT);
        let (spent, empty) = mpsc::channel();
        Ahead { batches, spent, reader: thread::spawn(move || read(merge, &sender, &empty)) }
    }

    /// The next batch; an empty one where none came within `patience`, none at the end.
    ///
    /// # Errors
    /// As [`Merge::next`].
    pub fn next(&self, patience: Duration) -> Option<Result<Batch, Error>> {
        match self.batches.recv_timeout(patience) {
            Ok(batch) => Some(batch),
            Err(RecvTimeoutError::Timeout) => Some(Ok(Batch::default())),
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    /// Gives a batch back, so that its memory is used again.
    pub fn recycle(&self, batch: Batch) {
        // A reader that is done needs it no more.
        let _ = self.spent.send(batch.observations);
    }

    /// What was read, capture by capture; the rest is not read any more.
    pub fn finish(self) -> Vec<FileStatistics> {
        drop(self.batches);
        self.reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

fn read(
    mut merge: Merge,
    sender: &SyncSender<Result<Batch, Error>>,
    empty: &Receiver<Vec<Observation>>,
) -> Vec<FileStatistics> {
    let mut known = 0;
    loop {
        let mut observations = empty.try_recv().unwrap_or_else(|_| Vec::with_capacity(LEN));
        observations.clear();
        let mut failure = None;
        while observations.len() < LEN {
            match merge.next() {
                Some(Ok(observation)) => observations.push(*observation),
                Some(Err(error)) => {
                    failure = Some(error);
                    break;
                }
                None => break,
            }
        }
        let over = observations.len() < LEN && failure.is_none();
        let points = merge.points()[known..].to_vec();
        known += points.len();
        let batch = Batch { points, observations, progress: merge.progress() };
        let sent = sender.send(Ok(batch)).is_ok() && failure.is_none_or(|error| sender.send(Err(error)).is_ok());
        if over || !sent {
            return merge.statistics().to_vec();
        }
    }
}
