//! A receive buffer of each subflow: the window is of the subflow's own bytes, as TCP has it, and what waits for data of
//! other subflows takes room in it.

use super::Connection;
use super::held::Held;
use std::ops::Range;
use wire::Time;

/// The receiving side of a subflow's window.
#[derive(Debug)]
pub struct OwnWindow {
    /// Data that arrived by it and may not have been read.
    held: Held,
    /// The peer may send up to this offset of the subflow; never goes back.
    edge: u64,
}

impl OwnWindow {
    /// That begins with `first_bytes`.
    pub fn new(first_bytes: u64) -> OwnWindow {
        OwnWindow { held: Held::default(), edge: 1 + first_bytes }
    }

    /// Data came.
    pub fn hold(&mut self, data: Range<u64>) {
        let bytes = data.end - data.start;
        self.held.hold(data, bytes, 0);
    }

    /// Everything below `offset` was read.
    pub fn let_go(&mut self, offset: u64) {
        self.held.let_go(offset);
    }

    /// The window to tell where `next` is expected, with a buffer of `bytes` and no wider than `grown_bytes`. It opens in
    /// steps (RFC 9293 §3.8.6.2.2).
    pub fn window(&mut self, next: u64, bytes: u64, grown_bytes: u64, mss_bytes: u64) -> u64 {
        let opened = self.opened(next, bytes, grown_bytes);
        if opened >= mss_bytes.min(bytes / 2).max(1) {
            self.edge += opened;
        }
        self.edge.saturating_sub(next)
    }

    /// Whether a reader should tell the peer at once: the window was less than half of what it is now.
    pub fn worth_telling(&self, next: u64, bytes: u64, grown_bytes: u64, mss_bytes: u64) -> bool {
        let (announced, opened) = (self.edge.saturating_sub(next), self.opened(next, bytes, grown_bytes));
        opened >= mss_bytes.min(bytes / 2).max(1) && announced < bytes / 2 && announced <= opened
    }

    fn opened(&self, next: u64, bytes: u64, grown_bytes: u64) -> u64 {
        next.saturating_add(bytes.saturating_sub(self.held.bytes()).min(grown_bytes)).saturating_sub(self.edge)
    }
}

impl Connection {
    /// Whether windows are of subflows.
    pub(super) fn has_own_windows(&self) -> bool {
        self.own_windows && self.is_multipath()
    }

    /// What was read is room for those that brought it, and worth an ACK.
    pub(super) fn let_go(&mut self) {
        let (read, bytes) = (self.receive.read_to(), self.receive.memory().window());
        for entry in self.entries.iter_mut().filter(|entry| !entry.is_over()) {
            let grown_bytes = entry.tcp.window_grown_bytes();
            entry.own_window.let_go(read);
            let mss_bytes = u64::from(entry.tcp.mss_bytes());
            if entry.own_window.worth_telling(entry.tcp.receive_next(), bytes, grown_bytes, mss_bytes) {
                entry.tcp.acknowledge();
            }
        }
    }

    /// Probes the windows that hold a subflow with nothing in flight.
    pub(super) fn probe_own_windows(&mut self, now: Time) {
        let waiting = self.send.has_news();
        for entry in self.entries.iter_mut().filter(|entry| entry.carries_data()) {
            let wanted = entry.tcp.is_window_closed() && (waiting || entry.tcp.queued_packets() > 0);
            entry.tcp.probe(now, wanted);
        }
    }
}
