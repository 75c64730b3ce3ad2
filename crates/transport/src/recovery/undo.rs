//! Taking back what a loss did to the window when it was none. Two things show that: an ACK that echoes a timestamp from before
//! the first retransmission was caused by the original (Eifel, RFC 3522 and RFC 4015), and duplicates that the peer reports
//! (RFC 2883, RFC 3708) for everything that was sent again.

use crate::congestion::Window;
use wire::Time;

/// How things were before a repair, and what was sent again since.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Undo {
    before: Option<Before>,
    /// retrans_stamp
    resent: Option<Time>,
    /// undo_retrans: what was sent again and not reported as a duplicate; none as long as nothing was sent again.
    copies: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Before {
    cwnd_packets: f64,
    ssthresh_packets: f64,
    /// undo_marker: what was acknowledged.
    acked: u64,
}

impl Undo {
    /// A loss was found, for which `window` is about to shrink; everything below `acked` is acknowledged, and `copies` of
    /// earlier repairs are in flight (tcp_init_undo).
    pub fn start(&mut self, window: &Window, acked: u64, copies: u32) {
        let (cwnd_packets, ssthresh_packets) = (window.cwnd_packets, window.recent_packets());
        self.before = Some(Before { cwnd_packets, ssthresh_packets, acked });
        self.copies = (copies > 0).then_some(copies);
    }

    /// A segment was sent again.
    pub fn resent(&mut self, now: Time) {
        self.resent.get_or_insert(now);
        self.copies = Some(self.copies.map_or(1, |copies| copies + 1));
    }

    /// Nothing in flight was sent more than once.
    pub fn forget_resent(&mut self) {
        self.resent = None;
    }

    /// The peer reports `segments` as duplicates, the last of which end at `end`.
    pub fn duplicates(&mut self, segments: u32, end: u64) {
        if let Some(copies) = self.copies.as_mut().filter(|_| self.before.is_some_and(|before| end > before.acked)) {
            *copies = copies.saturating_sub(segments);
        }
    }

    /// When the first segment was sent again.
    pub fn first_resent(&self) -> Option<Time> {
        self.resent
    }

    /// Whether there is something to take back.
    pub fn is_open(&self) -> bool {
        self.before.is_some()
    }

    /// Whether everything that was sent again arrived twice.
    pub fn is_proven(&self) -> bool {
        self.is_open() && self.copies == Some(0)
    }

    /// The window as it was; what it grew to meanwhile stays (tcp_undo_cwnd_reduction, tcp_reno_undo_cwnd).
    pub fn restore(&mut self, window: &mut Window) {
        if let Some(before) = self.before.take() {
            window.cwnd_packets = window.cwnd_packets.max(before.cwnd_packets);
            window.ssthresh_packets = window.ssthresh_packets.max(before.ssthresh_packets);
        }
    }

    /// Marks say that there was congestion: the window stays as it is, whatever becomes of the losses
    /// (tcp_fastretrans_alert's "ECE pruning").
    pub fn prune(&mut self) {
        if let Some(before) = &mut self.before {
            (before.cwnd_packets, before.ssthresh_packets) = (0.0, 0.0);
        }
    }

    /// Whether the window is not to be restored.
    pub fn is_pruned(&self) -> bool {
        self.before.is_some_and(|before| before.ssthresh_packets == 0.0)
    }

    /// The window is the controller's own to restore.
    pub fn forget(&mut self) {
        self.before = None;
    }
}
