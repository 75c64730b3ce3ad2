//! When a host sees what came.
//!
//! Network cards hold their interrupts back, some thousand to some ten thousand a second (`InterruptThrottleRate` of
//! Intel's e1000e: 4000 to 20 000), and what has come by then is looked at together. So packets come at times that owe
//! something to chance. Without it flows that share a full queue stay in step, and who loses is decided once and for
//! all: phase effects, which a random processing time ends (Floyd and Jacobson, "On Traffic Phase Effects in
//! Packet-Switched Gateways", 1992, section 3.3).

use link::Stream;
use std::collections::VecDeque;
use transport::Nic;
use wire::{Packet, Time};

/// Packets that a host has not seen yet, in the order in which they came.
pub(crate) struct Inbox {
    stream: Stream,
    most_ns: u64,
    waiting: VecDeque<(Nic, Box<Packet>)>,
    /// When they are looked at.
    at: Time,
}

impl Inbox {
    /// That of the host of this name; it is looked at up to `most_ns` after a packet came.
    pub fn new(seed: u64, name: &str, most_ns: i64) -> Inbox {
        let stream = Stream::new(seed, &format!("host/{name}/inbox"));
        Inbox { stream, most_ns: most_ns.max(0) as u64, waiting: VecDeque::new(), at: Time::MAX }
    }

    /// Whether packets are seen at once.
    #[inline]
    pub fn is_immediate(&self) -> bool {
        self.most_ns == 0
    }

    /// A packet comes; says when it is looked at.
    #[inline]
    pub fn add(&mut self, now: Time, nic: Nic, packet: Box<Packet>) -> Time {
        if self.waiting.is_empty() {
            self.at = now + self.stream.below(self.most_ns) as i64;
        }
        self.waiting.push_back((nic, packet));
        self.at
    }

    /// When the host is to look; [`Time::MAX`] where nothing waits.
    #[inline]
    pub fn deadline(&self) -> Time {
        if self.waiting.is_empty() { Time::MAX } else { self.at }
    }

    /// The next packet that is seen now.
    #[inline]
    pub fn next(&mut self, now: Time) -> Option<(Nic, Box<Packet>)> {
        if self.at <= now { self.waiting.pop_front() } else { None }
    }
}
