//! How much an application may write ahead.

use super::{Connection, Entry, Mode};

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
            let tcp = &self.entries[self.plain].tcp;
            return self.send.set_buffer(tcp.send_buffer_bytes().saturating_sub(tcp.send_overhead_bytes()));
        }
        if self.is_memory_new() {
            for entry in &mut self.entries {
                entry.counted_bytes = if entry.closed.is_none() { entry.tcp.send_buffer_bytes() } else { 0 };
            }
            let bytes = self.entries.iter().map(|entry| entry.counted_bytes).sum::<u64>();
            self.send.set_buffer(LEAST_BYTES + bytes);
        }
    }

    /// Whether the buffer of a subflow that counts is another than when it was counted. One that joined counts from when
    /// another does so (net/mptcp/protocol.h, __mptcp_propagate_sndbuf, __mptcp_sync_sndbuf): at the end that accepts it,
    /// its buffer gets its size later than it becomes part of the connection.
    fn is_memory_new(&self) -> bool {
        let counts = |entry: &&Entry| entry.counted_bytes > 0;
        let changed = |entry: &Entry| entry.closed.is_some() || entry.counted_bytes != entry.tcp.send_buffer_bytes();
        let mut counted = self.entries.iter().filter(counts).peekable();
        counted.peek().is_none() || counted.any(changed)
    }

    /// All that could be sent was: who waits for room may get more where windows are not full (tcp_check_space).
    pub(super) fn expand_memory(&mut self) {
        if self.send.is_wanting() {
            for (entry, window) in self.entries.iter_mut().zip(&self.windows) {
                if entry.carries_data() {
                    entry.tcp.expand_send_buffer(window);
                }
            }
        }
    }
}
