//! Bytes from one connection to the other, both ways, as they come.

use crate::sockets::poll;
use rustix::event::{PollFd, PollFlags};
use socket2::Socket;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What waits in each direction at most: when the receiver is slow, the sender waits, too.
pub const BUFFER_BYTES: usize = 1 << 16;
/// How often it looks whether the program is to end.
pub const LOOK: Duration = Duration::from_millis(200);

/// One direction.
pub struct Pipe {
    buffer: Vec<u8>,
    /// What of it is written.
    written: usize,
    /// The sender has finished.
    ended: bool,
    /// The receiver was told so.
    shut: bool,
    /// What went through in all.
    pub bytes: u64,
}

impl Pipe {
    /// With what has been read already.
    pub fn new(buffer: Vec<u8>, ended: bool) -> Pipe {
        Pipe { buffer, written: 0, ended, shut: false, bytes: 0 }
    }

    /// Grows with all that comes and goes.
    fn seen(&self) -> u64 {
        self.bytes * 2 + (self.buffer.len() - self.written) as u64 + u64::from(self.ended)
    }

    fn has_room(&self) -> bool {
        !self.ended && self.buffer.len() < BUFFER_BYTES
    }

    fn wants_out(&self) -> bool {
        self.written < self.buffer.len()
    }

    fn fill(&mut self, mut from: &Socket) -> Result<()> {
        let begin = self.buffer.len();
        self.buffer.resize(BUFFER_BYTES, 0);
        let read = from.read(&mut self.buffer[begin..]);
        self.buffer.truncate(begin + *read.as_ref().unwrap_or(&0));
        match read {
            Ok(0) => self.ended = true,
            Err(error) if !is_later(error.kind()) => return Err(error),
            _ => {}
        }
        Ok(())
    }

    fn drain(&mut self, mut to: &Socket) -> Result<()> {
        if self.wants_out() {
            match to.write(&self.buffer[self.written..]) {
                Ok(count) => {
                    self.written += count;
                    self.bytes += count as u64;
                }
                Err(error) if is_later(error.kind()) => {}
                Err(error) => return Err(error),
            }
            if !self.wants_out() {
                self.buffer.clear();
                self.written = 0;
            }
        }
        if self.ended && !self.wants_out() && !self.shut {
            to.shutdown(std::net::Shutdown::Write)?;
            self.shut = true;
        }
        Ok(())
    }
}

pub fn is_later(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// Relays until both ends have finished.
///
/// # Errors
/// One was reset, nothing moved for `idle`, or the program ends: both connections are to be reset.
pub fn relay([near, far]: [&Socket; 2], [up, down]: [&mut Pipe; 2], idle: Duration, ends: &AtomicBool) -> Result<()> {
    let (mut last, mut moved) = (Instant::now(), 0);
    loop {
        up.drain(far)?;
        down.drain(near)?;
        if up.shut && down.shut {
            return Ok(());
        }
        let wanted = [(near, wanted(up, down)), (far, wanted(down, up))];
        // One that has finished both ways would only say so again and again.
        let mut polled: Vec<_> =
            wanted.iter().filter_map(|(socket, events)| events.map(|events| PollFd::new(*socket, events))).collect();
        poll(&mut polled, LOOK)?;
        if ends.load(Ordering::Relaxed) {
            return Err(ErrorKind::Interrupted.into());
        }
        let bytes = up.seen() + down.seen();
        if bytes != moved {
            (last, moved) = (Instant::now(), bytes);
        } else if last.elapsed() >= idle {
            return Err(Error::other(format!("nothing moved for {} s", idle.as_secs())));
        }
        let came: Vec<_> = polled.iter().map(PollFd::revents).collect();
        let mut came = came.into_iter();
        for ((socket, events), pipe) in wanted.into_iter().zip([&mut *up, &mut *down]) {
            let came = events.and_then(|_| came.next()).unwrap_or(PollFlags::empty());
            if pipe.has_room() && came.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) {
                pipe.fill(socket)?;
            } else if came.intersects(PollFlags::HUP | PollFlags::ERR) {
                // It was reset while nothing was read from it.
                return Err(socket.take_error()?.unwrap_or_else(|| ErrorKind::ConnectionReset.into()));
            }
        }
    }
}

/// What is waited for at a socket that `from` reads and `to` writes.
fn wanted(from: &Pipe, to: &Pipe) -> Option<PollFlags> {
    let mut events = PollFlags::empty();
    events.set(PollFlags::IN, from.has_room());
    events.set(PollFlags::OUT, to.wants_out());
    (!from.ended || !to.shut).then_some(events)
}
