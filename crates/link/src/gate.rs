use crate::{Change, Direction, Element, Out, Reason, Unsupported};
use wire::{Packet, Time};

/// A path's gate, which the timeline closes and opens: packets pass, vanish or wait.
#[derive(Debug, Default)]
pub struct Gate {
    closed: Option<Closed>,
    /// In the order in which they came.
    waiting: Vec<(Direction, Box<Packet>)>,
}

#[derive(Clone, Copy, Debug)]
enum Closed {
    Vanish(Reason),
    Hold,
}

impl Gate {
    /// An open gate.
    pub fn new() -> Gate {
        Gate::default()
    }

    fn vanish(&mut self, reason: Reason, out: &mut Out) {
        for (direction, packet) in self.waiting.drain(..) {
            out.drop(direction, packet, reason);
        }
        self.closed = Some(Closed::Vanish(reason));
    }
}

impl Element for Gate {
    #[inline]
    fn push(&mut self, _now: Time, direction: Direction, packet: Box<Packet>, out: &mut Out) {
        match self.closed {
            None => out.send(direction, packet),
            Some(Closed::Vanish(reason)) => out.drop(direction, packet, reason),
            Some(Closed::Hold) => self.waiting.push((direction, packet)),
        }
    }

    /// What waits at a hold vanishes in a blackout or when the interface goes.
    fn change(&mut self, _now: Time, change: Change, out: &mut Out) -> Result<(), Unsupported> {
        match change {
            Change::Blackout => self.vanish(Reason::Blackout, out),
            Change::Detach => self.vanish(Reason::Detached, out),
            Change::Hold => self.closed = Some(Closed::Hold),
            Change::Restore => {
                self.closed = None;
                out.sent.append(&mut self.waiting);
            }
            change => return Err(Unsupported(change)),
        }
        Ok(())
    }

    fn take(&mut self, packets: &mut Vec<(Time, Direction, Box<Packet>)>) {
        packets.extend(self.waiting.drain(..).map(|(direction, packet)| (Time::MAX, direction, packet)));
    }
}
