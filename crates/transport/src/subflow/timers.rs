//! What a subflow waits for.

use super::state::Subflow;
use crate::recovery::wheel;
use wire::Time;

/// A time each; [`Time::MAX`]: not running.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timers {
    /// Retransmission (RFC 6298), of SYNs too.
    pub(super) retransmit: Time,
    /// Tail loss probe (RFC 8985 §7).
    pub(super) tail: Time,
    /// Reordering (RFC 8985 §6.2 step 5).
    pub(super) reorder: Time,
    /// Delayed ACK.
    pub(super) ack: Time,
    /// Zero-window probe (RFC 9293 §3.8.6.1).
    pub(super) persist: Time,
    /// Keep-alive (RFC 9293 §3.8.4).
    pub(super) keep_alive: Time,
    /// TIME-WAIT, or waiting for a FIN.
    pub(super) linger: Time,
    /// Pacing lets the next segment go.
    pub(super) pace: Time,
}

impl Timers {
    pub(super) const NONE: Timers = Timers {
        retransmit: Time::MAX,
        tail: Time::MAX,
        reorder: Time::MAX,
        ack: Time::MAX,
        persist: Time::MAX,
        keep_alive: Time::MAX,
        linger: Time::MAX,
        pace: Time::MAX,
    };

    /// The first of them.
    #[inline]
    pub(super) fn first(&self) -> Time {
        let repair = self.retransmit.min(self.tail).min(self.reorder);
        let quiet = self.persist.min(self.keep_alive).min(self.linger);
        repair.min(quiet).min(self.ack).min(self.pace)
    }
}

impl Subflow {
    /// When a timer ends that runs for `wait_ns`.
    pub(super) fn after(&self, now: Time, wait_ns: i64) -> Time {
        if self.settings.timer_wheel { wheel::expiry(now, wait_ns) } else { now + wait_ns }
    }
}

/// Whether `timer` has come; then it stops.
pub(super) fn expired(timer: &mut Time, now: Time) -> bool {
    let expired = *timer <= now;
    if expired {
        *timer = Time::MAX;
    }
    expired
}
