use super::Context;
use crate::flight::Flight;
use crate::parameter::{DelayTrace, Duration, Flag};
use crate::random::Stream;
use crate::recorded::Recorded;
use crate::{Direction, Element, Out, Reason};
use parameters::{Fault, parameters};
use wire::{Packet, Time};

parameters! {
    /// A recorded delay and loss, as from a series of pings. Each row of the trace holds until the next one. A packet
    /// is lost at random with the loss rate of the row in which it arrives. The trace depends on time alone.
    "delay-trace"
    struct Settings {
        /// Rows of milliseconds from the start, and the delay in milliseconds and the loss in percent from then on. The
        /// first row is at 0.
        trace: DelayTrace,
        /// Time after which the trace repeats, at least 100 µs. If left out, its last row holds for ever.
        period: Option<Duration> = None,
        /// Whether packets may overtake each other. If not, each packet leaves no earlier than the one before it.
        reorder: Flag = Flag(false),
    }
}

pub(super) fn make(settings: Settings, context: &Context) -> Result<Box<dyn Element>, Fault> {
    let trace = Recorded::new(settings.trace.delays(), settings.period, context.start)?;
    Ok(Box::new(Delays {
        least_ns: trace.spans().map(|(_, row)| row.0).min().unwrap_or(0),
        trace,
        reorder: settings.reorder.0,
        streams: context.streams(),
        last: [Time::from_nanos(i64::MIN); 2],
        flying: Flight::default(),
    }))
}

struct Delays {
    /// Nanoseconds, and the part that is lost.
    trace: Recorded<(i64, f64)>,
    least_ns: i64,
    reorder: bool,
    streams: [Stream; 2],
    /// When the last packet of a direction arrives.
    last: [Time; 2],
    flying: Flight<(Direction, Box<Packet>)>,
}

impl Element for Delays {
    fn push(&mut self, now: Time, direction: Direction, packet: Box<Packet>, out: &mut Out) {
        self.wake(now, out);
        while self.trace.until() <= now {
            self.trace.advance();
        }
        let &(delay, loss) = self.trace.value();
        // Drawn in any case: what is lost later does not depend on what the trace was before.
        if self.streams[direction as usize].chance(loss) {
            out.drop(direction, packet, Reason::Loss);
            return;
        }
        let mut arrives = now + delay;
        if !self.reorder {
            arrives = arrives.max(self.last[direction as usize]);
        }
        self.last[direction as usize] = arrives;
        self.flying.add(arrives, (direction, packet));
    }

    fn wake(&mut self, now: Time, out: &mut Out) {
        while let Some((direction, packet)) = self.flying.next(now) {
            out.send(direction, packet);
        }
    }

    fn deadline(&self) -> Time {
        self.flying.deadline()
    }

    fn least_ns(&self) -> i64 {
        self.least_ns
    }

    fn take(&mut self, packets: &mut Vec<(Time, Direction, Box<Packet>)>) {
        packets.extend(self.flying.drain().map(|(at, (direction, packet))| (at, direction, packet)));
    }
}
