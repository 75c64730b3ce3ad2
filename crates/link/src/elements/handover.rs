use super::Context;
use crate::parameter::{Duration, Flag};
use crate::random::Stream;
use crate::{Direction, Element, Out, Reason, parameter};
use parameters::{Fault, fault, parameters};
use wire::{Packet, Time};

parameters! {
    /// Nothing passes while the device changes cells. The times between handovers are exponential, the pauses uniform
    /// between two bounds; both evolve with time, not with packets. Packets that arrive during a pause wait, as if the
    /// old base station forwarded them to the new one (3GPP TS 36.300 §10.1.2.1.2), or are lost. If both directions are
    /// to pause together, give the element a name in `shared`.
    "handover"
    struct Settings {
        /// Mean time from the end of a handover to the next one, at least 100 µs.
        every: Duration,
        /// Shortest pause.
        shortest: Duration,
        /// Longest pause.
        longest: Duration,
        /// Whether packets that arrive during a pause are lost.
        lossy: Flag = Flag(false),
    }
}

pub(super) fn make(settings: Settings, context: &Context) -> Result<Box<dyn Element>, Fault> {
    let Settings { every, shortest, longest, lossy } = settings;
    let every = parameter::step("every", every)?;
    if longest < shortest {
        return Err(fault("longest", "is shorter than `shortest`"));
    }
    let mut handover = Handover {
        stream: context.stream("pauses"),
        every,
        pause: [shortest.nanos(), longest.nanos()],
        lossy: lossy.0,
        begins: context.start,
        ends: context.start,
        waiting: Vec::new(),
    };
    handover.advance();
    Ok(Box::new(handover))
}

struct Handover {
    stream: Stream,
    every: i64,
    /// Shortest and longest.
    pause: [i64; 2],
    lossy: bool,
    /// Of the pause that goes on or comes next.
    begins: Time,
    ends: Time,
    /// In the order in which they came.
    waiting: Vec<(Direction, Box<Packet>)>,
}

impl Handover {
    /// On to the next pause.
    fn advance(&mut self) {
        let [shortest, longest] = self.pause;
        self.begins = self.ends + self.stream.exponential(self.every);
        self.ends = self.begins + shortest + (self.stream.uniform() * (longest - shortest) as f64) as i64;
    }
}

impl Element for Handover {
    fn push(&mut self, now: Time, direction: Direction, packet: Box<Packet>, out: &mut Out) {
        self.wake(now, out);
        while self.ends <= now {
            self.advance();
        }
        if now < self.begins {
            out.send(direction, packet);
        } else if self.lossy {
            out.drop(direction, packet, Reason::Handover);
        } else {
            self.waiting.push((direction, packet));
        }
    }

    fn wake(&mut self, now: Time, out: &mut Out) {
        if self.ends <= now {
            out.sent.append(&mut self.waiting);
        }
    }

    fn deadline(&self) -> Time {
        if self.waiting.is_empty() { Time::MAX } else { self.ends }
    }

    fn take(&mut self, packets: &mut Vec<(Time, Direction, Box<Packet>)>) {
        packets.extend(self.waiting.drain(..).map(|(direction, packet)| (self.ends, direction, packet)));
    }
}
