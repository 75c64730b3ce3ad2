//! CUBIC (RFC 9438), on every subflow by itself. Its slow start is that of RFC 5681, without HyStart.

use super::{Acked, Cause, Congestion, Window};
use wire::Time;

pub(super) const SUMMARY: &str =
    "RFC 9438: each subflow like a TCP connection; the window is a cubic function of the time since the loss";

/// RFC 9438 §5
const C: f64 = 0.4;
/// RFC 9438 §4.6
const BETA: f64 = 0.7;
/// RFC 9438 §4.3
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// CUBIC on every subflow, uncoupled.
#[derive(Default)]
pub struct Cubic {
    subflows: Vec<Subflow>,
}

/// A subflow now, and before its last loss.
#[derive(Clone, Copy, Default)]
struct Subflow {
    now: Curve,
    before: Curve,
}

/// Where a subflow is on its curve; windows in packets.
#[derive(Clone, Copy, Default)]
struct Curve {
    /// Where the next curve is flat; 0 where it begins flat: after slow start without a loss, and after a time-out.
    w_max: f64,
    /// The window at the last loss.
    cwnd_prior: f64,
    /// This stage of congestion avoidance, once it has begun.
    epoch: Option<Epoch>,
    /// The last ACK.
    acked_at: Option<Time>,
}

/// A stage of congestion avoidance.
#[derive(Clone, Copy)]
struct Epoch {
    /// Its length, but for times in which the window was not used.
    elapsed_ns: i64,
    /// When the curve is flat, in seconds.
    k: f64,
    /// And where.
    w_max: f64,
    /// The window that Reno would have.
    w_est: f64,
}

impl Epoch {
    /// RFC 9438 eq. (2)
    fn new(cwnd: f64, w_max: f64) -> Epoch {
        let w_max = w_max.max(cwnd);
        Epoch { elapsed_ns: 0, k: cube_root((w_max - cwnd) / C), w_max, w_est: cwnd }
    }

    /// W_cubic(t), RFC 9438 eq. (1).
    fn window(&self, seconds: f64) -> f64 {
        let t = seconds - self.k;
        C * (t * t * t) + self.w_max
    }
}

impl Curve {
    /// Time since the last ACK that counts: RFC 9438 §5.8 leaves out what the application did not use, and so no more
    /// than a round trip where two went by without an ACK.
    fn step(&mut self, acked: &Acked, srtt_ns: i64) -> i64 {
        let gap = self.acked_at.map_or(0, |at| acked.now - at);
        self.acked_at = Some(acked.now);
        if gap > 2 * srtt_ns { srtt_ns } else { gap }
    }

    fn avoid(&mut self, window: &mut Window, packets: u32, step_ns: i64, srtt_ns: i64) {
        let (cwnd, w_max, cwnd_prior) = (&mut window.cwnd_packets, self.w_max, self.cwnd_prior);
        let epoch = match &mut self.epoch {
            Some(epoch) => {
                epoch.elapsed_ns += step_ns;
                epoch
            }
            none => none.insert(Epoch::new(*cwnd, w_max)),
        };
        let now = epoch.window(seconds(epoch.elapsed_ns));
        let soon = epoch.window(seconds(epoch.elapsed_ns + srtt_ns));
        for _ in 0..packets {
            // RFC 9438 §4.3
            epoch.w_est += if epoch.w_est < cwnd_prior { ALPHA } else { 1.0 } / *cwnd;
            *cwnd = if now < epoch.w_est {
                cwnd.max(epoch.w_est)
            } else {
                // RFC 9438 §4.4, §4.5
                let target = soon.clamp(*cwnd, 1.5 * *cwnd);
                *cwnd + (target - *cwnd) / *cwnd
            };
        }
    }
}

impl Cubic {
    fn of(&mut self, i: usize) -> &mut Subflow {
        if self.subflows.len() <= i {
            self.subflows.resize(i + 1, Subflow::default());
        }
        &mut self.subflows[i]
    }
}

impl Congestion for Cubic {
    fn joined(&mut self, i: usize, _: Time) {
        *self.of(i) = Subflow::default();
    }

    fn acked(&mut self, i: usize, all: &mut [Window], acked: &Acked) {
        let srtt_ns = all[i].srtt_ns.unwrap_or(0);
        let step_ns = self.of(i).now.step(acked, srtt_ns);
        if !acked.cwnd_limited {
            return;
        }
        let packets = self.slow_start(i, all, acked);
        if packets > 0 {
            self.of(i).now.avoid(&mut all[i], packets, step_ns, srtt_ns);
        }
    }

    fn lost(&mut self, i: usize, all: &mut [Window], _: Time, cause: Cause) {
        let window = &mut all[i];
        let cwnd = window.cwnd_packets;
        // RFC 9438 §4.6
        window.ssthresh_packets = (cwnd * BETA).max(2.0);
        let subflow = self.of(i);
        subflow.before = subflow.now;
        let curve = &mut subflow.now;
        // RFC 9438 §4.7: a window that does not reach its last height makes room for others.
        let top = curve.epoch.map_or(curve.w_max, |epoch| epoch.w_max);
        curve.w_max = match cause {
            Cause::FastRetransmit if cwnd < top => cwnd * (1.0 + BETA) / 2.0,
            Cause::FastRetransmit => cwnd,
            // RFC 9438 §4.8
            Cause::Timeout => 0.0,
        };
        curve.cwnd_prior = cwnd;
        curve.epoch = None;
    }

    /// RFC 9438 §4.9
    fn undone(&mut self, i: usize) {
        let subflow = self.of(i);
        subflow.now = Curve { acked_at: subflow.now.acked_at, ..subflow.before };
    }

    fn is_reno_alone(&self) -> bool {
        false
    }
}

fn seconds(ns: i64) -> f64 {
    ns as f64 / 1e9
}

/// Newton's method rather than the platform's, which differs from machine to machine. Exact to a few last bits.
fn cube_root(x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    // A third of the exponent: within a few percent, which each step squares.
    let mut root = f64::from_bits(x.to_bits() / 3 + 0x2A9F_7625_3119_D328);
    for _ in 0..5 {
        root = (2.0 * root + x / (root * root)) / 3.0;
    }
    root
}

#[cfg(test)]
mod tests {
    use super::cube_root;

    #[test]
    fn cubes_have_their_roots() {
        for root in [1e-3, 0.1, 1.0, 2.0, 3.0, 4.217_163_326_508_746, 1e3, 123_456.789] {
            let x = root * root * root;
            assert!((cube_root(x) / root - 1.0).abs() < 1e-15, "{root}");
        }
        assert_eq!(cube_root(0.0), 0.0);
        assert_eq!(cube_root(-1e-12), 0.0);
    }
}
