//! BLEST: blocking estimation (Ferlin, Alay, Mehani, Boreli, IFIP Networking 2016; `net/mptcp/mptcp_blest.c` of the
//! out-of-tree kernel).
//!
//! A slower subflow gets a segment only if the window of the connection, with that segment and what is on the slow
//! subflow in it, still has room for all that the fastest could send until the segment is acknowledged.

use super::{Choice, Chunk, LowestRtt, PathView, Scheduler, lowest_rtt};
use parameters::{Fault, Number, fault, parameters};
use wire::Time;

pub(super) const SUMMARY: &str =
    "the subflow with the lowest round-trip time; a slower one only if it will not block the window";

parameters! {
    struct Parameters {
        /// Initial λ, from 0.001 to 1000. The estimate of what the fastest subflow sends is multiplied by λ.
        lambda: Number = Number(1.2),
        /// Lower bound of λ. It falls by 0.01 per minimum round-trip time of the slower subflow.
        least_lambda: Number = Number(1.0),
        /// Upper bound of λ. It grows by 0.04 instead if the window was full despite the estimate.
        most_lambda: Number = Number(1.3),
    }
}

/// Per least round trip of the slow subflow: more after the window was full all the same, else less, in thousandths.
const LAMBDA_STEPS: (u64, u64) = (40, 10);

/// Rounds of slow start beyond which nobody looks ahead.
const MOST_ROUNDS: u64 = 16;

/// Lowest round-trip time first, unless that blocks the window.
pub struct Blest {
    /// In thousandths.
    lambda: u64,
    lambda_range: (u64, u64),
    lambda_at: Option<Time>,
    /// The window held data back since lambda was last set.
    blocked: bool,
    /// Least and greatest smoothed round-trip time of each subflow, in nanoseconds.
    srtt_ns: Vec<(u64, u64)>,
    base: LowestRtt,
}

impl Blest {
    /// lambda, min_lambda and max_lambda.
    pub(crate) fn new(Parameters { lambda, least_lambda, most_lambda }: Parameters) -> Result<Blest, Fault> {
        if !(0.001 <= least_lambda.0 && least_lambda.0 <= lambda.0) {
            return Err(fault("least_lambda", "must be from 0.001 to lambda"));
        }
        if !(lambda.0 <= most_lambda.0 && most_lambda.0 <= 1000.0) {
            return Err(fault("most_lambda", "must be from lambda to 1000"));
        }
        let [lambda, least, most] = [lambda, least_lambda, most_lambda].map(|Number(number)| (number * 1000.0) as u64);
        let (lambda_range, lambda_at) = ((least, most), None);
        Ok(Blest { lambda, lambda_range, lambda_at, blocked: false, srtt_ns: Vec::new(), base: LowestRtt })
    }

    fn remember(&mut self, paths: &[PathView]) {
        for path in paths {
            if self.srtt_ns.len() <= path.subflow {
                self.srtt_ns.resize(path.subflow + 1, (u64::MAX, 0));
            }
            let (least, most) = &mut self.srtt_ns[path.subflow];
            let srtt_ns = lowest_rtt::srtt_ns(path);
            (*least, *most) = ((*least).min(srtt_ns), (*most).max(srtt_ns));
        }
    }

    /// blestsched_update_lambda
    fn adapt(&mut self, now: Time, slow: &PathView) {
        let least_ns = self.srtt_ns[slow.subflow].0;
        let since = *self.lambda_at.get_or_insert(now);
        if ((now - since) as u64) < least_ns {
            return;
        }
        let (more, less) = LAMBDA_STEPS;
        let lambda = if self.blocked { self.lambda + more } else { self.lambda.saturating_sub(less) };
        self.lambda = lambda.clamp(self.lambda_range.0, self.lambda_range.1);
        self.lambda_at = Some(now);
        self.blocked = false;
    }

    /// blestsched_estimate_linger_time: until a segment that is sent now is acknowledged.
    fn linger_ns(&self, slow: &PathView) -> u64 {
        let (least, most) = self.srtt_ns[slow.subflow];
        let (in_flight, cwnd) = (u64::from(slow.in_flight_packets) + 1, u64::from(slow.cwnd_packets));
        // In 64 bits; the kernel's product is one of 32.
        let estimate = if in_flight >= cwnd { most } else { least + (most - least) * in_flight / cwnd };
        estimate.max(lowest_rtt::srtt_ns(slow))
    }

    /// blestsched_estimate_bytes: what the fastest sends in that time, by Reno's growth.
    fn bytes_meanwhile(&self, fast: &PathView, linger_ns: u64) -> u64 {
        let (least, most) = self.srtt_ns[fast.subflow];
        let rounds = linger_ns.checked_div((least + most) / 2).map_or(1, |rounds| rounds + 1);
        let cwnd = u64::from(fast.cwnd_packets);
        let packets = if fast.ssthresh_packets.is_infinite() {
            // The first slow start: cwnd + 2 cwnd + 4 cwnd + …
            cwnd * ((1 << rounds.min(MOST_ROUNDS)) - 1)
        } else {
            (cwnd.max(fast.ssthresh_packets as u64 + 1) + (rounds - 1) / 2).saturating_mul(rounds)
        };
        let bytes = u128::from(packets) * u128::from(fast.mss_bytes) * u128::from(self.lambda) / 1000;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

impl Scheduler for Blest {
    fn choose(&mut self, now: Time, chunk: &Chunk, paths: &[PathView]) -> Choice {
        self.remember(paths);
        let choice = self.base.choose(now, chunk, paths);
        let Some((fast, slow, bytes)) = lowest_rtt::slower(choice, chunk, paths) else { return choice };
        self.adapt(now, slow);
        let room = chunk.peer_window_bytes.saturating_sub(bytes + slow.outstanding_bytes());
        match self.bytes_meanwhile(fast, self.linger_ns(slow)) > room {
            true => Choice::Wait(Time::MAX),
            false => Choice::Send { subflows: slow.bit(), bytes },
        }
    }

    fn blocked(&mut self) {
        self.blocked = true;
    }

    fn mends_buffer(&self) -> bool {
        true
    }
}
