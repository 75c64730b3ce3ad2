//! Standard input that can be told to end, also while nothing comes.

use std::{
    io::{self, Read},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

const CHUNK: usize = 1 << 17;
const IN_FLIGHT: usize = 4;
/// So long is waited between looks whether to end.
const PATIENCE: Duration = Duration::from_millis(50);

/// Ends standard input.
#[derive(Clone, Default)]
pub struct End {
    at: Arc<OnceLock<Instant>>,
    early: Arc<AtomicBool>,
}

impl End {
    /// Reads no longer than `grace` from now.
    pub fn within(&self, grace: Duration) {
        // Told before: then as before.
        let _ = self.at.set(Instant::now() + grace);
    }

    /// Whether there would have been more to wait for.
    pub fn was_early(&self) -> bool {
        self.early.load(Ordering::Relaxed)
    }

    fn is_now(&self) -> bool {
        let now = self.at.get().is_some_and(|at| Instant::now() >= *at);
        if now {
            self.early.store(true, Ordering::Relaxed);
        }
        now
    }
}

/// Standard input, read on a thread of its own, which nobody has to wait for.
pub struct StandardInput {
    chunks: Receiver<io::Result<Vec<u8>>>,
    chunk: io::Cursor<Vec<u8>>,
    end: End,
}

impl StandardInput {
    /// Begins to read.
    pub fn new(end: End) -> StandardInput {
        let (sender, chunks) = mpsc::sync_channel(IN_FLIGHT);
        thread::spawn(move || {
            loop {
                let chunk = next_chunk();
                let over = chunk.as_ref().map_or(true, Vec::is_empty);
                if sender.send(chunk).is_err() || over {
                    return;
                }
            }
        });
        StandardInput { chunks, chunk: io::Cursor::default(), end }
    }
}

impl Read for StandardInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.chunk.read(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            if self.end.is_now() {
                return Ok(0);
            }
            match self.chunks.recv_timeout(PATIENCE) {
                Ok(chunk) => self.chunk = io::Cursor::new(chunk?),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            }
        }
    }
}

/// What is there, or comes next; nothing at the end.
fn next_chunk() -> io::Result<Vec<u8>> {
    let mut chunk = vec![0; CHUNK];
    loop {
        match io::stdin().read(&mut chunk) {
            Ok(read) => {
                chunk.truncate(read);
                return Ok(chunk);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
