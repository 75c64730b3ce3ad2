//! How much an application may write ahead.

use super::{Connection, Entry, Mode};
use crate::subflow::Emission;
use wire::Time;

/// tcp_wmem\[0]: what a connection has besides the buffers of its subflows.
const LEAST_BYTES: u64 = 4096;

impl Connection {
    /// Gives what is written the memory of its subflows; plain TCP's holds packets as they are sent.
    pub(super) fn provide_memory(&mut self) {
        for (entry, window) in self.entries.iter_mut().zip(&self.windows) {
            if entry.closed.is_none() && entry.tcp.send_buffer_bytes() == 0 {
                entry.tcp.expand_send_buffer(window);
            }
        }
        if self.mode == Mode::Plain {
            let tcp = &self.entries[self.fallback.subflow()].tcp;
            return self.send.set_buffer(tcp.send_buffer_bytes(), tcp.send_overhead_bytes());
        }
        let counts = |entry: &&Entry| entry.counted_bytes > 0;
        let keeps_first = self.retransmission.is_by_timer();
        let changed = |entry: &Entry| entry.counted_bytes != entry.counting_bytes(keeps_first);
        // At the end that accepts it, a subflow that joined gets its size after it became part of the connection: it counts from
        // when the buffer of another changes, or when it sends itself while a writer waits (net/mptcp/protocol.h,
        // __mptcp_propagate_sndbuf, __mptcp_sync_sndbuf; net/mptcp/subflow.c, subflow_write_space).
        let is_wanting = self.send.is_wanting();
        let comes =
            |entry: &Entry| is_wanting && entry.counted_bytes == 0 && entry.closed.is_none() && entry.tcp.has_sent();
        let known = self.entries.iter().any(|entry| counts(&entry));
        if known && !self.entries.iter().any(|entry| counts(&entry) && changed(entry) || comes(entry)) {
            return;
        }
        let first_alone = !known && self.entries.iter().any(|entry| entry.join.is_none() && entry.closed.is_none());
        for entry in &mut self.entries {
            let counts = !(first_alone && entry.join.is_some());
            entry.counted_bytes = if counts { entry.counting_bytes(keeps_first) } else { 0 };
        }
        let bytes = self.entries.iter().map(|entry| entry.counted_bytes).sum::<u64>();
        self.send.set_buffer(LEAST_BYTES + bytes, 0);
    }

    /// Bytes that a writer may add.
    pub(super) fn room_to_write(&self) -> u64 {
        let room = self.send.room();
        if self.mode != Mode::Plain || room == 0 {
            return room;
        }
        let i = self.fallback.subflow();
        let (tcp, window) = (&self.entries[i].tcp, &self.windows[i]);
        let queued = tcp.queued_bytes();
        let (unsent, open) = (queued + self.send.waiting(), queued + self.send.window_from(self.send.next()));
        tcp.room_to_write(window, room, unsent, open, self.send.most_window() / 2)
    }

    /// New data of subflow `i` left: who waits for room may get more where the unit that it is part of does not fill the window
    /// (tcp_event_new_data_sent, tcp_check_space).
    #[inline]
    pub(super) fn left(&mut self, i: usize, emission: &Emission) {
        let entry = &mut self.entries[i];
        let is_new = emission.piece.is_some() && !emission.retransmission;
        if is_new && self.send.is_wanting() && entry.tcp.may_grow_early() {
            entry.tcp.expand_send_buffer(&self.windows[i]);
        }
    }

    /// All that could be sent was: who waits for room may get more where something came and the window is not full
    /// (tcp_data_snd_check, tcp_check_space).
    #[inline]
    pub(super) fn rest(&mut self, now: Time) {
        let waits = self.send.is_wanting();
        for (entry, window) in self.entries.iter_mut().zip(&mut self.windows) {
            entry.tcp.rest(now, waits, window);
            if std::mem::take(&mut entry.heard) && waits && entry.carries_data() {
                entry.tcp.expand_send_buffer(window);
            }
        }
        // Subflows of MPTCP never say so (tcp_rate_check_app_limited).
        if self.by_rate && self.mode == Mode::Plain && !self.send.has_news() {
            for (entry, window) in self.entries.iter_mut().zip(&self.windows) {
                entry.tcp.ran_dry(window);
            }
        }
    }
}
