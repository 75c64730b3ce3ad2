//! Where slow start ends before anything is lost: a choice that goes with any controller.

mod hystart;
mod hystart_plus_plus;
#[cfg(test)]
mod tests;

pub(crate) use hystart::HyStart;

use crate::congestion::{Acked, Window};
use hystart_plus_plus::HyStartPlusPlus;
use parameters::choices;

choices! {
    /// How slow start ends.
    pub enum SlowStart {
        /// As the congestion controller has it: `cubic-linux` with HyStart, others at the first loss.
        Own = "own",
        /// At the first loss (RFC 5681 §3.1).
        Standard = "standard",
        /// Where ACKs show a queue, as in Linux (`net/ipv4/tcp_cubic.c`).
        HyStart = "hystart",
        /// Where round trips become longer, and then slowly (RFC 9406).
        HyStartPlusPlus = "hystart++",
    }
}

/// What looks at the ACKs of a subflow on behalf of a controller.
#[derive(Debug, Default)]
pub(crate) enum Watch {
    #[default]
    Nothing,
    HyStart(HyStart),
    HyStartPlusPlus(HyStartPlusPlus),
}

impl Watch {
    /// `paced`: whether the sender spreads what it sends.
    pub fn new(kind: SlowStart, paced: bool) -> Watch {
        match kind {
            SlowStart::Own | SlowStart::Standard => Watch::Nothing,
            SlowStart::HyStart => Watch::HyStart(HyStart::new(paced)),
            SlowStart::HyStartPlusPlus => Watch::HyStartPlusPlus(HyStartPlusPlus::new(paced)),
        }
    }

    /// Sees an ACK before the controller does; gives what the controller is to see of it.
    pub fn acked(&mut self, window: &mut Window, acked: &mut Acked) {
        match self {
            Watch::Nothing => {}
            Watch::HyStart(hystart) => hystart.acked(window, acked),
            Watch::HyStartPlusPlus(hystart) => hystart.acked(window, acked),
        }
    }

    /// A loss.
    pub fn lost(&mut self) {
        // RFC 9406 §4.3: for the first slow start only.
        if let Watch::HyStartPlusPlus(_) = self {
            *self = Watch::Nothing;
        }
    }

    /// A time-out.
    pub fn timed_out(&mut self) {
        if let Watch::HyStart(hystart) = self {
            hystart.reset();
        }
    }
}
