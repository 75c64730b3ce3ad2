//! A timer expired.

use super::phase::Phase;
use super::state::{Due, State, Subflow};
use super::timers::{Repair, expired};
use super::{Control, Expired};
use crate::recovery::prr::Progress;
use wire::Time;

/// Retransmission time-outs in a row, without an acknowledgement of anything new.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timeouts {
    count: u32,
    first: Time,
}

impl Timeouts {
    pub(super) fn none(now: Time) -> Timeouts {
        Timeouts { count: 0, first: now }
    }

    #[inline]
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Something new was acknowledged.
    #[inline]
    pub(super) fn end(&mut self) {
        self.count = 0;
    }

    fn add(&mut self, now: Time) {
        if self.count == 0 {
            self.first = now;
        }
        self.count += 1;
    }
}

/// Probes of a peer that is silent, or whose window is closed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Probes {
    /// Since the peer was last heard.
    unanswered: u32,
    /// How often the wait for the next probe of a closed window was doubled.
    doublings: u32,
}

impl Probes {
    #[inline]
    pub(super) fn answered(&mut self) {
        self.unanswered = 0;
    }

    /// The window is not closed any more.
    #[inline]
    pub(super) fn window_opened(&mut self) {
        self.doublings = 0;
    }
}

impl Subflow {
    /// The deadline has come. Call again until it says nothing, then poll.
    pub fn timeout(&mut self, now: Time, control: &mut Control) -> Option<Expired> {
        expired(&mut self.timers.pace, now);
        if self.timers.take_linger(now) {
            self.shut();
            return Some(Expired::Closed);
        }
        if expired(&mut self.timers.ack, now) {
            if let Some(timeout) = &mut self.inbound.timeout {
                timeout.ended(now, self.rto.timeout_ns());
            }
            self.due.set(Due::ACK);
        }
        if self.timers.take_repair(Repair::Reorder, now) {
            self.reordering_is_over(now, control);
        }
        if self.timers.take_repair(Repair::Tail, now) {
            // One at a time (RFC 8985 §7.3; tcp_send_loss_probe).
            if self.tlp.is_free() {
                self.due.set(Due::TAIL);
            }
            self.arm_rest(now);
        }
        if self.timers.take_repair(Repair::Retransmit, now) {
            return Some(self.retransmission_timeout(now, control));
        }
        if self.timers.take_persist(now) && !self.probe_window(now) {
            return Some(self.give_up(control));
        }
        if self.timers.take_keep_alive(now) && !self.probe_peer(now) {
            return Some(self.give_up(control));
        }
        None
    }

    fn give_up(&mut self, control: &mut Control) -> Expired {
        self.shut();
        self.mirror(control);
        Expired::GivenUp
    }

    fn retransmission_timeout(&mut self, now: Time, control: &mut Control) -> Expired {
        let opening = matches!(self.state, State::SynSent | State::SynReceived);
        if self.has_waited_enough(now, opening) {
            return self.give_up(control);
        }
        if opening {
            self.due.set(Due::SYN);
        } else {
            self.lose_all(now, control);
        }
        self.timeouts.add(now);
        self.rto.back_off();
        self.arm_retransmit(now);
        Expired::Timeout(self.timeouts.count)
    }

    /// Whether nobody will answer any more (RFC 9293 §3.8.3, R2).
    fn has_waited_enough(&self, now: Time, opening: bool) -> bool {
        let most = if opening { self.settings.syn_retries } else { self.settings.retries };
        let long = || now - self.timeouts.first >= self.rto.patience_ns(most);
        self.timeouts.count >= most && (self.settings.max_backoff.is_none() || long())
    }

    /// RFC 8985 §6.2 step 5: what was given time to arrive did not.
    fn reordering_is_over(&mut self, now: Time, control: &mut Control) {
        let lost_before = self.flight.lost_ever();
        self.judge(now);
        if self.recovery.phase() != Phase::Recovery && self.flight.lost_ever() > lost_before {
            self.enter_recovery(now, control);
            self.reduce(&Progress { delivered: 1, nothing_lost: false, advanced: false }, control);
        }
        self.arm_rest(now);
    }

    /// RFC 9293 §3.8.6.1: another zero-window probe, the next one later. Not when the peer is silent for too long.
    fn probe_window(&mut self, now: Time) -> bool {
        if self.probes.unanswered >= self.settings.retries {
            return false;
        }
        self.probes.unanswered += 1;
        self.probes.doublings += 1;
        let wait_ns = self.rto.timeout_ns().saturating_mul(1 << self.probes.doublings.min(30));
        self.timers.set_persist(self.ticks.after(now, wait_ns.min(self.settings.max_timeout_ns)));
        self.due.set(Due::PROBE);
        true
    }

    /// RFC 9293 §3.8.4: a keep-alive when nothing was heard for long.
    fn probe_peer(&mut self, now: Time) -> bool {
        let Some(idle_ns) = self.settings.keep_alive_idle_ns else { return true };
        let silent_ns = now - self.last_heard;
        if !self.all_acknowledged() || self.timers.persist() != Time::MAX {
            self.timers.set_keep_alive(now + idle_ns);
        } else if silent_ns < idle_ns {
            self.timers.set_keep_alive(self.last_heard + idle_ns);
            self.probes.answered();
        } else if self.probes.unanswered >= self.settings.keep_alive_probes {
            return false;
        } else {
            self.probes.unanswered += 1;
            self.timers.set_keep_alive(now + self.settings.keep_alive_interval_ns);
            self.due.set(Due::PROBE);
        }
        true
    }
}
