use super::{Application, Backlog, Stream};
use transport::Event;
use wire::Time;

/// Says nothing for a while, then one message, which arrives if the connection is still there.
#[derive(Clone, Debug)]
pub struct Idle {
    duration_ns: i64,
    message_bytes: u64,
    due: Time,
    backlog: Backlog,
}

impl Idle {
    /// A message of `message_bytes`, `duration_ns` after the connection was established.
    pub fn new(duration_ns: i64, message_bytes: u64) -> Idle {
        Idle { duration_ns, message_bytes, due: Time::MAX, backlog: Backlog::default() }
    }

    fn write(&mut self, stream: &mut Stream) {
        if self.backlog.flush(stream) {
            stream.finish();
        }
    }
}

impl Application for Idle {
    fn on(&mut self, now: Time, event: Event, stream: &mut Stream) {
        match event {
            Event::Connected => self.due = now + self.duration_ns,
            Event::Writable if self.due == Time::MAX => self.write(stream),
            Event::Readable | Event::Finished => {
                stream.read();
            }
            Event::Closed(_) => self.due = Time::MAX,
            Event::Accepted { .. }
            | Event::Spent { .. }
            | Event::Probe { .. }
            | Event::Decided { .. }
            | Event::Writable
            | Event::Delivered => {}
        }
    }

    fn wake(&mut self, now: Time, stream: &mut Stream) {
        if now >= self.due {
            self.due = Time::MAX;
            self.backlog.add(self.message_bytes);
            self.write(stream);
        }
    }

    fn deadline(&self) -> Time {
        self.due
    }
}
