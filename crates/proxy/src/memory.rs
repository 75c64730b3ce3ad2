//! What a proxy keeps: the answer that it once passed on whole, for who asks again.

use crate::Object;
use std::collections::BTreeMap;
use transport::ConnectionId;

/// Of a proxy that fetched something, or has not yet.
pub(crate) struct Memory {
    object: Object,
    is_known: bool,
    /// By the client's connection.
    talks: BTreeMap<ConnectionId, Talk>,
    /// Bytes of requests that the server did not hear, and of answers in its place.
    pub answered: [u64; 2],
}

/// What was asked and answered on one connection.
#[derive(Default)]
struct Talk {
    /// Bytes of requests that the server hears, and of its answers.
    passed: u64,
    brought: u64,
    /// Bytes of a request that is not whole yet.
    came: u64,
    /// Bytes of answers that are still to be written.
    owed: u64,
}

impl Memory {
    pub fn new(object: Object) -> Memory {
        Memory { object, is_known: false, talks: BTreeMap::new(), answered: [0, 0] }
    }

    /// Of so many bytes that a client wrote, those that the server is to hear: what it heard the beginning of.
    pub fn to_pass(&self, near: ConnectionId, readable: u64) -> u64 {
        let begun = self.talks.get(&near).map_or(0, |talk| talk.passed % self.object.request_bytes);
        match self.is_known {
            true if begun == 0 => 0,
            true => readable.min(self.object.request_bytes - begun),
            false => readable,
        }
    }

    /// The server hears these.
    pub fn passed(&mut self, near: ConnectionId, bytes: u64) {
        self.talks.entry(near).or_default().passed += bytes;
    }

    /// It answered with these.
    pub fn brought(&mut self, near: ConnectionId, bytes: u64) {
        let talk = self.talks.entry(near).or_default();
        talk.brought += bytes;
        self.is_known |= talk.brought >= self.object.response_bytes;
    }

    /// The client wrote these, and the server does not hear them.
    pub fn asked(&mut self, near: ConnectionId, bytes: u64) {
        let talk = self.talks.entry(near).or_default();
        talk.came += bytes;
        talk.owed += talk.came / self.object.request_bytes * self.object.response_bytes;
        talk.came %= self.object.request_bytes;
        self.answered[0] += bytes;
    }

    /// Bytes of answers that the client is to have.
    pub fn owed(&self, near: ConnectionId) -> u64 {
        self.talks.get(&near).map_or(0, |talk| talk.owed)
    }

    /// It has so many of them.
    pub fn gave(&mut self, near: ConnectionId, bytes: u64) {
        self.talks.entry(near).or_default().owed -= bytes;
        self.answered[1] += bytes;
    }
}
