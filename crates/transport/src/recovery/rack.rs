//! Loss detection by time (RFC 8985 §6): a segment is lost when one sent later was delivered and the reordering window
//! has passed.

use super::newreno::THRESHOLD;
use super::scoreboard::{Record, Verdict};
use wire::Time;

const ROUNDS_TO_FORGET: u32 = 16;
/// What Linux adds to every wait, so that ACKs under way decide (TCP_TIMEOUT_MIN_US).
pub const MARGIN_NS: i64 = 2_000_000;

/// What is known of deliveries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rack {
    /// When the latest segment known as delivered was sent, and where it ends.
    sent: Time,
    end: u64,
    /// Of the one that was delivered last.
    rtt_ns: i64,
    advanced: bool,
    highest: u64,
    reordering: bool,
    /// From the beginning of a segment to the end of the one that overtook it by most (tcp_check_sack_reordering), and where
    /// the first of those begins that the present ACK tells of.
    overtaken_bytes: u64,
    overtaken_from: Option<u64>,
    duplicate_round: Option<u64>,
    steps: u32,
    persist: u32,
}

/// What bounds the reordering window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Circumstances {
    /// In recovery, fast or from a time-out.
    pub recovering: bool,
    /// Segments selectively acknowledged.
    pub sacked: u32,
    /// Smoothed round-trip time.
    pub srtt_ns: i64,
    /// Least round-trip time.
    pub min_rtt_ns: i64,
}

impl Rack {
    /// A segment was delivered (RFC 8985 §6.2 steps 2 and 3). `other_copy`: the peer's echo says that not the last copy
    /// of it arrived.
    pub fn delivered(&mut self, now: Time, record: &Record, min_rtt_ns: i64, other_copy: bool) {
        let rtt = now - record.last_sent;
        if record.transmissions > 1 {
            if other_copy || rtt < min_rtt_ns {
                return;
            }
        } else if record.end() < self.highest {
            self.overtaken(record.offset);
        }
        self.highest = self.highest.max(record.end());
        (self.advanced, self.rtt_ns) = (true, rtt);
        if (record.last_sent, record.end()) > (self.sent, self.end) {
            (self.sent, self.end) = (record.last_sent, record.end());
        }
    }

    /// What begins at `offset` arrived after what was sent later.
    pub fn overtaken(&mut self, offset: u64) {
        self.reordering = true;
        self.overtaken_from = Some(self.overtaken_from.map_or(offset, |from| from.min(offset)));
    }

    /// All of an ACK was read: the first overtaken segment in it was overtaken by everything up to the highest one delivered.
    pub fn read(&mut self) {
        if let Some(from) = self.overtaken_from.take() {
            self.overtaken_bytes = self.overtaken_bytes.max(self.highest.saturating_sub(from));
        }
    }

    /// Whether a segment was overtaken by one that ends more than three segments behind its beginning: the window then grows
    /// by all that is delivered, in whatever order (tcp_may_raise_cwnd).
    pub fn overtakes_far(&self, mss_bytes: u32) -> bool {
        self.overtaken_bytes > u64::from(THRESHOLD * mss_bytes)
    }

    /// Whether something was delivered since it was asked last: otherwise there is nothing new to judge.
    pub fn take_advanced(&mut self) -> bool {
        std::mem::take(&mut self.advanced)
    }

    /// The peer reported a duplicate: we were too quick (§6.2 step 4). As in Linux only what reordering explains
    /// (tcp_dsack_seen).
    pub fn duplicate(&mut self, acked: u64, next: u64) {
        if !self.reordering {
            return;
        }
        if self.duplicate_round.is_some_and(|round| acked >= round) {
            self.duplicate_round = None;
        }
        if self.duplicate_round.is_none() {
            self.duplicate_round = Some(next);
            (self.steps, self.persist) = (self.steps + 1, ROUNDS_TO_FORGET);
        }
    }

    /// Recovery ended: after enough of them without a duplicate the window is small again.
    pub fn recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.steps = 0;
        }
    }

    /// The reordering window (§6.2 step 4).
    pub fn window_ns(&self, now: &Circumstances) -> i64 {
        if !self.reordering && (now.recovering || now.sacked >= THRESHOLD) {
            return 0;
        }
        (i64::from(self.steps + 1) * (now.min_rtt_ns / 4)).min(now.srtt_ns)
    }

    /// Whether `record` was sent longer ago than a round trip takes (§6.3; tcp_timeout_mark_lost).
    pub fn is_overdue(&self, now: Time, record: &Record) -> bool {
        now - record.last_sent >= self.rtt_ns
    }

    /// Whether `record` is lost (§6.2 step 5).
    pub fn judge(&self, now: Time, record: &Record, window_ns: i64) -> Verdict {
        if (record.last_sent, record.end()) >= (self.sent, self.end) {
            return Verdict::Unknown;
        }
        match self.rtt_ns + window_ns - (now - record.last_sent) {
            ..=0 => Verdict::Lost,
            remaining => Verdict::Wait(remaining),
        }
    }
}
