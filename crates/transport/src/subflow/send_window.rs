//! The peer's window as TCP keeps it: snd_wnd.

use super::state::Subflow;
use wire::Tcp;

/// What the peer takes beyond what it acknowledged, and which segment said so.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendWindow {
    bytes: u64,
    /// Offset of the segment (SND.WL1).
    segment: i64,
    /// The peer takes bytes below this offset, where its window is of the subflow's own bytes.
    edge: u64,
}

impl SendWindow {
    /// Before the peer said anything.
    pub(super) const UNKNOWN: SendWindow = SendWindow { bytes: 0, segment: 0, edge: u64::MAX };

    /// A segment at offset `start` says `bytes`; `advances`: it acknowledges more than those before it, or has data. Of two
    /// that say nothing else new the wider window counts (net/ipv4/tcp_input.c, tcp_may_update_window). To Linux the first
    /// data after a handshake are not new: there it would go beyond the window that a peer announced.
    pub(super) fn update(&mut self, start: i64, advances: bool, bytes: u64) {
        if advances || self.takes(start, bytes) {
            (self.bytes, self.segment) = (bytes, start);
        }
    }

    /// Whether it follows a segment at offset `start` that says `bytes` and nothing else new.
    pub(super) fn takes(&self, start: i64, bytes: u64) -> bool {
        let wider = bytes > self.bytes || bytes == 0;
        start > self.segment || start == self.segment && wider
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes from `offset` on that it lets be sent, where it is of the subflow's own bytes.
    #[inline]
    pub(super) fn room_bytes(&self, offset: u64) -> u64 {
        self.edge.saturating_sub(offset)
    }
}

impl Subflow {
    /// Whether a segment that says nothing else new changes the window (FLAG_WIN_UPDATE), and is no duplicate therefore: what is
    /// narrower than another of the same offset does not.
    pub(super) fn changes_window(&self, tcp: &Tcp) -> bool {
        let SendWindow { bytes, segment, .. } = self.send_window;
        let advertised = self.scaling.advertised_bytes(tcp.window);
        advertised > bytes || advertised == 0 || advertised < bytes && self.inbound.offset(tcp.seq) > segment
    }

    /// The peer's window, of this subflow's bytes, ends at `offset`: it never goes back.
    pub fn allow(&mut self, offset: u64) {
        let edge = &mut self.send_window.edge;
        *edge = if *edge == u64::MAX { offset } else { offset.max(*edge) };
    }

    /// The peer's window is not of this subflow's bytes any more.
    pub fn allow_all(&mut self) {
        self.send_window.edge = u64::MAX;
    }

    /// It was given data from whose first byte on the peer takes `bytes` in all, whichever subflow it was announced on
    /// (net/mptcp/protocol.c, mptcp_check_allowed_size).
    pub fn share_window(&mut self, bytes: u64) {
        self.send_window.bytes = self.send_window.bytes.max(bytes);
    }
}
