//! The scale of windows (RFC 7323 §2).

/// §2.3.
const MOST: u8 = 14;

/// By how many bits the windows of both ends are shifted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scaling {
    /// What this end offers.
    offered: u8,
    /// Whether both offered it; otherwise windows are as they are announced.
    is_used: bool,
    own: u8,
    peer: u8,
}

impl Scaling {
    /// That of an end whose window becomes as wide as that, not agreed on yet.
    pub(super) fn new(widest_bytes: u64) -> Scaling {
        let offered = (0..MOST).find(|&shift| u64::from(u16::MAX) << shift >= widest_bytes).unwrap_or(MOST);
        Scaling { offered, is_used: false, own: 0, peer: 0 }
    }

    /// The SYNs agree to shift windows, if the peer's offers it.
    pub(super) fn agree(&mut self, peer: Option<u8>) {
        self.is_used = peer.is_some();
        (self.own, self.peer) = peer.map_or((0, 0), |peer| (self.offered, peer.min(MOST)));
    }

    /// What this end offers.
    pub(super) fn offered(&self) -> u8 {
        self.offered
    }

    /// Whether both offered it.
    pub(super) fn is_used(&self) -> bool {
        self.is_used
    }

    /// By how many bits this end's windows are shifted.
    #[inline]
    pub(super) fn own_shift(&self) -> u8 {
        self.own
    }

    /// Bytes of a window that the peer tells; not in a SYN.
    #[inline]
    pub(super) fn advertised_bytes(&self, window: u16) -> u64 {
        u64::from(window) << self.peer
    }
}
