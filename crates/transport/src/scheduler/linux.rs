//! The scheduler of upstream Linux (`net/mptcp/protocol.c`: `mptcp_subflow_get_send`, `mptcp_subflow_get_retrans`).

use super::{Choice, Chunk, PathView, Scheduler};
use wire::Time;

pub(super) const SUMMARY: &str = "upstream Linux: the subflow whose queue drains first, in bursts of 64 KiB";

/// MPTCP_SEND_BURST_SIZE: 64 KiB less the longest headers (TCP with options 60 bytes, IPv6 40, fragment 8).
const BURST_BYTES: u64 = 65_536 - 60 - 40 - 8;

/// Upstream's default: data goes, ahead of its window, to the subflow that will be rid of its queue first.
#[derive(Default)]
pub struct Linux {
    subflows: Vec<Pace>,
    /// Which subflow is being given data again, and how much more of a burst.
    resending: Option<(usize, u64)>,
}

/// What is remembered of a subflow.
#[derive(Clone, Copy, Default)]
struct Pace {
    /// avg_pacing_rate: weighed by the bytes that were scheduled at each rate.
    bytes_per_second: u64,
    /// sk_sndbuf, which never shrinks.
    buffer_bytes: u64,
}

impl Linux {
    fn of(&mut self, path: &PathView) -> &mut Pace {
        if self.subflows.len() <= path.subflow {
            self.subflows.resize(path.subflow + 1, Pace::default());
        }
        let pace = &mut self.subflows[path.subflow];
        if pace.bytes_per_second == 0 {
            pace.bytes_per_second = path.pacing_bytes_per_second;
        }
        pace.buffer_bytes = pace.buffer_bytes.max(buffer_bytes(path));
        pace
    }

    /// mptcp_subflow_get_send
    fn send(&mut self, chunk: &Chunk, paths: &[PathView]) -> Choice {
        let none_active = paths.iter().all(|path| path.stale || path.backup);
        let mut best: Option<(u128, &PathView)> = None;
        for path in paths.iter().filter(|path| !path.stale && path.backup == none_active) {
            let rate = self.of(path).bytes_per_second;
            if rate == 0 {
                continue;
            }
            let linger = (u128::from(held_bytes(path)) << 32) / u128::from(rate);
            if best.is_none_or(|(least, _)| linger < least) {
                best = Some((linger, path));
            }
        }
        let Some((_, path)) = best else { return Choice::Wait(Time::MAX) };
        let held = held_bytes(path);
        let bytes = chunk.sendable_bytes().min(BURST_BYTES);
        let pace = self.of(path);
        // sk_stream_memory_free, only of the best: a slower one does not take its place.
        if held >= pace.buffer_bytes || bytes == 0 {
            return Choice::Wait(Time::MAX);
        }
        let weighed = u128::from(pace.bytes_per_second) * u128::from(held)
            + u128::from(path.pacing_bytes_per_second) * u128::from(bytes);
        pace.bytes_per_second = (weighed / u128::from(held + bytes)) as u64;
        Choice::Send { subflows: path.bit(), bytes }
    }

    /// mptcp_subflow_get_retrans: only an idle subflow, with the pieces that follow up to a burst, as the kernel's
    /// fragments are longer than segments; a backup only when nothing moves anywhere else.
    fn resend(&mut self, chunk: &Chunk, paths: &[PathView]) -> Choice {
        let going_on = self.resending.filter(|&(_, left)| left > 0).and_then(|(subflow, left)| {
            let path = paths.iter().find(|path| path.subflow == subflow && !path.stale)?;
            (chunk.sent_on & path.bit() == 0).then_some((path, left))
        });
        let idle =
            |backup: bool| paths.iter().find(|path| path.backup == backup && !path.stale && held_bytes(path) == 0);
        let stuck = paths.iter().filter(|path| held_bytes(path) > 0).all(|path| path.stale);
        let begun = || idle(false).or_else(|| idle(true).filter(|_| stuck)).map(|path| (path, BURST_BYTES));
        let Some((path, left)) = going_on.or_else(begun) else { return Choice::Wait(Time::MAX) };
        let bytes = chunk.sendable_bytes().min(left);
        self.resending = Some((path.subflow, left - bytes));
        if bytes > 0 { Choice::Send { subflows: path.bit(), bytes } } else { Choice::Wait(Time::MAX) }
    }
}

impl Scheduler for Linux {
    fn choose(&mut self, _: Time, chunk: &Chunk, paths: &[PathView]) -> Choice {
        // __mptcp_retransmit_pending_data: what failed subflows held is scheduled like new data.
        let held_by_working = paths.iter().any(|path| !path.stale && chunk.sent_on & path.bit() != 0);
        if chunk.reinjection && held_by_working {
            return self.resend(chunk, paths);
        }
        self.resending = None;
        self.send(chunk, paths)
    }

    fn queues_ahead(&self) -> bool {
        true
    }
}

/// What tcp_sndbuf_expand makes of sk_sndbuf: two windows, of ten segments at least, with room for MAX_TCP_HEADER,
/// skb_shared_info and sk_buff in powers of two: 2304 bytes for a segment of 1448, as `ss -m` shows where MAX_TCP_HEADER is 256
/// (4352 where it is more).
pub(super) fn buffer_bytes(path: &PathView) -> u64 {
    let segment_bytes = (u64::from(path.mss_bytes) + 576).next_power_of_two() + 256;
    2 * u64::from(path.cwnd_packets.max(10)) * segment_bytes
}

/// sk_wmem_queued: what waits and what is on its way. That was split, and occupies more than its data: 430 to 800 bytes a
/// segment where `ss -m` was asked, mostly 480.
pub(super) fn held_bytes(path: &PathView) -> u64 {
    path.outstanding_bytes() + 480 * u64::from(path.in_flight_packets)
}
