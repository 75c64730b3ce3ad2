//! wVegas, weighted Vegas (Cao, Xu, Fu: Delay-based congestion control for multipath TCP, ICNP 2012) as in the out-of-tree
//! kernel (`net/mptcp/mptcp_wvegas.c`), in its integers: subflows keep so many packets in queues, together as many as one TCP Vegas.
//!
//! The least round-trip time that a subflow has had since it last paused for longer than a time-out is its base: on a path that
//! becomes longer the window falls to 2 and stays there until the next pause. As long as something is out of order, or is being repaired, it is Reno.

use super::linux::{of, packets};
use super::reno::Reno;
use super::rounds::Rounds;
use super::{Acked, Cause, Congestion, Window};
use parameters::{Fault, Packets, parameters};
use wire::Time;

pub(super) const SUMMARY: &str =
    "weighted Vegas: each subflow keeps a few packets in queues, in proportion to its rate";

parameters! {
    struct Parameters {
        /// Packets that all subflows together keep in queues.
        total_alpha: Packets = Packets(10),
        /// Packets that a subflow keeps in queues until its rate is known.
        initial_alpha: Packets = Packets(2),
        /// Packets in queues at which slow start ends.
        gamma: Packets = Packets(1),
    }
}

/// Bits behind the point of rates and weights.
const BITS: u32 = 16;
/// A round with no more samples is Reno's.
const FEW_SAMPLES: u64 = 2;
const LEAST_ALPHA: u64 = 2;
const LEAST_WINDOW: u64 = 2;

/// Weighted Vegas.
pub struct Wvegas {
    parameters: Parameters,
    subflows: Vec<Subflow>,
}

#[derive(Clone, Default)]
struct Subflow {
    rounds: Rounds,
    /// Of this round: round-trip times together, in microseconds, and how many.
    rtts_us: u64,
    samples: u64,
    base_rtt_us: Option<u64>,
    /// Packets per microsecond, with 16 bits behind the point.
    rate: u64,
    /// What is known of its share: 1 until its rate is compared.
    weight: Option<u64>,
    alpha: Option<u64>,
    /// Least queueing delay since the last drain; 0: none yet.
    queue_us: u64,
    /// Packets were out of order, or are being repaired: the window is Reno's.
    disordered: bool,
}

impl Wvegas {
    pub(crate) fn new(parameters: Parameters) -> Result<Wvegas, Fault> {
        Ok(Wvegas { parameters, subflows: Vec::new() })
    }

    /// The end of a round with enough samples.
    fn adjust(&mut self, i: usize, all: &mut [Window], acked: &Acked) {
        let subflow = of(&mut self.subflows, i);
        let (rtt, base) = (subflow.rtts_us / subflow.samples, subflow.base_rtt_us.unwrap_or(u64::MAX));
        let cwnd = packets(&all[i]);
        let queued = cwnd * (rtt - base) / rtt;
        if all[i].cwnd_packets < all[i].ssthresh_packets {
            if queued > self.parameters.gamma.0 {
                let cwnd = cwnd.min(cwnd * base / rtt + 1);
                set(&mut all[i], cwnd, true);
            } else {
                self.slow_start(i, all, acked);
            }
            return;
        }
        let alpha = self.alpha(i, all, rtt, queued);
        let subflow = of(&mut self.subflows, i);
        let mut cwnd = match queued.cmp(&alpha) {
            std::cmp::Ordering::Greater => cwnd - 1,
            // What is not used does not grow; the kernel's does.
            std::cmp::Ordering::Less if acked.cwnd_limited => cwnd + 1,
            _ => cwnd,
        };
        let queue_us = rtt - base;
        if subflow.queue_us == 0 || subflow.queue_us > queue_us {
            subflow.queue_us = queue_us;
        }
        // In the kernel no two of these times are quite equal; here, without a queue, all are.
        if queue_us > 0 && queue_us >= 2 * subflow.queue_us {
            cwnd = (cwnd * ((base << BITS) / (2 * rtt))) >> BITS;
            subflow.queue_us = 0;
        }
        set(&mut all[i], cwnd, queued > alpha);
    }

    /// Packets that it may have in queues.
    fn alpha(&mut self, i: usize, all: &[Window], rtt: u64, queued: u64) -> u64 {
        let (initial, total) = (self.parameters.initial_alpha.0, self.parameters.total_alpha.0);
        let alpha = self.subflows[i].alpha.unwrap_or(initial);
        if queued < alpha {
            return alpha;
        }
        let rate = (packets(&all[i]) << BITS) / rtt;
        self.subflows[i].rate = rate;
        // One whose round has just begun is left out.
        let counts = |(window, subflow): &(&Window, &Subflow)| window.usable && subflow.samples > 0;
        let rates: u64 = all.iter().zip(&self.subflows).filter(counts).map(|(_, subflow)| subflow.rate).sum();
        let subflow = &mut self.subflows[i];
        if rates > 0 && rate > 0 {
            subflow.weight = Some((rate << BITS) / rates);
        }
        let alpha = ((subflow.weight.unwrap_or(1 << BITS) * total) >> BITS).max(LEAST_ALPHA);
        subflow.alpha = Some(alpha);
        alpha
    }
}

impl Congestion for Wvegas {
    fn joined(&mut self, i: usize, _: Time) {
        *of(&mut self.subflows, i) = Subflow::default();
    }

    fn acked(&mut self, i: usize, all: &mut [Window], acked: &Acked) {
        let subflow = of(&mut self.subflows, i);
        if let Some(rtt_ns) = acked.rtt_ns {
            let rtt_us = rtt_ns as u64 / 1000 + 1;
            subflow.base_rtt_us = Some(subflow.base_rtt_us.map_or(rtt_us, |base| base.min(rtt_us)));
            subflow.rtts_us += rtt_us;
            subflow.samples += 1;
        }
        if acked.disordered {
            // mptcp_wvegas_state, mptcp_wvegas_disable
            subflow.disordered = true;
            return Reno.acked(i, all, acked);
        }
        if subflow.disordered {
            // mptcp_wvegas_enable
            *subflow = Subflow { base_rtt_us: subflow.base_rtt_us, ..Subflow::default() };
        }
        if !subflow.rounds.is_new(acked) {
            if acked.cwnd_limited {
                self.slow_start(i, all, acked);
            }
            return;
        }
        if subflow.samples > FEW_SAMPLES {
            self.adjust(i, all, acked);
        } else if acked.cwnd_limited {
            for _ in 0..self.slow_start(i, all, acked) {
                all[i].cwnd_packets += 1.0 / all[i].cwnd_packets;
            }
        }
        let subflow = of(&mut self.subflows, i);
        (subflow.rtts_us, subflow.samples) = (0, 0);
    }

    fn lost(&mut self, i: usize, all: &mut [Window], _: Time, _: Cause) {
        all[i].ssthresh_packets = all[i].half_packets();
        let subflow = of(&mut self.subflows, i);
        *subflow = Subflow { base_rtt_us: subflow.base_rtt_us, ..Subflow::default() };
    }

    /// mptcp_wvegas_cwnd_event: with a window that begins anew everything does, the base too.
    fn resumed(&mut self, i: usize, _: Time, _: i64, restart: bool) {
        if restart {
            *of(&mut self.subflows, i) = Subflow::default();
        }
    }

    fn is_reno_alone(&self) -> bool {
        false
    }
}

/// Sets the window, and where slow start ends: below it if it shrank, and at three quarters of it at least (tcp_current_ssthresh).
fn set(window: &mut Window, cwnd: u64, shrank: bool) {
    let cwnd = cwnd.max(LEAST_WINDOW);
    window.cwnd_packets = cwnd as f64;
    if shrank {
        window.ssthresh_packets = window.ssthresh_packets.min((cwnd - 1) as f64);
    }
    window.ssthresh_packets = window.ssthresh_packets.max((cwnd / 2 + cwnd / 4) as f64);
}
