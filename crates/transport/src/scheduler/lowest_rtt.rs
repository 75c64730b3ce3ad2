//! The default scheduler of the out-of-tree kernel (multipath-tcp.org, `net/mptcp/mptcp_sched.c`).

use super::{Choice, Chunk, PathView, Scheduler};
use wire::Time;

pub(super) const SUMMARY: &str = "the subflow with the lowest round-trip time of those that have room in their window";

/// Lowest round-trip time first.
#[derive(Default)]
pub struct LowestRtt;

/// What is found among the active subflows, or among the backups.
enum Found<'a> {
    /// The best that the chunk was not given to.
    Best(&'a PathView),
    /// One that the chunk was not given to, but none with room.
    Busy,
    /// None that the chunk was not given to.
    Nothing,
}

impl Scheduler for LowestRtt {
    fn choose(&mut self, _: Time, chunk: &Chunk, paths: &[PathView]) -> Choice {
        // get_available_subflow: a chunk that had been given to every subflow is anybody's again.
        let everywhere = paths.iter().filter(|path| !path.stale).all(|path| chunk.sent_on & path.bit() != 0);
        let sent_on = if everywhere { 0 } else { chunk.sent_on };
        for backup in [false, true] {
            match find(paths, backup, sent_on) {
                Found::Best(path) => return grant(chunk, path),
                Found::Busy => break,
                Found::Nothing => {}
            }
        }
        Choice::Wait(Time::MAX)
    }

    fn mends_buffer(&self) -> bool {
        true
    }
}

/// Where it chose another subflow for new data than the fastest: the fastest, the chosen, and the bytes of the one segment
/// that is to be decided on. What failed subflows are, and backups beside others, the kernel's BLEST and ECF would wait
/// for in vain; likewise, with data given again, for the one that had it.
pub(super) fn slower<'a>(
    choice: Choice,
    chunk: &Chunk,
    paths: &'a [PathView],
) -> Option<(&'a PathView, &'a PathView, u64)> {
    let Choice::Send { subflows, bytes } = choice else { return None };
    let slow = paths.iter().find(|path| path.bit() == subflows)?;
    let candidates = paths.iter().filter(|path| !path.stale && path.backup == slow.backup);
    let fast = candidates.min_by_key(|path| srtt_ns(path))?;
    let bytes = bytes.min(u64::from(slow.mss_bytes.max(1)));
    (fast.subflow != slow.subflow && !chunk.reinjection).then_some((fast, slow, bytes))
}

/// Without a sample it is 0, as in the kernel.
pub(super) fn srtt_ns(path: &PathView) -> u64 {
    path.srtt_ns.unwrap_or(0).max(0) as u64
}

/// get_subflow_from_selectors
fn find(paths: &[PathView], backup: bool, sent_on: u64) -> Found<'_> {
    // mptcp_is_def_unavailable: failed subflows do not count at all.
    let mut fresh =
        paths.iter().filter(|path| path.backup == backup && !path.stale && sent_on & path.bit() == 0).peekable();
    if fresh.peek().is_none() {
        return Found::Nothing;
    }
    // A subflow without a sample comes first; of equals the first.
    match fresh.filter(|path| available(path)).min_by_key(|path| srtt_ns(path)) {
        Some(path) => Found::Best(path),
        None => Found::Busy,
    }
}

/// mptcp_is_temp_unavailable: nothing new until what timed out is acknowledged, and only into the window's room.
fn available(path: &PathView) -> bool {
    !path.in_loss && path.free_bytes() > 0
}

/// What the window's room takes, the last segment whole.
fn grant(chunk: &Chunk, path: &PathView) -> Choice {
    let room = path.free_bytes().next_multiple_of(u64::from(path.mss_bytes.max(1)));
    match chunk.sendable_bytes().min(room) {
        0 => Choice::Wait(Time::MAX),
        bytes => Choice::Send { subflows: path.bit(), bytes },
    }
}
