use super::{Application, Backlog, Stream};
use crate::Ticks;
use transport::Event;
use wire::Time;

/// Writes messages of one size at even times. What the connection does not take at once waits.
#[derive(Clone, Debug)]
pub struct Constant {
    message_bytes: u64,
    rate_bits_per_second: u64,
    duration_ns: i64,
    ticks: Option<Ticks>,
    backlog: Backlog,
}

impl Constant {
    /// A message whenever so many bits are due, for `duration_ns` from when the connection was established.
    pub fn new(rate_bits_per_second: u64, message_bytes: u64, duration_ns: i64) -> Constant {
        Constant { message_bytes, rate_bits_per_second, duration_ns, ticks: None, backlog: Backlog::default() }
    }

    fn write(&mut self, now: Time, stream: &mut Stream) {
        while let Some(ticks) = &mut self.ticks
            && ticks.next() <= now
        {
            ticks.advance();
            self.backlog.add(self.message_bytes);
        }
        let written = self.backlog.flush(stream);
        if written && self.ticks.as_ref().is_some_and(Ticks::is_over) {
            stream.finish();
        }
    }
}

impl Application for Constant {
    fn on(&mut self, now: Time, event: Event, stream: &mut Stream) {
        match event {
            Event::Connected => {
                let ticks = Ticks::new(now, self.message_bytes, self.rate_bits_per_second, now + self.duration_ns);
                self.ticks = Some(ticks);
                self.write(now, stream);
            }
            Event::Writable => self.write(now, stream),
            Event::Readable | Event::Finished => {
                stream.read();
            }
            Event::Closed(_) => self.ticks = None,
            Event::Accepted { .. }
            | Event::Spent { .. }
            | Event::Probe { .. }
            | Event::Decided { .. }
            | Event::Delivered => {}
        }
    }

    fn wake(&mut self, now: Time, stream: &mut Stream) {
        self.write(now, stream);
    }

    fn deadline(&self) -> Time {
        self.ticks.as_ref().map_or(Time::MAX, Ticks::next)
    }
}
