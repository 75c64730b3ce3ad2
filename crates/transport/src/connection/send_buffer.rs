//! How much an application may write ahead.

use super::{Connection, Mode};

/// tcp_wmem\[0]: what a connection has besides the buffers of its subflows.
const LEAST_BYTES: u64 = 4096;

impl Connection {
    /// Gives what is written the memory of all subflows (net/mptcp/protocol.h, __mptcp_sync_sndbuf); plain TCP's holds packets
    /// as they are sent.
    pub(super) fn provide_memory(&mut self) {
        for (entry, window) in self.entries.iter_mut().zip(&self.windows) {
            if entry.closed.is_none() && entry.tcp.send_buffer_bytes() == 0 {
                entry.tcp.expand_send_buffer(window);
            }
        }
        let bytes = if self.mode == Mode::Plain {
            let tcp = &self.entries[self.plain].tcp;
            tcp.send_buffer_bytes().saturating_sub(tcp.send_overhead_bytes())
        } else {
            let open = self.entries.iter().filter(|entry| entry.closed.is_none());
            LEAST_BYTES + open.map(|entry| entry.tcp.send_buffer_bytes()).sum::<u64>()
        };
        self.send.set_buffer(bytes);
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
