//! What packets meet on their way: rates, delays, losses, queues, outages. One element is one file.
//!
//! An element is a state machine without clock, I/O or ambient chance: time comes in with every call, random numbers
//! from the stream it was made with.

use wire::{Packet, Time};

/// Seen from the client's end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// Client to server.
    Up,
    /// Server to client.
    Down,
}

/// What an element gives back during a call.
#[derive(Debug, Default)]
pub struct Out {
    /// Packets that leave the element now, in order.
    pub sent: Vec<(Direction, Box<Packet>)>,
    /// Packets that end here, and why.
    pub dropped: Vec<(Box<Packet>, Reason)>,
}

/// Why a packet ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// No room in a queue.
    QueueFull,
    /// An active queue management threw it out.
    QueueManaged,
    /// Lost by chance.
    Loss,
    /// The radio was gone.
    Blackout,
    /// The interface was gone.
    Detached,
    /// Nobody has that address.
    Unreachable,
}

/// What a packet meets. Bidirectional: some elements share state between the directions.
pub trait Element: Send {
    /// A packet arrives, travelling in `direction`.
    fn push(&mut self, now: Time, direction: Direction, packet: Box<Packet>, out: &mut Out);

    /// Its deadline has come.
    fn wake(&mut self, now: Time, out: &mut Out);

    /// When it wants to be woken; [`Time::MAX`] for never.
    fn deadline(&self) -> Time;
}
