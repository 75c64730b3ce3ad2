//! HyStart (Ha, Rhee: Taming the elephants, 2011) as in Linux (`net/ipv4/tcp_cubic.c`, 6.x): slow start ends where ACKs show a
//! queue, by a train of them or by their delay.

use crate::congestion::{Acked, Window, rounds::Rounds};
use wire::Time;

/// hystart_low_window
const LEAST_WINDOW: f64 = 16.0;
/// hystart_ack_delta_us
const TRAIN_GAP_NS: i64 = 2_000_000;
/// HYSTART_MIN_SAMPLES
const SAMPLES: u32 = 8;
/// How long super-frames may hold ACKs up (`hystart_ack_delay`); less only above 2 Gbit/s.
const MERGING_NS: i64 = 1_000_000;

/// Whether slow start has seen a queue.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HyStart {
    rounds: Rounds,
    round: Round,
    min_rtt_ns: Option<i64>,
    paced: bool,
    /// Only once, until a time-out: what makes the window smaller later than where it was found is known to be slow start.
    found: bool,
}

/// A round trip of slow start.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    start: Time,
    /// The last ACK of its train.
    train: Time,
    least_ns: i64,
    samples: u32,
}

impl HyStart {
    /// `paced`: whether the sender spreads what it sends.
    pub fn new(paced: bool) -> HyStart {
        HyStart { paced, ..HyStart::default() }
    }

    /// A time-out (bictcp_reset): a queue is looked for again.
    pub fn reset(&mut self) {
        *self = HyStart::new(self.paced);
    }

    /// Sees an ACK.
    pub fn acked(&mut self, window: &mut Window, acked: &Acked) {
        self.count(acked);
        let Some(rtt_ns) = acked.rtt_ns else { return };
        let min_rtt_ns = self.min_rtt_ns.map_or(rtt_ns, |least| least.min(rtt_ns));
        self.min_rtt_ns = Some(min_rtt_ns);
        self.end(window, acked, rtt_ns, min_rtt_ns);
    }

    /// An ACK came, whatever becomes of it.
    pub fn count(&mut self, acked: &Acked) {
        self.rounds.count(acked);
    }

    /// Ends slow start if an ACK shows that it is time. The ACK has a round-trip time of `rtt_ns`, the least is `min_rtt_ns`.
    pub fn end(&mut self, window: &mut Window, acked: &Acked, rtt_ns: i64, min_rtt_ns: i64) {
        if !self.found
            && window.cwnd_packets < window.ssthresh_packets
            && self.is_found(acked, window.cwnd_packets, rtt_ns, min_rtt_ns)
        {
            self.found = true;
            window.ssthresh_packets = window.cwnd_packets;
        }
    }

    fn is_found(&mut self, acked: &Acked, cwnd_packets: f64, rtt_ns: i64, min_rtt_ns: i64) -> bool {
        let now = acked.now;
        if self.rounds.begins(acked) {
            self.round = Round { start: now, train: now, least_ns: i64::MAX, samples: 0 };
        }
        let round = &mut self.round;
        // Only now: rounds begin with flights, whatever the window. As in Linux since 6.14 (commit 25c1a9ca53db, "fix
        // incorrect HyStart round start detection"): begun within a flight, a round sees the queue that the flight itself makes.
        if cwnd_packets < LEAST_WINDOW {
            return false;
        }
        if now - round.train <= TRAIN_GAP_NS {
            round.train = now;
            // Pacing may have spread the train over half of the round trip.
            let threshold_ns = (min_rtt_ns + MERGING_NS) / if self.paced { 1 } else { 2 };
            if now - round.start > threshold_ns {
                return true;
            }
        }
        round.least_ns = round.least_ns.min(rtt_ns);
        if round.samples < SAMPLES {
            round.samples += 1;
            return false;
        }
        round.least_ns > min_rtt_ns + (min_rtt_ns / 8).clamp(4_000_000, 16_000_000)
    }
}
