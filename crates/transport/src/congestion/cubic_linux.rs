//! CUBIC as in Linux (net/ipv4/tcp_cubic.c, 6.x): in integers, with HyStart.
//!
//! It differs from [`Cubic`](super::Cubic) in three ways. Reno's share of the window never grows faster than by 8/15 of a packet
//! per round trip, where RFC 9438 §4.3 goes on with a whole one. The curve is that of a round trip later from the start. And
//! slow start ends where ACKs show a queue, by [`HyStart`] unless another slow start is asked for.

use super::linux::Additive;
use super::{Acked, Cause, Congestion, Window};
use crate::slow_start::{HyStart, SlowStart};
use wire::Time;

pub(super) const SUMMARY: &str = "as in Linux: CUBIC in integers, with HyStart; each subflow like a TCP connection";

/// What of a window is left after a loss, in 1024ths.
const BETA: u64 = 717;
/// C = 0.4, in 1024ths of a packet per second cubed.
const CUBE_SCALE: u64 = 410;
/// ACKs per packet of Reno's share, in eighths of the window.
const RENO_EIGHTHS: u64 = 8 * (1024 + BETA) / 3 / (1024 - BETA);
/// The kernel's clock: 250 Hz, as most distributions have it.
const TICK_NS: i64 = 4_000_000;
/// A window that has not changed is not looked at again for 1/32 s.
const PATIENCE_NS: i64 = 1_000_000_000 / 32 / TICK_NS * TICK_NS;
/// After a loss, round-trip times count again after this.
const DEAF_NS: i64 = 1_000_000_000;

/// CUBIC as in Linux on every subflow, uncoupled.
pub struct CubicLinux {
    subflows: Vec<Subflow>,
    /// Whether HyStart ends slow start.
    hystart: bool,
    paced: bool,
}

impl Default for CubicLinux {
    fn default() -> CubicLinux {
        CubicLinux { subflows: Vec::new(), hystart: true, paced: false }
    }
}

/// A subflow; times in whole ticks.
#[derive(Clone, Copy, Default)]
struct Subflow {
    curve: Curve,
    start: HyStart,
    min_rtt_ns: Option<i64>,
}

#[derive(Clone, Copy, Default)]
struct Curve {
    /// The window before the last loss, less where it had not reached the one before; 0 before any.
    last_max: u64,
    epoch: Option<Epoch>,
    /// ACKs per packet of growth.
    per_packet: u64,
    additive: Additive,
    /// When and with which window it was last reckoned.
    reckoned: Option<(Time, u64)>,
}

/// Congestion avoidance since the last loss.
#[derive(Clone, Copy)]
struct Epoch {
    start: Time,
    /// From the start to the flat of the curve, in 1024ths of a second, and the window there.
    k: u64,
    origin: u64,
    /// What Reno would have, and the ACKs that have not made a packet of it.
    reno: u64,
    reno_acks: u64,
}

impl Curve {
    /// How many ACKs make a packet now.
    fn reckon(&mut self, now: Time, cwnd: u64, acked: u64, min_rtt_ns: i64) {
        if let Some(epoch) = &mut self.epoch {
            epoch.reno_acks += acked;
        }
        if self.reckoned.is_some_and(|(at, before)| before == cwnd && now - at <= PATIENCE_NS) {
            return;
        }
        let same_tick = self.epoch.is_some() && self.reckoned.is_some_and(|(at, _)| at == now);
        let last_max = self.last_max;
        let epoch = self.epoch.get_or_insert_with(|| {
            let gap = last_max.saturating_sub(cwnd);
            let k = ((u128::from(gap) << 40) / u128::from(CUBE_SCALE)) as u64;
            Epoch { start: now, k: cube_root(k), origin: cwnd.max(last_max), reno: cwnd, reno_acks: acked }
        });
        if !same_tick {
            self.reckoned = Some((now, cwnd));
            // The kernel's `usecs_to_jiffies` rounds up.
            let elapsed_ns = (now - epoch.start) + ticks(min_rtt_ns + TICK_NS - 1);
            let time = (i128::from(elapsed_ns) * 1024 / 1_000_000_000) as u64;
            let offset = u128::from(time.abs_diff(epoch.k));
            let rise = ((u128::from(CUBE_SCALE) * offset * offset * offset) >> 40) as u64;
            let target = if time < epoch.k { epoch.origin.saturating_sub(rise) } else { epoch.origin + rise };
            self.per_packet = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
            if last_max == 0 {
                self.per_packet = self.per_packet.min(20);
            }
        }
        let each = ((cwnd * RENO_EIGHTHS) >> 3).max(1);
        while epoch.reno_acks > each {
            epoch.reno_acks -= each;
            epoch.reno += 1;
        }
        if epoch.reno > cwnd {
            self.per_packet = self.per_packet.min(cwnd / (epoch.reno - cwnd));
        }
        self.per_packet = self.per_packet.max(2);
    }
}

impl Subflow {
    fn new(paced: bool) -> Subflow {
        Subflow { start: HyStart::new(paced), ..Subflow::default() }
    }
}

impl CubicLinux {
    fn of(&mut self, i: usize) -> &mut Subflow {
        if self.subflows.len() <= i {
            self.subflows.resize(i + 1, Subflow::default());
        }
        &mut self.subflows[i]
    }
}

impl Congestion for CubicLinux {
    fn joined(&mut self, i: usize, _: Time) {
        *self.of(i) = Subflow::new(self.paced);
    }

    fn leave_slow_start(&mut self, kind: SlowStart, paced: bool) -> bool {
        self.hystart = matches!(kind, SlowStart::Own | SlowStart::HyStart);
        self.paced = paced;
        !self.hystart
    }

    /// cubictcp_acked: also while losses are repaired, where the window may be below the threshold
    fn measured(&mut self, i: usize, all: &mut [Window], acked: &Acked) {
        let hystart = self.hystart;
        let subflow = self.of(i);
        subflow.start.count(acked);
        let is_deaf = subflow.curve.epoch.is_some_and(|epoch| acked.now - epoch.start < DEAF_NS);
        if let Some(rtt_ns) = acked.rtt_ns.filter(|_| !is_deaf) {
            let min_rtt_ns = subflow.min_rtt_ns.map_or(rtt_ns, |least| least.min(rtt_ns));
            subflow.min_rtt_ns = Some(min_rtt_ns);
            if hystart {
                subflow.start.end(&mut all[i], acked, rtt_ns, min_rtt_ns);
            }
        }
    }

    fn acked(&mut self, i: usize, all: &mut [Window], acked: &Acked) {
        self.measured(i, all, acked);
        if !acked.cwnd_limited {
            return;
        }
        let packets = u64::from(self.slow_start(i, all, acked));
        if packets > 0 {
            let Subflow { curve, min_rtt_ns, .. } = self.of(i);
            let cwnd = all[i].cwnd_packets as u64;
            let now = Time::from_nanos(ticks(acked.now.as_nanos()));
            curve.reckon(now, cwnd, packets, min_rtt_ns.unwrap_or(0));
            all[i].cwnd_packets = curve.additive.grow(cwnd, curve.per_packet, packets) as f64;
        }
    }

    /// cubictcp_recalc_ssthresh
    fn lost(&mut self, i: usize, all: &mut [Window], _: Time, _: Cause) {
        let window = &mut all[i];
        let cwnd = window.cwnd_packets as u64;
        window.ssthresh_packets = (cwnd * BETA / 1024).max(2) as f64;
        let curve = &mut self.of(i).curve;
        // A window that does not reach its last height makes room for others.
        let is_short = cwnd < curve.last_max;
        curve.last_max = if is_short { cwnd * (1024 + BETA) / 2048 } else { cwnd };
        (curve.epoch, curve.additive) = (None, Additive::default());
    }

    /// cubictcp_state
    fn timed_out(&mut self, i: usize) {
        *self.of(i) = Subflow::new(self.paced);
    }

    /// cubictcp_cwnd_event: the curve stands still while nothing is sent.
    fn resumed(&mut self, i: usize, now: Time, idle_ns: i64, _: bool) {
        if let Some(epoch) = &mut self.of(i).curve.epoch {
            epoch.start = (epoch.start + ticks(idle_ns)).min(Time::from_nanos(ticks(now.as_nanos())));
        }
    }

    fn is_reno_alone(&self) -> bool {
        false
    }
}

/// Cut to whole ticks of the kernel's clock.
fn ticks(ns: i64) -> i64 {
    ns / TICK_NS * TICK_NS
}

/// The integer below the cube root.
fn cube_root(x: u64) -> u64 {
    let mut root = 0;
    for bit in (0..22).rev() {
        let next: u64 = root | 1 << bit;
        if u128::from(next).pow(3) <= u128::from(x) {
            root = next;
        }
    }
    root
}

#[cfg(test)]
mod tests {
    use super::cube_root;

    #[test]
    fn cubes_have_their_roots() {
        for root in [0u64, 1, 2, 3, 100, 2_642_245] {
            let cube = root.pow(3);
            assert_eq!(cube_root(cube), root);
            assert_eq!(cube_root(cube.saturating_sub(1)), root.saturating_sub(1));
        }
    }
}
