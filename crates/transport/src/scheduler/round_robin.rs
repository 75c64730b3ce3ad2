//! Round robin of the out-of-tree kernel (multipath-tcp.org, `net/mptcp/mptcp_rr.c`).

use super::{Choice, Chunk, LowestRtt, PathView, Scheduler};
use parameters::{Fault, Flag, Packets, fault, parameters};
use wire::Time;

pub(super) const SUMMARY: &str = "each subflow in turn, a few segments at a time";

parameters! {
    struct Parameters {
        /// Consecutive segments on a subflow.
        quota: Packets = Packets(1),
        /// Whether a subflow with a full window is skipped. If not, its share is queued, so all subflows carry the same
        /// amount, at the rate of the slowest.
        cwnd_limited: Flag = Flag(true),
    }
}

/// Each subflow in turn.
pub struct RoundRobin {
    quota_packets: u64,
    cwnd_limited: bool,
    /// Segments that each subflow was given in this round.
    used_packets: Vec<u64>,
    again: LowestRtt,
}

impl RoundRobin {
    /// num_segments and cwnd_limited.
    pub(crate) fn new(Parameters { quota, cwnd_limited }: Parameters) -> Result<RoundRobin, Fault> {
        match quota.0 {
            0 => Err(fault("quota", "must be at least 1")),
            quota_packets => Ok(RoundRobin {
                quota_packets,
                cwnd_limited: cwnd_limited.0,
                used_packets: Vec::new(),
                again: LowestRtt,
            }),
        }
    }

    fn used_packets(&mut self, path: &PathView) -> &mut u64 {
        if self.used_packets.len() <= path.subflow {
            self.used_packets.resize(path.subflow + 1, 0);
        }
        &mut self.used_packets[path.subflow]
    }

    /// mptcp_rr_next_segment: one in the middle of its quota, else the last that has not had its turn. Subflows are inserted
    /// at the head of its list (mptcp_ctrl.c, mptcp_add_sock), so that is the oldest.
    fn next<'a>(&mut self, paths: &[&'a PathView]) -> Option<&'a PathView> {
        let quota = self.quota_packets;
        let begun = paths.iter().rfind(|path| (1..quota).contains(self.used_packets(path)));
        begun.or_else(|| paths.iter().find(|path| *self.used_packets(path) == 0)).copied()
    }
}

impl Scheduler for RoundRobin {
    fn choose(&mut self, now: Time, chunk: &Chunk, paths: &[PathView]) -> Choice {
        // rr_get_available_subflow: what is given again has no turns.
        if chunk.reinjection {
            return self.again.choose(now, chunk, paths);
        }
        // The kernel does not look at backups here; who marks one does not want it used (RFC 8684 §3.3.8).
        let none_active = paths.iter().all(|path| path.stale || path.backup);
        let usable = |path: &&PathView| !path.stale && !path.in_loss && path.backup == none_active;
        let has_room = |path: &&PathView| !self.cwnd_limited || path.free_bytes() > 0;
        let paths: Vec<_> = paths.iter().filter(usable).filter(has_room).collect();
        let Some(path) = self.next(&paths).or_else(|| {
            // All have had their turn: the next round.
            paths.iter().for_each(|path| *self.used_packets(path) = 0);
            self.next(&paths)
        }) else {
            return Choice::Wait(Time::MAX);
        };
        if !self.cwnd_limited && path.held_bytes() >= path.send_buffer_bytes {
            return Choice::Wait(Time::MAX);
        }
        let mss_bytes = u64::from(path.mss_bytes.max(1));
        let quota_bytes = (self.quota_packets - *self.used_packets(path)) * mss_bytes;
        let room = if self.cwnd_limited { path.free_bytes().next_multiple_of(mss_bytes) } else { quota_bytes };
        let bytes = chunk.sendable_bytes().min(quota_bytes).min(room);
        *self.used_packets(path) += bytes.div_ceil(mss_bytes);
        match bytes {
            0 => Choice::Wait(Time::MAX),
            _ => Choice::Send { subflows: path.bit(), bytes },
        }
    }

    fn queues_ahead(&self) -> bool {
        !self.cwnd_limited
    }
}
