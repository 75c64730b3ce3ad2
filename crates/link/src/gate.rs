use crate::{Change, Direction, Element, Out, Reason, Unsupported};
use wire::{Packet, Time};

/// A path's gate, which the timeline closes and opens: packets pass, vanish or wait.
#[derive(Debug, Default)]
pub struct Gate {
    /// The interface is gone.
    detached: bool,
    radio: Radio,
    /// In the order in which they came.
    waiting: Vec<(Direction, Box<Packet>)>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Radio {
    #[default]
    There,
    Gone,
    Held,
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
    }
}

impl Element for Gate {
    #[inline]
    fn push(&mut self, _now: Time, direction: Direction, packet: Box<Packet>, out: &mut Out) {
        match self.radio {
            _ if self.detached => out.drop(direction, packet, Reason::Detached),
            Radio::There => out.send(direction, packet),
            Radio::Gone => out.drop(direction, packet, Reason::Blackout),
            Radio::Held => self.waiting.push((direction, packet)),
        }
    }

    /// What waits at a hold vanishes in a blackout or when the interface goes.
    fn change(&mut self, _now: Time, change: Change, out: &mut Out) -> Result<(), Unsupported> {
        match change {
            Change::Blackout => {
                self.radio = Radio::Gone;
                self.vanish(Reason::Blackout, out);
            }
            Change::Hold => self.radio = Radio::Held,
            Change::Restore => {
                self.radio = Radio::There;
                out.sent.append(&mut self.waiting);
            }
            Change::Detach => {
                self.detached = true;
                self.vanish(Reason::Detached, out);
            }
            Change::Attach => self.detached = false,
            change => return Err(Unsupported(change)),
        }
        Ok(())
    }

    fn take(&mut self, packets: &mut Vec<(Time, Direction, Box<Packet>)>) {
        packets.extend(self.waiting.drain(..).map(|(direction, packet)| (Time::MAX, direction, packet)));
    }
}
