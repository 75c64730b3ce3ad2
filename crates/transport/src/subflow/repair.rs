//! Finding losses, and going in and out of recovery.

use super::Control;
use super::ack::News;
use super::phase::Phase;
use super::state::{Due, Subflow};
use super::timers::Repair;
use crate::congestion::Cause;
use crate::recovery::prr::Progress;
use crate::recovery::rack::{self, Circumstances};
use wire::Time;

impl Subflow {
    /// Marks what is lost by selective ACKs: by time, or by how many there are. Whether a copy is.
    pub(super) fn detect(&mut self, now: Time, news: &mut News) -> bool {
        if !self.sack {
            return false;
        }
        let copies = self.flight.copies();
        if !self.settings.rack {
            self.flight.lose_below_sacked(self.mss_bytes());
        } else if self.rack.take_advanced()
            && let Some(wait_ns) = self.judge(now)
        {
            self.timers.await_ack(Repair::Reorder, self.ticks, now, wait_ns + rack::MARGIN_NS);
            news.waits = true;
        }
        self.flight.copies() < copies
    }

    /// Marks what is lost by time; how long to wait for what may be.
    pub(super) fn judge(&mut self, now: Time) -> Option<i64> {
        let window_ns = self.rack.window_ns(&Circumstances {
            recovering: !self.recovery.is_open(),
            sacked: self.flight.sacked(),
            srtt_ns: self.srtt_ns().unwrap_or(0),
            min_rtt_ns: self.min_rtt_ns().unwrap_or(0),
        });
        let rack = self.rack;
        self.flight.judge(|record| rack.judge(now, record, window_ns))
    }

    /// Fast recovery starts (RFC 5681 §3.2, RFC 6675 §5).
    #[inline(never)] // only after losses
    pub(super) fn enter_recovery(&mut self, now: Time, control: &mut Control) {
        if self.flight.is_clean() {
            self.undo.forget_resent();
        }
        self.start_undo(control);
        // A reduction for a mark goes on, and is not taken back.
        let until = self.ecn.take_reduction();
        match until {
            Some(_) => self.undo.prune(),
            None => self.begin_reduction(now, Cause::FastRetransmit, control),
        }
        self.recovery.start(until.unwrap_or(self.next));
        self.newreno.start(self.next);
        self.flight.start_recovery();
        self.tlp.forget();
        if !self.settings.proportional_rate_reduction && self.delivery.is_none() {
            // RFC 6675 §5 (4.3), RFC 6582 §3.2 step 2
            self.due.set(Due::FAST);
        }
    }

    /// Without proportional rate reduction the window is at once what it comes down to.
    pub(super) fn reach_target(&self, control: &mut Control) {
        control.windows[control.index].recovering = true;
        if !self.settings.proportional_rate_reduction && self.delivery.is_none() {
            control.windows[control.index].cwnd_packets = f64::from(target(control));
        }
    }

    /// The window in recovery after an ACK.
    pub(super) fn reduce(&mut self, progress: &Progress, control: &mut Control) {
        if self.settings.proportional_rate_reduction && self.delivery.is_none() && progress.delivered > 0 {
            let window = self.prr.window(progress, self.in_flight_packets(), target(control));
            control.windows[control.index].cwnd_packets = f64::from(window);
        }
    }

    /// Everything that was in flight when repair began is acknowledged (tcp_try_undo_recovery, tcp_end_cwnd_reduction).
    #[inline(never)] // only after losses
    pub(super) fn leave(&mut self, echo: Option<u32>, control: &mut Control) {
        if self.may_undo(echo) {
            self.take_back(false, control);
        } else {
            self.rack.recovered();
            let window = &mut control.windows[control.index];
            if self.recovery.phase() == Phase::Recovery && self.delivery.is_none() {
                // RFC 6937: recovery ends with the window that it aimed at.
                window.cwnd_packets = window.ssthresh_packets.max(1.0);
            }
        }
        self.usage.set(self.last_heard);
        self.open(control);
    }

    /// No losses are being repaired any more.
    fn open(&mut self, control: &mut Control) {
        control.windows[control.index].recovering = false;
        self.recovery.end();
        self.newreno.reset();
    }

    /// An ACK came that says `news`: finds losses, and goes in and out of repairs (tcp_fastretrans_alert).
    pub(super) fn change_phase(&mut self, now: Time, news: &mut News, control: &mut Control) {
        self.recovery.set_only_new(false);
        if self.recovery.is_open() && self.flight.is_clean() {
            self.undo.forget_resent();
        }
        if news.marked {
            self.undo.prune();
        }
        if self.recovery.phase() == Phase::Recovery && self.recovery.is_repaired(self.acked) {
            self.leave(news.echo, control);
        }
        self.end_reduction(control);
        let lost_copies = match self.recovery.phase() {
            Phase::Open => {
                self.undo_duplicates(control);
                self.detect(now, news)
            }
            Phase::Recovery => {
                if news.advanced && self.undo_partly(news, control) {
                    self.recovery.set_only_new(true);
                    return;
                }
                self.undo_duplicates(control);
                self.detect(now, news)
            }
            Phase::Loss => {
                self.repair_time_out(news, control);
                self.detect(now, news)
            }
        };
        match self.recovery.phase() {
            // A time-out's repair that goes wrong begins anew (FLAG_LOST_RETRANS).
            Phase::Loss if lost_copies => self.enter_recovery(now, control),
            Phase::Open if self.sack && self.flight.lost() > 0 => self.enter_recovery(now, control),
            Phase::Open if !self.sack && self.newreno.is_lost(self.acked) => {
                self.flight.lose_first();
                self.enter_recovery(now, control);
            }
            Phase::Open if news.marked => self.reduce_for_mark(now, control),
            // RFC 6582 §3.2 step 3: a partial ACK, the next hole.
            Phase::Recovery if !self.sack && news.advanced => {
                self.flight.lose_first();
                self.due.set(Due::FAST);
            }
            _ => {}
        }
        if news.marked {
            self.undo.prune();
        }
    }

    /// An ACK after a time-out (tcp_process_loss): the time-out may have been none.
    #[cold]
    #[inline(never)]
    fn repair_time_out(&mut self, news: &News, control: &mut Control) {
        if news.advanced && self.may_undo(news.echo) {
            return self.undo_time_out(control);
        }
        if self.recovery.is_suspicious() {
            // RFC 5682 §3.1 step 3 b: something arrived that was not sent again.
            if news.original {
                return self.undo_time_out(control);
            }
            if self.next > self.recovery.until() {
                // Step 3 a
                if news.sacked || news.bare {
                    self.recovery.confirm();
                }
            } else if news.advanced && !self.recovery.is_repaired(self.acked) {
                // Step 2 b: new data, if there is some.
                let has_new = self.queue.first().is_some_and(|piece| u64::from(piece.len) <= self.window_room_bytes());
                self.recovery.set_only_new(has_new);
                if has_new {
                    return;
                }
                self.recovery.confirm();
            }
        }
        if self.recovery.is_repaired(self.acked) {
            self.leave(news.echo, control);
        }
    }

    fn undo_time_out(&mut self, control: &mut Control) {
        self.take_back(true, control);
        self.timeouts.end();
        self.open(control);
    }

    /// A partial ACK in recovery: the original filled the hole, not what was sent again. With copies on their way, no more are
    /// sent; says whether that is so (tcp_try_undo_partial).
    fn undo_partly(&mut self, news: &News, control: &mut Control) -> bool {
        if !(self.settings.undo && self.undo.is_open() && self.is_delayed(news.echo)) {
            return false;
        }
        self.rack.overtaken(news.acked_before);
        self.rack.read();
        if self.flight.copies() > 0 {
            return true;
        }
        self.take_back(true, control);
        self.open(control);
        false
    }

    /// Everything that was sent again arrived twice (tcp_try_undo_dsack); that may be known long after the repair.
    pub(super) fn undo_duplicates(&mut self, control: &mut Control) {
        if self.settings.undo && self.undo.is_proven() {
            self.take_back(false, control);
            self.open(control);
        }
    }

    /// Whether nothing was lost (tcp_may_undo).
    fn may_undo(&self, echo: Option<u32>) -> bool {
        self.settings.undo && self.undo.is_open() && (self.undo.is_proven() || self.is_delayed(echo))
    }

    /// Whether an original caused the ACK, and not what was sent again (tcp_packet_delayed).
    fn is_delayed(&self, echo: Option<u32>) -> bool {
        match self.undo.first_resent() {
            Some(resent) => self.clock.is_before(echo.filter(|&echo| echo != 0), resent),
            None => self.sack || !self.recovery.is_repaired(self.acked),
        }
    }

    /// The window is as it was before the loss; `found`: and what was thought lost is not (tcp_undo_cwnd_reduction).
    #[cold]
    #[inline(never)]
    fn take_back(&mut self, found: bool, control: &mut Control) {
        self.usage.set(self.last_heard);
        if found {
            self.flight.find_all();
        }
        if self.undo.is_pruned() {
            return self.undo.forget();
        }
        if self.delivery.is_some() {
            self.undo.forget();
        } else {
            self.undo.restore(&mut control.windows[control.index]);
        }
        self.ecn.withdraw();
        control.congestion.undone(control.index);
    }

    /// The retransmission timer expired (RFC 6298 §5.4 to §5.6, RFC 5681 §3.1; tcp_enter_loss).
    pub(super) fn lose_all(&mut self, now: Time, control: &mut Control) {
        // RFC 5682 §3.1 step 1: not with losses that were found otherwise.
        let suspicious = self.settings.f_rto && (self.recovery.is_open() || self.timeouts.count() > 0);
        let (rack, by_time) = (self.rack, self.settings.rack && self.sack);
        self.flight.time_out(|record| !by_time || rack.is_overdue(now, record));
        // Once per window of data: not when its repair was under way and nothing was acknowledged since.
        let repaired = self.recovery.is_repaired(self.acked)
            || (self.recovery.phase() == Phase::Loss && self.timeouts.count() == 0);
        let reduced = self.ecn.take_reduction().is_some_and(|until| self.acked < until);
        if !reduced && (self.recovery.is_open() || repaired) {
            self.start_undo(control);
            self.slow_start.lost();
            control.congestion.lost(control.index, control.windows, now, Cause::Timeout);
        }
        self.ecn.reduced();
        // tcp_set_ca_state(TCP_CA_Loss)
        self.slow_start.timed_out();
        control.congestion.timed_out(control.index);
        self.recovery.time_out(self.next, suspicious);
        self.newreno.reset();
        self.newreno.start(self.next);
        self.tlp.forget();
        self.usage.set(now);
        let in_flight = self.in_flight_packets();
        let window = &mut control.windows[control.index];
        (window.cwnd_packets, window.recovering) = (f64::from(in_flight + 1), false);
    }

    fn start_undo(&mut self, control: &Control) {
        let copies = self.flight.copies() + u32::from(self.tlp.is_copy());
        self.undo.start(&control.windows[control.index], self.acked, copies);
    }
}

/// Packets that recovery comes down to.
fn target(control: &Control) -> u32 {
    let window = &control.windows[control.index];
    // A controller may leave the window as it is.
    super::state::whole(window.ssthresh_packets.min(f64::from(u32::MAX >> 1)))
}
