//! Work that is done on a thread of its own with what was seen, behind the simulation that goes on meanwhile.

use std::io;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, JoinHandle};
use wire::Observation;

const LEN: usize = 512;
const IN_FLIGHT: usize = 4;

/// What is to be done with observations.
pub trait Work: Send + 'static {
    /// Takes the next ones, in the order in which they were made.
    fn take(&mut self, seen: &mut [Observation]) -> io::Result<()>;
}

/// Takes observations and hands them on in batches, a few of them ahead of the work.
pub struct Behind<W> {
    batch: Vec<Observation>,
    batches: SyncSender<Vec<Observation>>,
    /// Batches that were worked off, to be filled again.
    spent: Receiver<Vec<Observation>>,
    /// None when it had failed.
    worker: Option<JoinHandle<io::Result<W>>>,
}

impl<W: Work> Behind<W> {
    /// Begins to work.
    pub fn new(mut work: W) -> Behind<W> {
        let (batches, full) = mpsc::sync_channel::<Vec<Observation>>(IN_FLIGHT);
        let (empty, spent) = mpsc::channel();
        let worker = thread::spawn(move || {
            for mut batch in full {
                work.take(&mut batch)?;
                batch.clear();
                // A reader that is done needs it no more.
                let _ = empty.send(batch);
            }
            Ok(work)
        });
        Behind { batch: Vec::with_capacity(LEN), batches, spent, worker: Some(worker) }
    }

    /// Takes the next observation.
    #[inline]
    pub fn push(&mut self, seen: Observation) {
        self.batch.push(seen);
    }

    /// Between observations that need not stay together.
    #[inline]
    pub fn pause(&mut self) {
        if self.batch.len() >= LEN {
            self.pass_on();
        }
    }

    fn pass_on(&mut self) {
        let empty = self.spent.try_recv().unwrap_or_else(|_| Vec::with_capacity(LEN));
        // If the worker is gone it failed, and `check` or `finish` says so.
        let _ = self.batches.send(std::mem::replace(&mut self.batch, empty));
    }

    /// Why the work ended early, if it did.
    pub fn check(&mut self) -> io::Result<()> {
        self.worker.take_if(|worker| worker.is_finished()).map_or(Ok(()), |failed| result_of(failed).map(drop))
    }

    /// The work, when it is done with everything.
    pub fn finish(mut self) -> io::Result<W> {
        self.pass_on();
        drop(self.batches);
        result_of(self.worker.expect("it did not fail"))
    }
}

fn result_of<W>(worker: JoinHandle<io::Result<W>>) -> io::Result<W> {
    worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
