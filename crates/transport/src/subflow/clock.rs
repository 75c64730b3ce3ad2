//! The clocks of timestamps (RFC 7323).

use wire::{Time, seq};

/// A tick of ours.
const TICK_NS: i64 = 1_000_000;
/// After so long, the peer's clock may have wrapped (§5.5).
const WRAPS_NS: i64 = 24 * 86_400 * 1_000_000_000;

/// Our clock, and what the peer's showed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// Whether segments carry timestamps.
    is_used: bool,
    /// What ours shows at the epoch: each subflow has a clock of its own (§5.4).
    start: u32,
    /// The latest time that it showed to the peer.
    shown: Time,
    /// What the peer's showed, to be echoed, and when that came.
    peer: u32,
    peer_at: Time,
}

impl Clock {
    /// One that is not used as yet.
    pub(super) fn new(start: u32, now: Time) -> Clock {
        Clock { is_used: false, start, shown: now, peer: 0, peer_at: now }
    }

    /// The SYNs agree to use timestamps, if the peer's has one.
    pub(super) fn agree(&mut self, now: Time, peer: Option<u32>) {
        self.is_used = peer.is_some();
        if let Some(peer) = peer {
            (self.peer, self.peer_at) = (peer, now);
        }
    }

    /// Whether segments carry timestamps.
    #[inline]
    pub(super) fn is_used(&self) -> bool {
        self.is_used
    }

    /// What ours shows.
    #[inline]
    pub(super) fn at(&self, time: Time) -> u32 {
        ((time.as_nanos() / TICK_NS) as u32).wrapping_add(self.start)
    }

    /// Shows the peer this time of ours.
    #[inline]
    pub(super) fn show(&mut self, time: Time) -> u32 {
        self.shown = self.shown.max(time);
        self.at(time)
    }

    /// The latest time that it showed to the peer.
    #[inline]
    pub(super) fn shown(&self) -> Time {
        self.shown
    }

    /// What is to be echoed of the peer's.
    #[inline]
    pub(super) fn echo(&self) -> u32 {
        self.peer
    }

    /// Whether a segment is older than others that came (§5.3, R1).
    #[inline]
    pub(super) fn is_old(&self, now: Time, peer: Option<u32>) -> bool {
        let is_earlier = |peer| self.is_used && seq::diff(peer, self.peer) < 0 && now - self.peer_at < WRAPS_NS;
        peer.is_some_and(is_earlier)
    }

    /// Whether a segment is older than others that came, but by no more than `nanos`.
    pub(super) fn is_late_by(&self, peer: u32, nanos: i64) -> bool {
        i64::from(seq::diff(self.peer, peer)) * TICK_NS <= nanos
    }

    /// A segment came whose timestamp is to be echoed (§4.3 (2)).
    #[inline]
    pub(super) fn hear(&mut self, now: Time, peer: Option<u32>) {
        if let Some(peer) = peer.filter(|_| self.is_used) {
            (self.peer, self.peer_at) = (peer, now);
        }
    }

    /// How long ago ours showed what the peer echoes; nothing if it never did.
    #[inline]
    pub(super) fn since_ns(&self, now: Time, echo: u32) -> Option<i64> {
        let ticks = seq::diff(self.at(now), echo);
        (self.is_used && ticks >= 0).then(|| i64::from(ticks.max(1)) * TICK_NS)
    }

    /// Whether ours showed what the peer echoes before `time`.
    #[inline]
    pub(super) fn is_before(&self, echo: Option<u32>, time: Time) -> bool {
        self.is_used && echo.is_some_and(|echo| seq::diff(echo, self.at(time)) < 0)
    }
}
