//! What a subflow waits for.

use super::state::{Phase, Subflow};
use crate::recovery::tlp::Tlp;
use crate::recovery::wheel;
use wire::Time;

/// A time each; [`Time::MAX`]: not running. Of the first three one runs at a time, as in Linux (icsk_pending): where another
/// ends, or makes room, what is left of the time-out follows.
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
        let quiet = self.persist.min(self.keep_alive).min(self.linger);
        self.first_of_repair().min(quiet).min(self.ack).min(self.pace)
    }

    /// When the one ends that waits for an ACK.
    #[inline]
    pub(super) fn first_of_repair(&self) -> Time {
        self.retransmit.min(self.tail).min(self.reorder)
    }
}

impl Subflow {
    /// When a timer ends that runs for `wait_ns`.
    pub(super) fn after(&self, now: Time, wait_ns: i64) -> Time {
        if self.settings.timer_wheel { wheel::expiry(now, wait_ns) } else { now + wait_ns }
    }

    /// Nothing is waited for.
    pub(super) fn disarm(&mut self) {
        (self.timers.retransmit, self.timers.tail, self.timers.reorder) = (Time::MAX, Time::MAX, Time::MAX);
    }

    /// The retransmission time-out starts.
    pub(super) fn arm_retransmit(&mut self, now: Time) {
        self.disarm();
        self.timers.retransmit = self.after(now, self.rto.timeout_ns());
    }

    /// What is left of it starts: of the first segment, since it was sent last (tcp_rto_delta_us).
    pub(super) fn arm_rest(&mut self, now: Time) {
        self.disarm();
        self.timers.retransmit = self.after(now, self.rest_ns(now).max(1));
    }

    fn rest_ns(&self, now: Time) -> i64 {
        let sent = self.flight.first().map_or(now, |record| record.last_sent);
        self.rto.timeout_ns() - (now - sent)
    }

    /// An ACK said something: a tail loss probe is next, or the time-out, all of it if nothing else was waited for
    /// (tcp_set_xmit_timer, tcp_rearm_rto).
    pub(super) fn restart(&mut self, now: Time) {
        if self.may_probe() {
            self.arm_tail(now, self.rto.timeout_ns());
        } else if self.timers.retransmit == Time::MAX {
            self.arm_rest(now);
        } else {
            self.arm_retransmit(now);
        }
    }

    /// A segment was sent for the first time, the only one in flight if `first` (tcp_event_new_data_sent).
    pub(super) fn sent_new(&mut self, now: Time, first: bool) {
        if self.may_probe() {
            self.arm_tail(now, self.rest_ns(now));
        } else if first {
            self.arm_retransmit(now);
        } else if self.timers.tail < Time::MAX {
            self.arm_rest(now);
        }
    }

    /// Whether a tail loss probe may come: no losses are suspected (TCP_CA_Open).
    fn may_probe(&self) -> bool {
        let wanted = self.settings.tail_loss_probe && self.sack;
        wanted && self.phase == Phase::Open && self.flight.sacked() == 0
    }

    /// A probe is waited for (RFC 8985 §7.2), no longer than `most_ns` (tcp_schedule_loss_probe).
    fn arm_tail(&mut self, now: Time, most_ns: i64) {
        let wait_ns = Tlp::timeout_ns(self.srtt_ns(), self.flight.len());
        self.disarm();
        self.timers.tail = self.after(now, if most_ns > 0 { wait_ns.min(most_ns) } else { wait_ns });
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
