//! The application.

use crate::plan::Close;
use host::{Application, Stream};
use transport::Event;
use wire::Time;

/// Written at once, for a peer that takes no joins before it was sent data.
const FIRST_BYTES: u64 = 1_000;
/// Time for joins before the rest is written.
const PAUSE_NS: i64 = 300_000_000;

/// Writes so many bytes, reads all there is, and closes as it was told.
pub struct Exchange {
    /// Nothing was written yet: a server waits for its client's first data, which MP_CAPABLE comes with.
    silent: bool,
    server: bool,
    left: u64,
    close: Close,
    /// So many bytes have to be read for [`Close::Abort`].
    abort_at: u64,
    rest_at: Time,
    paused: bool,
}

impl Exchange {
    pub fn new(bytes: u64, close: Close, server: bool) -> Exchange {
        Exchange { silent: true, server, left: bytes, close, abort_at: bytes / 2, rest_at: Time::MAX, paused: true }
    }

    fn begin(&mut self, now: Time, stream: &mut Stream) {
        self.silent = false;
        self.left -= stream.write(FIRST_BYTES.min(self.left));
        self.rest_at = now + PAUSE_NS;
    }

    fn write(&mut self, stream: &mut Stream) {
        if !self.paused {
            self.left -= stream.write(self.left);
        }
        let finish = match self.close {
            Close::First => true,
            Close::Second => stream.progress().peer_finished,
            Close::Abort => false,
        };
        if self.left == 0 && finish {
            stream.finish();
        }
    }
}

impl Application for Exchange {
    fn on(&mut self, now: Time, event: Event, stream: &mut Stream) {
        match event {
            Event::Connected if !self.server => self.begin(now, stream),
            Event::Readable => {
                stream.read();
                if self.silent {
                    self.begin(now, stream);
                }
                if self.close == Close::Abort && stream.progress().read >= self.abort_at {
                    stream.abort();
                }
            }
            Event::Writable | Event::Finished => self.write(stream),
            Event::Closed(_) => self.rest_at = Time::MAX,
            Event::Connected
            | Event::Accepted { .. }
            | Event::Spent { .. }
            | Event::Probe { .. }
            | Event::Decided { .. }
            | Event::Delivered => {}
        }
    }

    fn wake(&mut self, _: Time, stream: &mut Stream) {
        (self.rest_at, self.paused) = (Time::MAX, false);
        self.write(stream);
    }

    fn deadline(&self) -> Time {
        self.rest_at
    }
}
