//! The peer's window as TCP keeps it: snd_wnd.

use super::state::Subflow;
use wire::Tcp;

/// What the peer takes beyond what it acknowledged, and which segment said so.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SendWindow {
    pub(super) bytes: u64,
    /// Offset of the segment (SND.WL1).
    segment: i64,
}

impl SendWindow {
    /// A segment at offset `start` says `bytes`; `advances`: it acknowledges more than those before it, or has data. Of two
    /// that say nothing else new the wider window counts (net/ipv4/tcp_input.c, tcp_may_update_window). To Linux the first
    /// data after a handshake are not new: there it would go beyond the window of a peer that has told it.
    pub(super) fn update(&mut self, start: i64, advances: bool, bytes: u64) {
        if advances || self.takes(start, bytes) {
            *self = SendWindow { bytes, segment: start };
        }
    }

    /// Whether it follows a segment at offset `start` that says `bytes` and nothing else new.
    pub(super) fn takes(&self, start: i64, bytes: u64) -> bool {
        let wider = bytes > self.bytes || bytes == 0;
        start > self.segment || start == self.segment && wider
    }
}

impl Subflow {
    /// Whether a segment that says nothing else new changes the window (FLAG_WIN_UPDATE), and is no duplicate therefore: what is
    /// narrower than another of the same place does not.
    pub(super) fn changes_window(&self, tcp: &Tcp) -> bool {
        let SendWindow { bytes, segment } = self.send_window;
        let advertised = self.scaling.advertised_bytes(tcp.window);
        advertised > bytes || advertised == 0 || advertised < bytes && self.inbound.offset(tcp.seq) > segment
    }

    /// It was given data from whose first byte on the peer takes `bytes` in all, whichever subflow was told so
    /// (net/mptcp/protocol.c, mptcp_check_allowed_size).
    pub fn share_window(&mut self, bytes: u64) {
        self.send_window.bytes = self.send_window.bytes.max(bytes);
    }
}
