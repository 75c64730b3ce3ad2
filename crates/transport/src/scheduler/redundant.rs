//! Everything on every subflow (Frömmgen et al., IEEE ICC 2016, "ReMP TCP"; `net/mptcp/mptcp_redundant.c` of the
//! out-of-tree kernel from v0.94 on, which walks the queue once per subflow).

use super::{Choice, Chunk, LowestRtt, PathView, Scheduler};
use wire::Time;

pub(super) const SUMMARY: &str =
    "all data on every subflow: the lowest delay of all paths at any time, but the rate of only one";

/// Each subflow is given, in order, whatever the peer has not acknowledged yet and it has not carried.
#[derive(Default)]
pub struct Redundant {
    again: LowestRtt,
}

impl Scheduler for Redundant {
    fn choose(&mut self, now: Time, chunk: &Chunk, paths: &[PathView]) -> Choice {
        if chunk.reinjection {
            return self.again.choose(now, chunk, paths);
        }
        // Backups carry no copies.
        let none_active = paths.iter().all(|path| path.stale || path.backup);
        let free = paths.iter().filter(|path| {
            let lacks = chunk.sent_on & path.bit() == 0;
            lacks && !path.stale && !path.in_loss && path.backup == none_active && path.free_bytes() > 0
        });
        let (mut subflows, mut bytes) = (0, chunk.sendable_bytes());
        for path in free {
            subflows |= path.bit();
            bytes = bytes.min(path.free_bytes().next_multiple_of(u64::from(path.mss_bytes.max(1))));
        }
        if subflows == 0 || bytes == 0 { Choice::Wait(Time::MAX) } else { Choice::Send { subflows, bytes } }
    }

    fn copies(&self) -> bool {
        true
    }
}
