//! The scheduler of upstream Linux (`net/mptcp/protocol.c`: `mptcp_subflow_get_send`, `__subflow_push_pending`).

use super::{Choice, Chunk, PathView, Scheduler};
use wire::Time;

pub(super) const SUMMARY: &str = "upstream Linux: the subflow whose queue drains first, in bursts of 64 KiB";

/// MPTCP_SEND_BURST_SIZE: 64 KiB less the longest headers (TCP with options 60 bytes, IPv6 40, fragment 8).
pub const BURST_BYTES: u64 = 65_536 - 60 - 40 - 8;

/// What a fragment of the pages that a writer fills holds (mptcp_carve_data_frag): 32 KiB less a mptcp_data_frag, as captures
/// of Linux 6.18 show: two of them are a burst.
pub const FRAGMENT_BYTES: u64 = 32_768 - 40;

/// Upstream's default: data goes, ahead of its window, to the subflow that will be rid of its queue first.
#[derive(Default)]
pub struct Linux {
    /// avg_pacing_rate of each subflow, with when it joined: weighed by the bytes that were scheduled at each rate, and those before them.
    bytes_per_second: Vec<(u32, u64)>,
}

impl Linux {
    fn rate(&mut self, path: &PathView) -> &mut u64 {
        if self.bytes_per_second.len() <= path.subflow {
            self.bytes_per_second.resize(path.subflow + 1, (0, 0));
        }
        let (joined, rate) = &mut self.bytes_per_second[path.subflow];
        if *joined != path.joined {
            (*joined, *rate) = (path.joined, 0);
        }
        if *rate == 0 {
            *rate = path.pacing_bytes_per_second;
        }
        rate
    }

    /// mptcp_subflow_get_send
    fn send(&mut self, chunk: &Chunk, paths: &[PathView]) -> Choice {
        let none_active = paths.iter().all(|path| path.stale || path.backup);
        let mut best: Option<((u128, u32), &PathView)> = None;
        for path in paths.iter().filter(|path| !path.stale && path.backup == none_active) {
            let rate = *self.rate(path);
            if rate == 0 {
                continue;
            }
            let linger = (u128::from(path.held_bytes()) << 32) / u128::from(rate);
            // Of equals the first on the list (conn_list), at whose end subflows join.
            let order = (linger, path.joined);
            if best.is_none_or(|(least, _)| order < least) {
                best = Some((order, path));
            }
        }
        let Some((_, path)) = best else { return Choice::Wait(Time::MAX) };
        // sk_stream_memory_free, only of the best: a slower one does not take its place.
        let held = path.held_bytes();
        if held >= path.send_buffer_bytes || chunk.sendable_bytes() == 0 {
            return Choice::Wait(Time::MAX);
        }
        // As far as the peer's window goes, whatever waits.
        let burst = chunk.window_bytes.min(BURST_BYTES);
        let bytes = pushed_bytes(chunk, path, burst);
        let rate = self.rate(path);
        let weighed =
            u128::from(*rate) * u128::from(held) + u128::from(path.pacing_bytes_per_second) * u128::from(burst);
        *rate = (weighed / u128::from(held + burst)) as u64;
        Choice::Send { subflows: path.bit(), bytes }
    }
}

impl Scheduler for Linux {
    fn choose(&mut self, _: Time, chunk: &Chunk, paths: &[PathView]) -> Choice {
        // __mptcp_retransmit_pending_data: what goes again is scheduled like new data.
        self.send(chunk, paths)
    }

    fn queues_ahead(&self) -> bool {
        true
    }
}

/// Bytes of `chunk` that go at once: whole fragments until a burst is through, or the subflow has no memory left
/// (__subflow_push_pending).
fn pushed_bytes(chunk: &Chunk, path: &PathView, burst: u64) -> u64 {
    let sendable = chunk.sendable_bytes();
    let mut bytes = 0;
    while bytes < sendable {
        bytes += FRAGMENT_BYTES - (chunk.in_pages + bytes) % FRAGMENT_BYTES;
        if bytes >= burst || path.held_bytes() + bytes >= path.send_buffer_bytes {
            break;
        }
    }
    bytes.min(sendable)
}
