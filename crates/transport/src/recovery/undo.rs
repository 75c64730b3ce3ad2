//! Taking back what a loss did to the window when it was none (Eifel, RFC 3522 and RFC 4015): an ACK that echoes a
//! timestamp from before the first retransmission was caused by the original.

use crate::congestion::Window;
use wire::Time;

/// How the window was before a repair.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Undo {
    before: Option<(f64, f64)>,
    resent: Option<Time>,
}

impl Undo {
    /// A loss was found, for which `window` is about to shrink.
    pub fn start(&mut self, window: &Window) {
        *self = Undo { before: Some((window.cwnd_packets, window.ssthresh_packets)), resent: None };
    }

    /// A segment was sent again.
    pub fn resent(&mut self, now: Time) {
        self.resent.get_or_insert(now);
    }

    /// When the first segment was sent again since the loss.
    pub fn first_resent(&self) -> Option<Time> {
        self.before.and(self.resent)
    }

    /// The window as it was; what it grew to meanwhile stays (as in Linux).
    pub fn restore(&mut self, window: &mut Window) {
        if let Some((cwnd_packets, ssthresh_packets)) = self.before.take() {
            window.cwnd_packets = window.cwnd_packets.max(cwnd_packets);
            window.ssthresh_packets = window.ssthresh_packets.max(ssthresh_packets);
        }
    }

    /// The repair is over.
    pub fn forget(&mut self) {
        *self = Undo::default();
    }
}
