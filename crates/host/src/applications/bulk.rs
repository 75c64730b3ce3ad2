use super::{Application, Backlog, Stream};
use transport::Event;
use wire::Time;

/// Writes as fast as the connection takes it: so many bytes, or for so long.
#[derive(Clone, Debug)]
pub struct Bulk {
    amount: Amount,
    backlog: Backlog,
    stop: Time,
}

#[derive(Clone, Copy, Debug)]
enum Amount {
    Bytes(u64),
    Nanos(i64),
}

impl Bulk {
    /// Writes `bytes`.
    pub fn of_size(bytes: u64) -> Bulk {
        Bulk { amount: Amount::Bytes(bytes), backlog: Backlog::default(), stop: Time::MAX }
    }

    /// Writes until `duration_ns` after the connection was established; [`i64::MAX`] means for ever.
    pub fn for_time(duration_ns: i64) -> Bulk {
        Bulk { amount: Amount::Nanos(duration_ns), backlog: Backlog::default(), stop: Time::MAX }
    }

    fn fill(&mut self, stream: &mut Stream) {
        match self.amount {
            Amount::Bytes(_) => {
                if self.backlog.flush(stream) {
                    stream.finish();
                }
            }
            Amount::Nanos(_) => {
                if !stream.progress().finished {
                    stream.write(u64::MAX);
                }
            }
        }
    }
}

impl Application for Bulk {
    fn on(&mut self, now: Time, event: Event, stream: &mut Stream) {
        match event {
            Event::Connected => {
                match self.amount {
                    Amount::Bytes(bytes) => self.backlog.add(bytes),
                    Amount::Nanos(nanos) => self.stop = now + nanos,
                }
                self.fill(stream);
            }
            Event::Writable => self.fill(stream),
            Event::Readable | Event::Finished => {
                stream.read();
            }
            Event::Closed(_) => self.stop = Time::MAX,
            Event::Accepted { .. }
            | Event::Spent { .. }
            | Event::Probe { .. }
            | Event::Decided { .. }
            | Event::Delivered => {}
        }
    }

    fn wake(&mut self, now: Time, stream: &mut Stream) {
        if now >= self.stop {
            self.stop = Time::MAX;
            stream.finish();
        }
    }

    fn gathers(&self) -> bool {
        true
    }

    fn deadline(&self) -> Time {
        self.stop
    }
}
