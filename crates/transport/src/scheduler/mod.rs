//! Which subflow carries the next bytes. One scheduler is one file and one line in `policies!`.

use crate::policy::policies;
use wire::Time;

mod opportunistic;
pub(crate) use linux::{BURST_BYTES, FRAGMENT_BYTES};
pub use opportunistic::Opportunistic;

policies! {
    dyn Scheduler, "scheduler":
    "lowest-rtt" = lowest_rtt::LowestRtt,
    "linux" = linux::Linux,
    "round-robin" = round_robin::RoundRobin with Parameters,
    "redundant" = redundant::Redundant,
    "blest" = blest::Blest with Parameters,
    "ecf" = ecf::Ecf with Parameters,
}

/// Whether the one of that name mends what fills the receive buffer ([`Scheduler::mends_buffer`]).
pub fn mends_buffer(name: &str) -> bool {
    build(name, &parameters::Table::default()).is_ok_and(|scheduler| scheduler.mends_buffer())
}

/// What a segment that was sent occupies besides its data: 430 to 800 bytes where `ss -m` was asked, mostly 480. Packets
/// take 832 bytes each, and most hold two segments when they leave; some are split.
pub const SENT_BYTES: u64 = 480;

/// What a scheduler sees of a subflow that is established.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathView {
    /// Its index in the connection, for [`Choice`]; also its bit in [`Chunk::sent_on`].
    pub subflow: usize,
    /// Its position on the connection's list of subflows: those that joined later stand behind.
    pub joined: u32,
    /// Smoothed round-trip time; none before the first sample.
    pub srtt_ns: Option<i64>,
    /// Mean deviation of the round-trip time.
    pub rttvar_ns: i64,
    /// Congestion window.
    pub cwnd_packets: u32,
    /// Slow start's end.
    pub ssthresh_packets: f64,
    /// Sent and not yet acknowledged or lost.
    pub in_flight_packets: u32,
    /// Given to the subflow and not yet sent.
    pub queued_bytes: u64,
    /// Sent and not yet acknowledged, lost or not.
    pub unacknowledged_packets: u32,
    /// Memory that it may hold: Linux's sk_sndbuf.
    pub send_buffer_bytes: u64,
    /// Rate at which it could send: window over round-trip time, with the kernel's gain.
    pub pacing_bytes_per_second: u64,
    /// Bytes in a full segment.
    pub mss_bytes: u32,
    /// To be used only when no other is.
    pub backup: bool,
    /// Failed for now: time-outs in a row without an answer.
    pub stale: bool,
    /// In recovery from a time-out.
    pub in_loss: bool,
}

impl PathView {
    /// Bytes that the window leaves, in whole segments but for what is queued.
    pub fn free_bytes(&self) -> u64 {
        let packets = u64::from(self.cwnd_packets.saturating_sub(self.in_flight_packets));
        (packets * u64::from(self.mss_bytes)).saturating_sub(self.queued_bytes)
    }

    /// Bytes that it was given and that are not acknowledged.
    pub fn outstanding_bytes(&self) -> u64 {
        self.queued_bytes + u64::from(self.in_flight_packets) * u64::from(self.mss_bytes)
    }

    /// Memory that it holds, as Linux reckons (sk_wmem_queued): what waits and what is not acknowledged.
    pub fn held_bytes(&self) -> u64 {
        let packets = u64::from(self.unacknowledged_packets);
        self.queued_bytes + packets * (u64::from(self.mss_bytes) + SENT_BYTES)
    }

    /// Its bit in [`Chunk::sent_on`].
    pub fn bit(&self) -> u64 {
        1 << self.subflow
    }
}

/// What there is to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The place of the first byte in the pages that the writer fills.
    pub in_pages: u64,
    /// Bytes that wait.
    pub bytes: u64,
    /// Bytes that the peer's window lets go from there.
    pub window_bytes: u64,
    /// The peer's window, from the first byte that it has not acknowledged.
    pub peer_window_bytes: u64,
    /// Whether they were given to a subflow that could not deliver them so far.
    pub reinjection: bool,
    /// Subflows that they were given to, one bit each.
    pub sent_on: u64,
}

impl Chunk {
    /// Bytes that may go now.
    pub fn sendable_bytes(&self) -> u64 {
        self.bytes.min(self.window_bytes)
    }
}

/// What a scheduler decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Give the first `bytes` to each of these subflows, one bit each.
    Send {
        /// Subflows, one bit each.
        subflows: u64,
        /// Bytes; at most [`Chunk::bytes`] and [`Chunk::window_bytes`].
        bytes: u64,
    },
    /// Nothing now. Asked again at every ACK, and at this time ([`Time::MAX`]: no need).
    Wait(Time),
}

/// A scheduler of one connection.
pub trait Scheduler: Send {
    /// Where the next bytes go. Asked again until it waits or nothing is left.
    fn choose(&mut self, now: Time, chunk: &Chunk, paths: &[PathView]) -> Choice;

    /// Whether subflows send from queues of their own, filled ahead of their windows (as upstream Linux does).
    fn queues_ahead(&self) -> bool {
        false
    }

    /// Whether it is also asked, before new data, where copies of what is under way go: for every subflow with room about
    /// the first bytes that this one was not given. [`Chunk::sent_on`] then says who was.
    fn copies(&self) -> bool {
        false
    }

    /// Whether its kernel mends what fills the receive buffer, by opportunistic retransmission and penalisation, as the out-of-tree
    /// kernel does with `mptcp_rcv_buf_optimization` in `mptcp_sched.c`, `mptcp_blest.c` and `mptcp_ecf.c`.
    fn mends_buffer(&self) -> bool {
        false
    }

    /// Data waits, and a subflow for it, but the peer's window is full.
    fn blocked(&mut self) {}
}
