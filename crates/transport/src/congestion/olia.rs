//! OLIA, "opportunistic linked increases" (draft-khalili-mptcp-congestion-control-05): traffic moves to the best paths.

use super::{Acked, Cause, Congestion, Window};
use wire::Time;

pub(super) const SUMMARY: &str = "opportunistic linked increases: traffic moves to the best paths, without flapping";

/// Opportunistic linked increases.
#[derive(Default)]
pub struct Olia {
    subflows: Vec<Runs>,
}

/// Bytes that were acknowledged between losses.
#[derive(Clone, Copy, Default)]
pub(super) struct Runs {
    /// Since the last loss.
    since: u64,
    /// Between the two losses before.
    between: u64,
    /// As they were before the last loss.
    before: (u64, u64),
}

impl Runs {
    /// l_r of the draft: an estimate of the bytes between two losses.
    pub fn longest(&self) -> u64 {
        self.since.max(self.between)
    }

    pub fn acked(&mut self, bytes: u64) {
        self.since += bytes;
    }

    pub fn lost(&mut self) {
        self.before = (self.since, self.between);
        // Losses with nothing acknowledged between them are one.
        if self.since > 0 {
            self.between = self.since;
            self.since = 0;
        }
    }

    fn undone(&mut self) {
        (self.since, self.between) = (self.before.0 + self.since, self.before.1);
    }
}

impl Olia {
    fn of(&mut self, i: usize) -> &mut Runs {
        if self.subflows.len() <= i {
            self.subflows.resize(i + 1, Runs::default());
        }
        &mut self.subflows[i]
    }

    /// alpha_r of the draft: positive on the best paths that have small windows, negative on those with the largest.
    pub fn alpha(&self, i: usize, all: &[Window]) -> f64 {
        let paths = || all.iter().enumerate().filter(|(_, window)| window.coupling().is_some());
        // l / R² in integers: a subflow is of a set if it equals the greatest.
        let quality = |j: usize| (self.subflows.get(j).map_or(0, Runs::longest), all[j].srtt_ns.unwrap_or(1).max(1));
        let better = |a: (u64, i64), b: (u64, i64)| {
            let square = |rtt: i64| rtt as u128 * rtt as u128;
            // Windows of 2⁴⁰ bytes and round-trip times of an hour have room.
            u128::from(a.0).saturating_mul(square(b.1)) > u128::from(b.0).saturating_mul(square(a.1))
        };
        // Whole packets, as the kernel counts them: windows that send alike are equal.
        let size = |window: &Window| {
            window
                .coupling()
                .map_or(0, |(bytes, _)| (bytes / f64::from(window.mss_bytes)) as u64 * u64::from(window.mss_bytes))
        };
        let largest = paths().map(|(_, window)| size(window)).max().unwrap_or(0);
        let is_largest = |j: usize| size(&all[j]) == largest;
        let is_best = |j: usize| !paths().any(|(k, _)| better(quality(k), quality(j)));

        let count = paths().count() as f64;
        let collected = paths().filter(|&(j, _)| is_best(j) && !is_largest(j)).count();
        let largest_count = paths().filter(|&(j, _)| is_largest(j)).count();
        if collected == 0 || all[i].coupling().is_none() {
            0.0
        } else if is_largest(i) {
            -1.0 / (count * largest_count as f64)
        } else if is_best(i) {
            1.0 / (count * collected as f64)
        } else {
            0.0
        }
    }

    /// What a packet adds; may be less than nothing.
    fn increase(&self, i: usize, all: &[Window]) -> f64 {
        let window = &all[i];
        let (mut rate, mut count) = (0.0, 0);
        for (bytes, rtt) in all.iter().filter_map(Window::coupling) {
            rate += bytes / rtt;
            count += 1;
        }
        match window.coupling() {
            // In bytes, as segments may differ in size.
            Some((bytes, rtt)) if count > 1 => {
                bytes / (rtt * rtt) / (rate * rate) * f64::from(window.mss_bytes)
                    + self.alpha(i, all) / window.cwnd_packets
            }
            // Alone it is Reno to the bit, which the sums are not.
            _ => 1.0 / window.cwnd_packets,
        }
    }
}

impl Congestion for Olia {
    fn joined(&mut self, i: usize, _: Time) {
        *self.of(i) = Runs::default();
    }

    fn acked(&mut self, i: usize, all: &mut [Window], acked: &Acked) {
        self.of(i).acked(acked.bytes);
        if !acked.cwnd_limited {
            return;
        }
        // Anew for every packet: an ACK of two does what two ACKs of one do, but for the bytes between losses.
        for _ in 0..self.slow_start(i, all, acked) {
            let increase = self.increase(i, all);
            let window = &mut all[i];
            window.cwnd_packets = (window.cwnd_packets + increase).max(1.0);
            if increase < 0.0 {
                // Or slow start would at once undo what alpha takes.
                window.ssthresh_packets = window.ssthresh_packets.min(window.cwnd_packets);
            }
        }
    }

    fn lost(&mut self, i: usize, all: &mut [Window], _: Time, _: Cause) {
        all[i].ssthresh_packets = all[i].half_packets();
        self.of(i).lost();
    }

    fn undone(&mut self, i: usize) {
        self.of(i).undone();
    }
}
