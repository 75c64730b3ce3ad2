//! What uses connections: state machines, one file each.
//!
//! An application serves one connection, at either end. It is told what happens on it ([`Application::on`]) and when
//! its time has come ([`Application::wake`]), and acts on its [`Stream`].

mod bulk;
mod constant;
mod idle;
mod requester;
mod responder;
mod sink;
mod video;

pub use bulk::Bulk;
pub use constant::Constant;
pub use idle::Idle;
pub use requester::Requester;
pub use responder::Responder;
pub use sink::Sink;
pub use video::{Ladder, Media, Player};

use transport::{ConnectionId, Endpoint, Event, Outcome};
use wire::Time;

/// An application at one end of a connection.
pub trait Application: Send {
    /// Something happened on the connection.
    fn on(&mut self, now: Time, event: Event, stream: &mut Stream);

    /// Its deadline has come.
    fn wake(&mut self, now: Time, stream: &mut Stream) {
        let _ = (now, stream);
    }

    /// Whether a small rest may wait for more to be written, as Nagle has it (RFC 9293 §3.7.4).
    fn gathers(&self) -> bool {
        false
    }

    /// When it wants to be woken; [`Time::MAX`] for never.
    fn deadline(&self) -> Time {
        Time::MAX
    }
}

/// What an application needs of a connection's end; [`Endpoint`] has it.
pub trait Transport {
    /// Writes up to `bytes`; says how many were taken.
    fn write(&mut self, connection: ConnectionId, bytes: u64) -> u64;
    /// Reads up to `bytes`; says how many there were.
    fn read(&mut self, now: Time, connection: ConnectionId, bytes: u64) -> u64;
    /// Nothing more is written.
    fn finish(&mut self, now: Time, connection: ConnectionId);
    /// Gives the connection up at once.
    fn abort(&mut self, now: Time, connection: ConnectionId);
}

impl Transport for Endpoint {
    fn write(&mut self, connection: ConnectionId, bytes: u64) -> u64 {
        Endpoint::write(self, connection, bytes)
    }
    fn read(&mut self, now: Time, connection: ConnectionId, bytes: u64) -> u64 {
        Endpoint::read(self, now, connection, bytes)
    }
    fn finish(&mut self, now: Time, connection: ConnectionId) {
        Endpoint::finish(self, now, connection);
    }
    fn abort(&mut self, now: Time, connection: ConnectionId) {
        Endpoint::abort(self, now, connection);
    }
}

/// How far an end of a connection has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// It was established.
    pub connected: bool,
    /// Bytes written.
    pub written: u64,
    /// Bytes read.
    pub read: u64,
    /// Nothing more is written.
    pub finished: bool,
    /// The peer has acknowledged all that was written, and its end.
    pub delivered: bool,
    /// The peer writes nothing more.
    pub peer_finished: bool,
    /// How it ended.
    pub closed: Option<Outcome>,
}

impl Progress {
    /// Whether nothing is left to do for an application: both directions ended, or the connection did.
    pub fn is_done(&self) -> bool {
        self.closed.is_some() || self.delivered && self.peer_finished
    }

    pub(crate) fn on(&mut self, event: &Event) {
        match *event {
            Event::Connected => self.connected = true,
            Event::Finished => self.peer_finished = true,
            Event::Delivered => self.delivered = true,
            Event::Closed(outcome) => self.closed = Some(outcome),
            Event::Accepted { .. }
            | Event::Spent { .. }
            | Event::Probe { .. }
            | Event::Decided { .. }
            | Event::Readable
            | Event::Writable => {}
        }
    }
}

/// A connection's end as its application has it.
pub struct Stream<'a> {
    pub(crate) now: Time,
    pub(crate) connection: ConnectionId,
    pub(crate) transport: &'a mut dyn Transport,
    pub(crate) progress: &'a mut Progress,
}

impl Stream<'_> {
    /// Writes up to `bytes`; says how many were taken. [`Event::Writable`] follows when they were fewer.
    pub fn write(&mut self, bytes: u64) -> u64 {
        let taken = self.transport.write(self.connection, bytes);
        self.progress.written += taken;
        taken
    }

    /// Reads all there is; says how many bytes.
    pub fn read(&mut self) -> u64 {
        let read = self.transport.read(self.now, self.connection, u64::MAX);
        self.progress.read += read;
        read
    }

    /// Nothing more is written. Said again, it means nothing.
    pub fn finish(&mut self) {
        if !self.progress.finished {
            self.progress.finished = true;
            self.transport.finish(self.now, self.connection);
        }
    }

    /// Gives the connection up at once.
    pub fn abort(&mut self) {
        self.transport.abort(self.now, self.connection);
    }

    /// How far it has come.
    pub fn progress(&self) -> &Progress {
        self.progress
    }
}

/// What an application writes as fast as the connection takes it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Backlog {
    bytes: u64,
}

impl Backlog {
    pub fn add(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    /// Writes what the connection takes; whether nothing is left.
    pub fn flush(&mut self, stream: &mut Stream) -> bool {
        if self.bytes > 0 {
            self.bytes -= stream.write(self.bytes);
        }
        self.bytes == 0
    }
}

#[cfg(test)]
mod tests;
