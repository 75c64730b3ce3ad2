//! HyStart++ (RFC 9406): where the least round-trip time of a round is longer than that of the round before, the window grows more
//! slowly for some rounds, and then slow start ends; unless the round trips become shorter again.

use crate::congestion::{Acked, Window, rounds::Rounds};

// RFC 9406 §4.3
const LEAST_THRESHOLD_NS: i64 = 4_000_000;
const GREATEST_THRESHOLD_NS: i64 = 16_000_000;
const DIVISOR: i64 = 8;
const SAMPLES: u32 = 8;
const GROWTH_DIVISOR: u32 = 4;
const SLOW_ROUNDS: u32 = 5;
/// L: most packets by which one ACK makes the window grow; a sender that paces has no such limit.
const LIMIT_PACKETS: u32 = 8;

/// HyStart++ of a subflow.
#[derive(Debug)]
pub(crate) struct HyStartPlusPlus {
    limit_packets: u32,
    rounds: Rounds,
    /// Least round-trip times of the last round and of this one.
    last_ns: Option<i64>,
    current_ns: Option<i64>,
    samples: u32,
    slow: Option<Slow>,
}

/// Conservative slow start.
#[derive(Debug)]
struct Slow {
    baseline_ns: i64,
    /// Rounds, the one in which it began among them.
    rounds: u32,
    /// Packets that have not made one packet of growth yet.
    part: u32,
}

impl HyStartPlusPlus {
    pub fn new(paced: bool) -> HyStartPlusPlus {
        HyStartPlusPlus {
            limit_packets: if paced { u32::MAX } else { LIMIT_PACKETS },
            rounds: Rounds::default(),
            last_ns: None,
            current_ns: None,
            samples: 0,
            slow: None,
        }
    }

    /// Sees an ACK; leaves in it the packets that the window grows by.
    pub fn acked(&mut self, window: &mut Window, acked: &mut Acked) {
        if window.cwnd_packets >= window.ssthresh_packets {
            return;
        }
        // §4.2: "windowEnd".
        if self.rounds.is_new(acked) {
            (self.last_ns, self.current_ns, self.samples) = (self.current_ns.take(), None, 0);
            if let Some(slow) = &mut self.slow {
                slow.rounds += 1;
                if slow.rounds > SLOW_ROUNDS {
                    window.ssthresh_packets = window.cwnd_packets;
                    return;
                }
            }
        }
        if let Some(rtt_ns) = acked.rtt_ns {
            self.current_ns = Some(self.current_ns.map_or(rtt_ns, |least| least.min(rtt_ns)));
            self.samples += 1;
        }
        acked.packets = acked.packets.min(self.limit_packets);
        if let Some(slow) = &mut self.slow {
            slow.part += acked.packets;
            acked.packets = slow.part / GROWTH_DIVISOR;
            slow.part %= GROWTH_DIVISOR;
        }
        self.decide();
    }

    fn decide(&mut self) {
        let Some(current_ns) = self.current_ns.filter(|_| self.samples >= SAMPLES) else { return };
        match &self.slow {
            // The queue was none that lasts.
            Some(slow) if current_ns < slow.baseline_ns => self.slow = None,
            Some(_) => {}
            None => {
                let threshold = |last_ns: i64| (last_ns / DIVISOR).clamp(LEAST_THRESHOLD_NS, GREATEST_THRESHOLD_NS);
                if self.last_ns.is_some_and(|last_ns| current_ns >= last_ns + threshold(last_ns)) {
                    self.slow = Some(Slow { baseline_ns: current_ns, rounds: 1, part: 0 });
                }
            }
        }
    }
}
