//! Explicit congestion notification (RFC 3168), as Linux has it: a packet that meets a queue is marked rather than dropped, ACKs
//! echo that (ECE) until the sender tells that its window is reduced (CWR), which it is once a round trip.

use super::phase::Phase;
use super::state::Subflow;
use super::{Control, Emission, Kind};
use crate::config;
use crate::congestion::Cause;
use wire::{Ecn as Field, Flags, Tcp};

/// ACKs at once after a mark, as the peer's window may be small (tcp_data_ecn_check).
const QUICK_ACKS: u32 = 2;
/// What asks for ECN in a SYN (RFC 3168 §6.1.1). AccECN's third bit asks for more, and is answered by none (RFC 9768 §3.1.2).
const ASKS: Flags = Flags::ECE.with(Flags::CWR);

/// What a subflow knows of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ecn {
    /// Both ends speak it.
    agreed: bool,
    /// What the segment that is being received says.
    came: Field,
    /// Data said that it can be marked (TCP_ECN_SEEN).
    seen: bool,
    /// Data was marked, which is echoed until the peer answers (TCP_ECN_DEMAND_CWR).
    echoes: bool,
    /// The window was reduced, which the next new data tells (TCP_ECN_QUEUE_CWR).
    owes: bool,
    /// The window comes down, until something beyond this is acknowledged (TCP_CA_CWR).
    reducing: Option<u64>,
}

impl Ecn {
    /// The window was reduced, for whatever reason.
    pub(super) fn reduced(&mut self) {
        self.owes = self.agreed;
    }

    /// The window was not reduced after all.
    pub(super) fn withdraw(&mut self) {
        self.owes = false;
    }

    /// Losses are repaired from here on, with the window as far down as it is: gives where its reduction was to end.
    pub(super) fn take_reduction(&mut self) -> Option<u64> {
        self.reducing.take()
    }

    /// Whether an ACK says that data was marked (tcp_ecn_rcv_ecn_echo).
    pub(super) fn hears(&self, flags: Flags) -> bool {
        self.agreed && flags.has(Flags::ECE) && !flags.has(Flags::SYN)
    }

    /// Data came that is not wholly old; says how many ACKs are not to wait.
    pub(super) fn take_mark(&mut self) -> u32 {
        if !self.agreed {
            return 0;
        }
        match self.came {
            Field::CongestionExperienced => {
                self.seen = true;
                if std::mem::replace(&mut self.echoes, true) { 0 } else { QUICK_ACKS }
            }
            // Probably sent again: there was a loss.
            Field::NotCapable if self.seen => QUICK_ACKS,
            Field::NotCapable => 0,
            Field::Capable0 | Field::Capable1 => {
                self.seen = true;
                0
            }
        }
    }
}

impl Subflow {
    /// Whether both ends speak ECN.
    pub fn speaks_ecn(&self) -> bool {
        self.ecn.agreed
    }

    /// The packet of the next segment to be received says this.
    #[inline]
    pub fn comes_as(&mut self, field: Field) {
        self.ecn.came = field;
    }

    /// What the packet of `emission` is to say: new data alone can be marked (RFC 3168 §6.1.4, §6.1.5, §6.1.6).
    #[inline]
    pub fn leaves_as(&self, emission: &Emission) -> Field {
        if self.ecn.agreed && is_new_data(emission) { Field::Capable0 } else { Field::NotCapable }
    }

    /// The peer's SYN, or its answer to ours (RFC 3168 §6.1.1).
    pub(super) fn agree_on_ecn(&mut self, flags: Flags) {
        let ecn = self.settings.ecn;
        let (asked, answers) = (self.syn.transmissions() > 0, flags.has(Flags::ACK));
        self.ecn.agreed = match (asked, answers) {
            (true, _) if ecn != config::Ecn::Request => false,
            (true, true) => flags.has(Flags::ECE) && !flags.has(Flags::CWR),
            _ => ecn != config::Ecn::Off && flags.has(ASKS),
        };
    }

    /// Flags of `emission`, which leaves now.
    #[inline]
    pub(super) fn tell_ecn(&mut self, emission: &Emission, tcp: &mut Tcp) {
        let ecn = &mut self.ecn;
        let flags = match emission.kind {
            // RFC 3168 §6.1.1.1: who does not answer may dislike it.
            Kind::Syn if self.settings.ecn == config::Ecn::Request && self.syn.transmissions() <= 1 => ASKS,
            Kind::SynAck if ecn.agreed => Flags::ECE,
            Kind::Syn | Kind::SynAck | Kind::Reset => return,
            _ if !ecn.agreed => return,
            _ => {
                let cwr = is_new_data(emission) && std::mem::take(&mut ecn.owes);
                Flags(if ecn.echoes { Flags::ECE.0 } else { 0 } | if cwr { Flags::CWR.0 } else { 0 })
            }
        };
        tcp.flags = tcp.flags.with(flags);
    }

    /// A segment with these flags says whether the peer has reduced its window; says whether to answer at once, as that may
    /// be small now (tcp_ecn_accept_cwr).
    #[inline]
    pub(super) fn accept_cwr(&mut self, flags: Flags, len: u32) -> bool {
        let reduced = self.ecn.agreed && flags.has(Flags::CWR);
        self.ecn.echoes &= !reduced;
        reduced && len > 0
    }

    /// Whether the window comes down to its ssthresh, after a loss or a mark (tcp_in_cwnd_reduction).
    #[inline]
    pub(super) fn is_reducing(&self) -> bool {
        self.recovery.phase() == Phase::Recovery || self.ecn.reducing.is_some()
    }

    /// An ACK says that data was marked, and nothing was lost: the window comes down as for a loss, once a round trip
    /// (RFC 3168 §6.1.2, tcp_enter_cwr).
    #[cold]
    #[inline(never)]
    pub(super) fn reduce_for_mark(&mut self, now: wire::Time, control: &mut Control) {
        if self.ecn.reducing.is_some() {
            return;
        }
        self.undo.forget();
        self.tlp.forget();
        self.begin_reduction(now, Cause::FastRetransmit, control);
        self.ecn.reducing = Some(self.next);
    }

    /// The window comes down from here on (tcp_init_cwnd_reduction).
    pub(super) fn begin_reduction(&mut self, now: wire::Time, cause: Cause, control: &mut Control) {
        let prior = self.window_packets(control);
        self.slow_start.lost();
        control.congestion.lost(control.index, control.windows, now, cause);
        self.ecn.reduced();
        self.prr.start(prior);
        self.reach_target(control);
    }

    /// Something was acknowledged: a reduction for a mark ends once that is beyond what was sent before it, so that CWR has
    /// arrived (tcp_fastretrans_alert, tcp_end_cwnd_reduction).
    #[inline]
    pub(super) fn end_reduction(&mut self, control: &mut Control) {
        if self.ecn.reducing.is_none_or(|until| self.acked <= until) {
            return;
        }
        self.ecn.reducing = None;
        self.usage.set(self.last_heard);
        let window = &mut control.windows[control.index];
        window.recovering = false;
        if self.delivery.is_none() && window.ssthresh_packets.is_finite() {
            window.cwnd_packets = window.ssthresh_packets.max(1.0);
        }
    }
}

fn is_new_data(emission: &Emission) -> bool {
    emission.len > 0 && !emission.retransmission
}
