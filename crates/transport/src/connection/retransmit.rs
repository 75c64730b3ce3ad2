//! The connection's retransmission timer, as upstream Linux has it (net/mptcp/protocol.c, __mptcp_retrans): while data makes
//! no progress, a subflow with nothing on its way is given the oldest of it, period after period, and subflows that answer
//! nothing are left alone.

use super::Connection;
use crate::config::{self, Reinjection};
use crate::recovery::wheel::Ticks;
use crate::scheduler::FRAGMENT_BYTES;
use wire::Time;

/// TCP_RTO_MIN: a period where no subflow waits for an answer.
const LEAST_PATIENCE_NS: i64 = 200_000_000;

/// What the connection's timer saw of a subflow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// When it was last heard.
    heard: Time,
    /// Periods without an answer (stale_count), and when it had been heard before them (stale_rcv_tstamp).
    periods: u32,
    heard_then: Time,
    stale: bool,
}

impl Progress {
    /// The subflow was heard: it is of use again (mptcp_subflow_active).
    pub fn heard(&mut self, now: Time) {
        (self.heard, self.stale) = (now, false);
    }

    /// A period ended with data on its way (net/mptcp/pm.c, mptcp_pm_subflow_chk_stale). Says whether nothing was heard since
    /// the one before.
    fn period(&mut self) -> bool {
        if self.periods == 0 {
            (self.periods, self.heard_then) = (1, self.heard);
            false
        } else if self.heard_then == self.heard {
            self.periods += 1;
            true
        } else {
            self.periods = 0;
            false
        }
    }
}

/// The connection's timer, and how subflows are judged that do not deliver.
///
/// [`be_patient`](Retransmission::be_patient) comes whenever data waits for a subflow; [`start`](Retransmission::start) when some was given to
/// one, which changes nothing while the timer runs; [`restart`](Retransmission::restart) whenever the peer has more, or a period is over.
pub(super) struct Retransmission {
    by: Reinjection,
    stale_timeouts: u32,
    /// When data will have made no progress for a period.
    deadline: Time,
    /// How long a period is.
    patience_ns: i64,
    /// Bytes that had been written, and given to subflows, when that was last asked.
    asked: Option<(u64, u64)>,
    ticks: Ticks,
}

impl Retransmission {
    /// That waits for nothing.
    pub fn new(settings: &config::Mptcp, ticks: Ticks) -> Retransmission {
        Retransmission {
            by: settings.reinjection,
            stale_timeouts: settings.stale_timeouts,
            deadline: Time::MAX,
            patience_ns: LEAST_PATIENCE_NS,
            asked: None,
            ticks,
        }
    }

    /// Whether the connection's timer says what is given to others; otherwise subflows' time-outs do.
    #[inline]
    pub fn is_by_timer(&self) -> bool {
        self.by == Reinjection::ConnectionTimer
    }

    /// Whether a subflow is to be left alone that timed out so often in a row.
    pub fn is_stale(&self, progress: &Progress, timeouts: u32) -> bool {
        match self.by {
            Reinjection::ConnectionTimer => progress.stale,
            Reinjection::SubflowTimeout => timeouts >= self.stale_timeouts,
        }
    }

    /// When the period is over.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// Nothing is waited for any more.
    pub fn stop(&mut self) {
        self.deadline = Time::MAX;
    }

    /// The next period lasts until an answer would have come `until`, or a while where none is waited for.
    fn be_patient(&mut self, now: Time, until: Time) {
        self.patience_ns = if until > now { until - now } else { LEAST_PATIENCE_NS };
    }

    fn start(&mut self, now: Time) {
        if self.deadline == Time::MAX {
            self.restart(now);
        }
    }

    fn restart(&mut self, now: Time) {
        self.deadline = self.ticks.after(now, self.patience_ns);
    }
}

impl Connection {
    /// Data waits to be given to subflows: the next period is as long as the longest that one of them waits for an answer
    /// (mptcp_timeout_from_subflow). Where the peer's window is full, Linux looks for a subflow only after something was
    /// written or sent (mptcp_sendmsg, __mptcp_push_pending), and not at each acknowledgement (ack_update_msk).
    pub(super) fn be_patient(&mut self, now: Time, is_full: bool) {
        let asked = Some((self.send.written(), self.send.next()));
        if std::mem::replace(&mut self.retransmission.asked, asked) == asked && is_full {
            return;
        }
        let mut last = now;
        for entry in &self.entries {
            if let Some(deadline) = entry.tcp.answer_deadline()
                && deadline > last
                && !entry.progress.stale
                && entry.progress.periods == 0
                && entry.carries_data()
            {
                last = deadline;
            }
        }
        self.retransmission.be_patient(now, last);
    }

    /// Data was given to a subflow.
    pub(super) fn pushed(&mut self, now: Time) {
        if self.is_timed() {
            self.retransmission.start(now);
        }
    }

    /// The peer has more than before (__mptcp_clean_una).
    pub(super) fn progressed(&mut self, now: Time) {
        if self.is_timed() && !self.send.all_acknowledged() {
            self.retransmission.restart(now);
        } else {
            self.retransmission.stop();
        }
    }

    pub(super) fn is_timed(&self) -> bool {
        self.retransmission.is_by_timer() && self.is_multipath()
    }

    /// The period is over, without progress.
    pub(super) fn retransmit(&mut self, now: Time) {
        self.progressed(now);
        // All that waits is tried again then (mptcp_check_and_set_pending).
        self.retransmission.asked = None;
        let idle = self.idle_subflow();
        // Over the only subflow that there ever was nothing is sent twice so soon: its peer may be about to fall back to TCP,
        // to which it would be new.
        if !self.is_timed() || self.fallback.is_one_to_one() || self.send.una() == self.send.next() {
            return;
        }
        let Some(i) = idle else { return };
        let pages = self.send.pages();
        let end = pages + ((self.send.una() - pages) / FRAGMENT_BYTES + 1) * FRAGMENT_BYTES;
        for piece in self.send.first_pieces(end) {
            self.push_again(i, &piece);
        }
    }

    /// A subflow with nothing on its way, a backup only where all that have something are silent for the second period
    /// (mptcp_subflow_get_retrans).
    fn idle_subflow(&mut self) -> Option<usize> {
        let (mut active, mut backup, mut least_periods) = (None, None, u32::MAX);
        for i in 0..self.entries.len() {
            let entry = &self.entries[i];
            if !entry.carries_data() {
                continue;
            }
            if !entry.tcp.all_acknowledged() {
                self.end_period(i);
                least_periods = least_periods.min(self.entries[i].progress.periods);
            } else if entry.backup || entry.peer_backup {
                backup = backup.or(Some(i));
            } else {
                active = active.or(Some(i));
            }
        }
        active.or(backup.filter(|_| least_periods > 1))
    }

    /// Leaves a subflow alone that is silent for too long, where another is not; everything on its way is given to subflows
    /// anew (net/mptcp/pm_kernel.c, mptcp_pm_nl_subflow_chk_stale).
    fn end_period(&mut self, i: usize) {
        let stale_timeouts = self.retransmission.stale_timeouts;
        let progress = &mut self.entries[i].progress;
        if !progress.period() || progress.stale || progress.periods <= stale_timeouts {
            return;
        }
        let most_periods = stale_timeouts.saturating_sub(1).max(1);
        let other_answers = self.entries.iter().enumerate().any(|(other, entry)| {
            other != i && entry.carries_data() && !entry.progress.stale && entry.progress.periods < most_periods
        });
        if other_answers {
            self.entries[i].progress.stale = true;
            self.send.reinject_outstanding(None);
        }
    }
}
