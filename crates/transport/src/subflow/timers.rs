//! What a subflow waits for.

use super::state::Subflow;
use crate::recovery::tlp::Tlp;
use crate::recovery::wheel::Ticks;
use wire::Time;

/// A time each; [`Time::MAX`]: not running.
///
/// Of the three that wait for an ACK one runs at a time, as in Linux (icsk_pending): where another ends, or makes room, what is
/// left of the time-out follows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timers {
    /// The one that waits for an ACK, which it is, and when it was to end.
    repair: Time,
    awaits: Repair,
    asked: Time,
    /// Delayed ACK.
    pub(super) ack: Time,
    /// Pacing lets the next segment go.
    pub(super) pace: Time,
    /// The first of the others, which seldom run.
    quiet: Time,
    persist: Time,
    keep_alive: Time,
    linger: Time,
}

/// What follows when no ACK comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repair {
    /// Retransmission (RFC 6298), of SYNs too.
    Retransmit,
    /// Tail loss probe (RFC 8985 §7).
    Tail,
    /// Losses that reordering delayed the verdict on (RFC 8985 §6.2 step 5).
    Reorder,
}

impl Timers {
    pub(super) const NONE: Timers = Timers {
        repair: Time::MAX,
        awaits: Repair::Retransmit,
        asked: Time::MAX,
        ack: Time::MAX,
        pace: Time::MAX,
        quiet: Time::MAX,
        persist: Time::MAX,
        keep_alive: Time::MAX,
        linger: Time::MAX,
    };

    /// The first of them.
    #[inline]
    pub(super) fn first(&self) -> Time {
        self.repair.min(self.ack).min(self.pace).min(self.quiet)
    }

    /// When the one was to end that waits for an ACK.
    #[inline]
    pub(super) fn asked(&self) -> Time {
        if self.repair == Time::MAX { Time::MAX } else { self.asked }
    }

    /// Whether this is the one that waits for an ACK.
    #[inline]
    pub(super) fn awaits(&self, what: Repair) -> bool {
        self.repair < Time::MAX && self.awaits == what
    }

    /// This one waits for an ACK for `wait_ns`, and no other.
    #[inline]
    pub(super) fn await_ack(&mut self, what: Repair, ticks: Ticks, now: Time, wait_ns: i64) {
        ((self.repair, self.asked), self.awaits) = (ticks.ends(now, wait_ns), what);
    }

    /// The time-out follows instead, when the one that waits for an ACK is to end.
    pub(super) fn await_retransmission(&mut self) {
        self.awaits = Repair::Retransmit;
    }

    /// None waits for an ACK.
    #[inline]
    pub(super) fn disarm(&mut self) {
        self.repair = Time::MAX;
    }

    /// Whether the one that waits for an ACK is this and has come; then it stops.
    pub(super) fn take_repair(&mut self, what: Repair, now: Time) -> bool {
        self.awaits == what && expired(&mut self.repair, now)
    }

    /// Zero-window probe (RFC 9293 §3.8.6.1).
    pub(super) fn persist(&self) -> Time {
        self.persist
    }

    /// TIME-WAIT, or waiting for a FIN.
    pub(super) fn linger(&self) -> Time {
        self.linger
    }

    #[inline]
    pub(super) fn set_persist(&mut self, at: Time) {
        if self.persist != at {
            self.persist = at;
            self.note_quiet();
        }
    }

    /// Keep-alive (RFC 9293 §3.8.4).
    pub(super) fn set_keep_alive(&mut self, at: Time) {
        self.keep_alive = at;
        self.note_quiet();
    }

    pub(super) fn set_linger(&mut self, at: Time) {
        self.linger = at;
        self.note_quiet();
    }

    pub(super) fn take_persist(&mut self, now: Time) -> bool {
        let taken = expired(&mut self.persist, now);
        self.note_quiet();
        taken
    }

    pub(super) fn take_keep_alive(&mut self, now: Time) -> bool {
        let taken = expired(&mut self.keep_alive, now);
        self.note_quiet();
        taken
    }

    pub(super) fn take_linger(&mut self, now: Time) -> bool {
        let taken = expired(&mut self.linger, now);
        self.note_quiet();
        taken
    }

    #[cold]
    fn note_quiet(&mut self) {
        self.quiet = self.persist.min(self.keep_alive).min(self.linger);
    }
}

impl Subflow {
    /// When timers of its host end.
    pub fn set_ticks(&mut self, ticks: Ticks) {
        self.ticks = ticks;
    }

    /// The retransmission time-out starts.
    pub(super) fn arm_retransmit(&mut self, now: Time) {
        self.timers.await_ack(Repair::Retransmit, self.ticks, now, self.rto.timeout_ns());
    }

    /// What is left of it starts: of the first segment, since it was sent last (tcp_rto_delta_us).
    pub(super) fn arm_rest(&mut self, now: Time) {
        self.timers.await_ack(Repair::Retransmit, self.ticks, now, self.rest_ns(now).max(1));
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
        } else if self.timers.awaits(Repair::Retransmit) {
            self.arm_retransmit(now);
        } else {
            self.arm_rest(now);
        }
    }

    /// A segment was sent for the first time, the only one in flight if `first` (tcp_event_new_data_sent).
    pub(super) fn sent_new(&mut self, now: Time, first: bool) {
        if self.may_probe() {
            self.arm_tail(now, self.rest_ns(now));
        } else if first {
            self.arm_retransmit(now);
        } else if self.timers.awaits(Repair::Tail) {
            self.arm_rest(now);
        }
    }

    /// Whether a tail loss probe may come: no losses are suspected (TCP_CA_Open).
    fn may_probe(&self) -> bool {
        let wanted = self.settings.tail_loss_probe && self.sack;
        wanted && self.recovery.is_open() && self.flight.sacked() == 0
    }

    /// A probe is waited for (RFC 8985 §7.2), no longer than `most_ns` (tcp_schedule_loss_probe).
    #[inline(always)] // every segment with data and every ACK passes here
    fn arm_tail(&mut self, now: Time, most_ns: i64) {
        let wait_ns = Tlp::timeout_ns(self.srtt_ns(), self.flight.len());
        let wait_ns = if most_ns > 0 { wait_ns.min(most_ns) } else { wait_ns };
        self.timers.await_ack(Repair::Tail, self.ticks, now, wait_ns);
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
