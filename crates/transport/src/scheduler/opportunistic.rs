//! What helps when the connection's window is full because a slow subflow still holds its first bytes: send them again
//! on a free subflow, and slow the slow one down (Raiciu et al., NSDI 2012, §4.2; `mptcp_rcv_buf_optimization` in the
//! out-of-tree kernel's `net/mptcp/mptcp_sched.c`).

use super::{Choice, Chunk, PathView, Scheduler};
use crate::congestion::Window;
use wire::Time;

/// A holder with so small a window is helped whatever its round-trip time.
const SMALL_WINDOW_PACKETS: u32 = 4;

/// Opportunistic retransmission and penalisation, each a switch.
pub struct Opportunistic {
    retransmission: bool,
    penalisation: bool,
    /// When each subflow last had others penalised.
    penalised_at: Vec<Option<Time>>,
}

impl Opportunistic {
    /// With or without each.
    pub fn new(retransmission: bool, penalisation: bool) -> Opportunistic {
        Opportunistic { retransmission, penalisation, penalised_at: Vec::new() }
    }

    /// To be asked when data waits and only the connection's window holds it back. `head` is what that window waits
    /// for: the first bytes not acknowledged at connection level, with [`Chunk::window_bytes`] as if it were open, since
    /// they are within it. Where to send them once more; windows of slow subflows that hold them are halved.
    /// `windows` is every subflow's, by its index.
    pub fn blocked(
        &mut self,
        now: Time,
        head: &Chunk,
        paths: &[PathView],
        windows: &mut [Window],
        scheduler: &mut dyn Scheduler,
    ) -> Choice {
        let nothing = Choice::Wait(Time::MAX);
        if !self.retransmission && !self.penalisation {
            return nothing;
        }
        // The subflow that the next bytes would go to, if the window let them.
        let Choice::Send { subflows, bytes } = scheduler.choose(now, &Chunk { sent_on: 0, ..*head }, paths) else {
            return nothing;
        };
        let Some(free) = paths.iter().find(|path| path.bit() == subflows) else { return nothing };
        if self.penalisation {
            self.penalise(now, head, free, paths, windows);
        }
        if self.retransmission && worthwhile(head, free, paths) { Choice::Send { subflows, bytes } } else { nothing }
    }

    /// Halves the window of slower holders, at most once per round trip of the free subflow.
    fn penalise(&mut self, now: Time, head: &Chunk, free: &PathView, paths: &[PathView], windows: &mut [Window]) {
        if self.penalised_at.len() <= free.subflow {
            self.penalised_at.resize(free.subflow + 1, None);
        }
        let last = &mut self.penalised_at[free.subflow];
        if last.is_some_and(|at| now - at < free.srtt_ns.unwrap_or(0)) {
            return;
        }
        for holder in holders(head, free, paths) {
            let window = &mut windows[holder.subflow];
            if free.srtt_ns.unwrap_or(0) >= holder.srtt_ns.unwrap_or(0) || window.recovering || holder.in_loss {
                continue;
            }
            // Not in slow start, which the window is to come back by.
            if window.cwnd_packets >= window.ssthresh_packets {
                window.ssthresh_packets = (window.ssthresh_packets / 2.0).max(2.0);
            }
            window.cwnd_packets = (window.cwnd_packets / 2.0).max(1.0);
            *last = Some(now);
        }
    }
}

/// Whether a copy on the free subflow is likely to be the first to arrive.
fn worthwhile(head: &Chunk, free: &PathView, paths: &[PathView]) -> bool {
    if head.sent_on & free.bit() != 0 {
        return false;
    }
    // The first holder that is slow to the point of a small window, or fast enough, decides.
    let mut any = false;
    for holder in holders(head, free, paths) {
        if holder.cwnd_packets <= SMALL_WINDOW_PACKETS {
            return true;
        }
        if 4 * free.srtt_ns.unwrap_or(0) >= holder.srtt_ns.unwrap_or(0) {
            return false;
        }
        any = true;
    }
    any
}

/// Other subflows that the chunk was given to.
fn holders<'a>(head: &'a Chunk, free: &'a PathView, paths: &'a [PathView]) -> impl Iterator<Item = &'a PathView> {
    paths.iter().filter(|path| path.subflow != free.subflow && head.sent_on & path.bit() != 0)
}
