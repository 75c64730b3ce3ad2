//! How losses are being repaired, and until when.

/// How losses are being repaired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    /// There are none.
    #[default]
    Open,
    /// Fast recovery.
    Recovery,
    /// After a retransmission time-out.
    Loss,
}

/// A phase of loss recovery. [`Phase::Open`] is never suspicious.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LossRecovery {
    phase: Phase,
    /// It ends when everything below is acknowledged.
    until: u64,
    /// The last segment was sent again once (RFC 6675 §4 NextSeg, rule 4).
    rescued: bool,
    /// The time-out may have been none (F-RTO): then the peer acknowledges what was not sent again.
    suspicious: bool,
    /// Until the next ACK nothing is sent again.
    only_new: bool,
}

impl LossRecovery {
    /// Losses were found: fast recovery.
    pub(super) fn start(&mut self, until: u64) {
        *self = LossRecovery { phase: Phase::Recovery, until, only_new: self.only_new, ..LossRecovery::default() };
    }

    /// The retransmission timer expired.
    pub(super) fn time_out(&mut self, until: u64, suspicious: bool) {
        *self = LossRecovery { phase: Phase::Loss, until, suspicious, rescued: self.rescued, only_new: false };
    }

    /// Segments were too big, and are sent again as after a time-out.
    pub(super) fn send_again(&mut self, until: u64) {
        (self.phase, self.until) = (Phase::Loss, until);
    }

    /// No losses are being repaired any more.
    pub(super) fn end(&mut self) {
        (self.phase, self.suspicious) = (Phase::Open, false);
    }

    #[inline]
    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    /// Whether no losses are being repaired.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// Everything below was in flight when it began.
    #[inline]
    pub(super) fn until(&self) -> u64 {
        self.until
    }

    /// Whether everything that was in flight when it began is below `acked`.
    #[inline]
    pub(super) fn is_repaired(&self, acked: u64) -> bool {
        acked >= self.until
    }

    /// Whether the last segment may be sent again, which is done once a recovery.
    pub(super) fn take_rescue(&mut self) -> bool {
        !std::mem::replace(&mut self.rescued, true)
    }

    /// Whether the time-out may have been none.
    pub(super) fn is_suspicious(&self) -> bool {
        self.suspicious
    }

    /// The time-out was one.
    pub(super) fn confirm(&mut self) {
        self.suspicious = false;
    }

    /// Until the next ACK nothing is sent again.
    #[inline]
    pub(super) fn is_only_new(&self) -> bool {
        self.only_new
    }

    #[inline]
    pub(super) fn set_only_new(&mut self, only_new: bool) {
        self.only_new = only_new;
    }
}
