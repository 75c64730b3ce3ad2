//! Finding losses, and going in and out of recovery.

use super::Control;
use super::state::{Due, Phase, Subflow};
use crate::congestion::Cause;
use crate::recovery::prr::Progress;
use crate::recovery::rack::{self, Circumstances};
use crate::recovery::tlp::Tlp;
use wire::{Time, seq};

impl Subflow {
    /// Marks what is lost by selective ACKs: by time, or by how many there are.
    pub(super) fn detect(&mut self, now: Time, duplicate: bool) {
        if !self.sack {
            return;
        }
        if !self.settings.rack {
            return self.flight.lose_below_sacked(self.mss_bytes());
        }
        if duplicate {
            self.rack.duplicate(self.acked, self.next);
        }
        let window_ns = self.rack.window_ns(&Circumstances {
            recovering: self.phase != Phase::Open,
            sacked: self.flight.sacked(),
            srtt_ns: self.srtt_ns().unwrap_or(0),
            min_rtt_ns: self.min_rtt_ns().unwrap_or(0),
        });
        let rack = self.rack;
        let again = self.flight.judge(|record| rack.judge(now, record, window_ns));
        self.timers.reorder = again.map_or(Time::MAX, |ns| self.after(now, ns + rack::MARGIN_NS));
    }

    /// Fast recovery starts (RFC 5681 §3.2, RFC 6675 §5).
    #[inline(never)] // only after losses
    pub(super) fn enter_recovery(&mut self, now: Time, control: &mut Control) {
        let prior = self.window_packets(control);
        self.undo.start(&control.windows[control.index]);
        self.slow_start.lost(Cause::FastRetransmit);
        control.congestion.lost(control.index, control.windows, now, Cause::FastRetransmit);
        (self.phase, self.recover, self.rescued) = (Phase::Recovery, self.next, false);
        self.prr.start(prior);
        self.newreno.start(self.next);
        self.flight.start_recovery();
        self.tlp.forget();
        self.timers.tail = Time::MAX;
        control.windows[control.index].recovering = true;
        if !self.settings.proportional_rate_reduction && self.delivery.is_none() {
            control.windows[control.index].cwnd_packets = f64::from(target(control));
            // RFC 6675 §5 (4.3), RFC 6582 §3.2 step 2
            self.due.set(Due::FAST);
        }
    }

    /// The window in recovery after an ACK.
    pub(super) fn reduce(&mut self, progress: &Progress, control: &mut Control) {
        if self.settings.proportional_rate_reduction && self.delivery.is_none() && progress.delivered > 0 {
            let window = self.prr.window(progress, self.in_flight_packets(), target(control));
            control.windows[control.index].cwnd_packets = f64::from(window);
        }
    }

    /// Everything that was in flight when repair began is acknowledged.
    #[inline(never)] // only after losses
    pub(super) fn leave(&mut self, control: &mut Control) {
        let window = &mut control.windows[control.index];
        if self.phase == Phase::Recovery && self.delivery.is_none() {
            // RFC 6937: recovery ends with the window that it aimed at.
            window.cwnd_packets = window.ssthresh_packets.max(1.0);
        }
        window.recovering = false;
        self.phase = Phase::Open;
        self.newreno.reset();
        self.rack.recovered();
        self.undo.forget();
    }

    /// An ACK moved: whether its echo shows that the original of what was sent again arrived, so that nothing was lost.
    #[inline(never)] // only after losses
    pub(super) fn take_back(&mut self, echo: Option<u32>, control: &mut Control) {
        let Some((resent, echo)) = self.undo.first_resent().zip(echo.filter(|_| self.timestamps && self.settings.undo))
        else {
            return;
        };
        if seq::diff(echo, self.clock(resent)) < 0 {
            self.undo.restore(&mut control.windows[control.index]);
            control.windows[control.index].recovering = false;
            control.congestion.undone(control.index);
            self.flight.find_all();
            self.phase = Phase::Open;
            self.newreno.reset();
        }
    }

    /// The retransmission timer expired (RFC 6298 §5.4 to §5.6, RFC 5681 §3.1).
    pub(super) fn lose_all(&mut self, now: Time, control: &mut Control) {
        // Once per window of data: not when its repair was under way and nothing was acknowledged since.
        if self.phase == Phase::Open || (self.phase == Phase::Loss && self.timeouts == 0) {
            self.undo.start(&control.windows[control.index]);
            self.slow_start.lost(Cause::Timeout);
            control.congestion.lost(control.index, control.windows, now, Cause::Timeout);
        }
        self.flight.lose_all();
        (self.phase, self.recover) = (Phase::Loss, self.next);
        self.newreno.reset();
        self.newreno.start(self.next);
        self.tlp.forget();
        (self.timers.tail, self.timers.reorder) = (Time::MAX, Time::MAX);
        let window = &mut control.windows[control.index];
        (window.cwnd_packets, window.recovering) = (1.0, false);
    }

    /// RFC 8985 §7.2
    pub(super) fn arm_tail(&mut self, now: Time) {
        let calm = self.phase == Phase::Open && self.flight.sacked() == 0 && self.tlp.is_free();
        if self.settings.tail_loss_probe && self.sack && calm {
            let wait_ns = Tlp::timeout_ns(self.srtt_ns(), self.flight.len());
            self.timers.tail = self.after(now, wait_ns).min(self.timers.retransmit);
        } else {
            self.timers.tail = Time::MAX;
        }
    }
}

/// Packets that recovery comes down to.
fn target(control: &Control) -> u32 {
    let window = &control.windows[control.index];
    // A controller may leave the window as it is.
    super::state::whole(window.ssthresh_packets.min(f64::from(u32::MAX >> 1)))
}
