use super::{SlowStart, Watch};
use crate::congestion::{self, Acked, Congestion, Window};
use parameters::Table;
use proptest::prelude::*;
use wire::Time;

const MS: i64 = 1_000_000;

/// A sender in slow start, and what watches it.
struct Sender {
    controller: Box<dyn Congestion>,
    watch: Watch,
    all: [Window; 1],
    now_ns: i64,
}

impl Sender {
    fn new(name: &str, watch: Watch) -> Sender {
        let window = Window {
            cwnd_packets: 16.0,
            ssthresh_packets: f64::INFINITY,
            srtt_ns: Some(100 * MS),
            min_rtt_ns: Some(100 * MS),
            mss_bytes: 1000,
            recovering: false,
            usable: true,
        };
        let controller = congestion::build(name, &Table::new()).unwrap();
        Sender { controller, watch, all: [window], now_ns: 0 }
    }

    fn ack(&mut self, packets: u32, in_flight_packets: u32, rtt_ns: i64) {
        let mut acked = Acked {
            now: Time::from_nanos(self.now_ns),
            packets,
            bytes: u64::from(packets) * 1000,
            rtt_ns: Some(rtt_ns),
            cwnd_limited: true,
            in_flight_packets,
            passed_packets: packets,
            disordered: false,
        };
        self.watch.acked(&mut self.all[0], &mut acked);
        self.controller.acked(0, &mut self.all, &acked);
    }

    fn rounds<const N: usize>(&mut self, rtts_ms: [i64; N]) -> [f64; N] {
        rtts_ms.map(|rtt_ms| self.round(rtt_ms))
    }

    /// A flight, acknowledged packet by packet with gaps that make no train.
    fn round(&mut self, rtt_ms: i64) -> f64 {
        self.now_ns += 10_000 * MS;
        for left in (1..=self.all[0].cwnd_packets as u32).rev() {
            self.now_ns += 3 * MS;
            self.ack(1, left, rtt_ms * MS);
        }
        self.all[0].cwnd_packets
    }
}

fn hystart_plus_plus() -> Sender {
    Sender::new("reno", Watch::new(SlowStart::HyStartPlusPlus, false))
}

/// RFC 9406 §4.2, by hand: 100 ms make a threshold of 12.5 ms. In the first longer round eight samples are taken at full growth,
/// the rest of 64 packets grows by a quarter; so do four more rounds, and then slow start is over.
#[test]
fn hystart_plus_plus_slows_down_and_stops() {
    let mut sender = hystart_plus_plus();
    assert_eq!(sender.rounds([100, 100, 112]), [32.0, 64.0, 128.0], "12 ms are no queue");
    let mut sender = hystart_plus_plus();
    sender.rounds([100, 100]);
    // 86 = 64 + 8 + 56/4; then quarters, with what is left of them.
    assert_eq!(sender.rounds([113; 5]), [86.0, 107.0, 134.0, 167.0, 209.0]);
    assert_eq!(sender.all[0].ssthresh_packets, f64::INFINITY);
    sender.round(113);
    assert_eq!(sender.all[0].ssthresh_packets, 209.0);
}

/// RFC 9406 §4.2: round trips that become shorter than when it slowed down were jitter; growth goes on.
#[test]
fn hystart_plus_plus_goes_on_after_jitter() {
    let mut sender = hystart_plus_plus();
    sender.rounds([100, 100, 120]);
    // 86 + 8/4 + 78
    assert_eq!(sender.rounds([100, 100]), [166.0, 332.0]);
}

/// RFC 9406 §4.3: only the first slow start; and at most 8 packets per ACK, unless the sender paces.
#[test]
fn hystart_plus_plus_keeps_to_its_limits() {
    let mut sender = hystart_plus_plus();
    sender.ack(16, 16, 100 * MS);
    assert_eq!(sender.all[0].cwnd_packets, 24.0);
    let mut paced = Sender::new("reno", Watch::new(SlowStart::HyStartPlusPlus, true));
    paced.ack(16, 16, 100 * MS);
    assert_eq!(paced.all[0].cwnd_packets, 32.0);
    sender.watch.lost();
    assert_eq!(sender.rounds([100, 100, 120, 140, 160]), [48.0, 96.0, 192.0, 384.0, 768.0]);
}

#[test]
fn standard_slow_start_goes_on() {
    let mut sender = Sender::new("cubic-linux", Watch::new(SlowStart::Standard, false));
    assert!(sender.controller.leave_slow_start(SlowStart::Standard, false));
    assert_eq!(sender.rounds([100, 200, 300]), [32.0, 64.0, 128.0]);
}

proptest! {
    /// HyStart beside Reno ends slow start where it does in CUBIC as in Linux, which has it of its own.
    #[test]
    fn hystart_is_linuxs_with_any_controller(rtts_ms in prop::collection::vec((0..3_i64, 90..130_i64), 1..7)) {
        let mut linux = Sender::new("cubic-linux", Watch::Nothing);
        prop_assert!(!linux.controller.leave_slow_start(SlowStart::HyStart, false));
        let mut reno = Sender::new("reno", Watch::new(SlowStart::HyStart, false));
        for (gap_ms, rtt_ms) in rtts_ms {
            for sender in [&mut linux, &mut reno] {
                sender.now_ns += 10_000 * MS;
                for left in (1..=sender.all[0].cwnd_packets as u32).rev() {
                    sender.now_ns += gap_ms * MS;
                    if sender.all[0].ssthresh_packets.is_infinite() {
                        sender.ack(1, left, rtt_ms * MS);
                    }
                }
            }
            prop_assert_eq!(linux.all[0].ssthresh_packets, reno.all[0].ssthresh_packets);
        }
    }
}
