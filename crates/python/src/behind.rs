//! An analysis that measures on a thread of its own what is seen meanwhile.

use analysis::Analysis;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, JoinHandle};
use wire::Observation;

const LEN: usize = 1024;
const IN_FLIGHT: usize = 4;

/// Takes observations in batches, a few of them ahead of the analysis.
pub struct Behind {
    batch: Vec<Observation>,
    batches: SyncSender<Vec<Observation>>,
    /// Batches that were measured, to be filled again.
    spent: Receiver<Vec<Observation>>,
    measurer: JoinHandle<Analysis>,
}

impl Behind {
    /// Begins to measure.
    pub fn new(analysis: Analysis) -> Behind {
        let (batches, full) = mpsc::sync_channel::<Vec<Observation>>(IN_FLIGHT);
        let (empty, spent) = mpsc::channel();
        let measurer = thread::spawn(move || {
            let mut analysis = analysis;
            for mut batch in full {
                batch.iter().for_each(|seen| analysis.observe(seen));
                batch.clear();
                // Who is done needs it no more.
                let _ = empty.send(batch);
            }
            analysis
        });
        Behind { batch: Vec::with_capacity(LEN), batches, spent, measurer }
    }

    /// The next observation, in time order.
    #[inline]
    pub fn observe(&mut self, seen: &Observation) {
        self.batch.push(*seen);
        if self.batch.len() == LEN {
            self.pass_on();
        }
    }

    fn pass_on(&mut self) {
        let empty = self.spent.try_recv().unwrap_or_else(|_| Vec::with_capacity(LEN));
        // If the measurer is gone it panicked, and `finish` says so.
        let _ = self.batches.send(std::mem::replace(&mut self.batch, empty));
    }

    /// The analysis, when it has seen all.
    pub fn finish(mut self) -> Analysis {
        self.pass_on();
        drop(self.batches);
        self.measurer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}
