//! Threads that end together: the failure of one ends the others.

use crate::Error;
use crate::link_thread::Stop;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{self, JoinHandle};

/// A thread that gives something at its end.
pub(crate) struct Thread<T>(JoinHandle<Result<T, Error>>);

impl<T: Send + 'static> Thread<T> {
    /// Starts it.
    pub fn spawn(
        name: String,
        stop: Stop,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<Thread<T>, Error> {
        let thread = name.clone();
        let guarded = move || {
            let done = catch_unwind(AssertUnwindSafe(work))
                .unwrap_or_else(|panic| Err(Error::Panic { thread, said: said(&*panic).into() }));
            if done.is_err() {
                stop.stop();
            }
            done
        };
        thread::Builder::new().name(name).spawn(guarded).map(Thread).map_err(Error::Thread)
    }

    /// Waits for its end.
    pub fn join(self) -> Result<T, Error> {
        self.0.join().expect("panics are caught in the thread")
    }

    /// Whether it has ended.
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }
}

fn said(panic: &(dyn Any + Send)) -> &str {
    let said = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref().copied());
    said.unwrap_or("panicked without a word")
}
