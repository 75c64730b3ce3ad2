//! HyStart, as in Linux.

use crate::windows::{MS, ack, build, window};
use transport::congestion::{Acked, Congestion, Window};
use wire::Time;

/// HyStart: eight samples of a round trip that all show a queue of more than an eighth (4 ms at least) end slow start, and
/// so does a train of ACKs as long as half a round trip; what comes apart and on time does neither.
#[test]
fn hystart_ends_slow_start() {
    let grown = |rtt_ms: i64, later_ms: i64, gap_ns: i64| {
        let mut cubic = build("cubic-linux").unwrap();
        let mut all = [Window { ssthresh_packets: f64::INFINITY, ..window(16.0, rtt_ms) }];
        let mut now = 0;
        for round in 0..4 {
            let flight = all[0].cwnd_packets as i64;
            let rtt_ms = rtt_ms + if round == 0 { 0 } else { later_ms };
            now += rtt_ms * MS;
            for packet in 0..flight {
                let at = ack(now + packet * gap_ns, 1);
                let acked = Acked { rtt_ns: Some(rtt_ms * MS), in_flight_packets: flight as u32, ..at };
                cubic.acked(0, &mut all, &acked);
            }
        }
        all[0].cwnd_packets
    };
    assert!(grown(100, 0, 100_000) >= 256.0, "nothing to see");
    assert!(grown(100, 20, 100_000) < 64.0, "20 ms more");
    let train = grown(100, 0, 1_900_000);
    assert!(train < 80.0, "{train} after a train of 50 ms");
    assert!(grown(100, 0, 2_100_000) >= 256.0, "no train");
}

/// HyStart: pacing may have spread a train over half of the round trip, so one as long as all of it is looked for then.
#[test]
fn hystart_waits_for_longer_trains_of_a_paced_sender() {
    let end = |paced: bool, train_ms: i64| {
        let mut cubic = build("cubic-linux").unwrap();
        cubic.leave_slow_start(transport::SlowStart::Own, paced);
        cubic.joined(0, Time::default());
        let mut all = [Window { ssthresh_packets: f64::INFINITY, ..window(200.0, 100) }];
        for ms in 0..=train_ms {
            let acked = Acked { rtt_ns: Some(100 * MS), in_flight_packets: 400, ..ack(ms * MS, 1) };
            cubic.acked(0, &mut all, &acked);
        }
        all[0].ssthresh_packets.is_finite()
    };
    // 100 ms, and 1 ms for what super-frames hold up; half of that without pacing.
    assert_eq!([50, 51].map(|ms| end(false, ms)), [false, true]);
    assert_eq!([101, 102].map(|ms| end(true, ms)), [false, true]);
}

/// HyStart ends slow start once (`found` in tcp_cubic.c), until a time-out (bictcp_reset).
#[test]
fn hystart_ends_slow_start_once() {
    let mut cubic = build("cubic-linux").unwrap();
    let mut all = [Window { ssthresh_packets: f64::INFINITY, ..window(100.0, 100) }];
    let mut late = 0;
    let mut train = |cubic: &mut dyn Congestion, all: &mut [Window; 1]| {
        (all[0].cwnd_packets, all[0].ssthresh_packets) = (100.0, 1e9);
        late += 5000;
        for ms in 0..60 {
            let acked = Acked { rtt_ns: Some(100 * MS), in_flight_packets: 400, ..ack((late + ms) * MS, 1) };
            cubic.acked(0, all, &acked);
        }
        all[0].ssthresh_packets < 1e9
    };
    assert!(train(&mut *cubic, &mut all));
    assert!(!train(&mut *cubic, &mut all), "after idle time, or a loss that was none");
    cubic.timed_out(0);
    assert!(train(&mut *cubic, &mut all));
}

/// cubictcp_acked: ACKs that move no window are looked at too, so that slow start ends during a repair where the window is below
/// its threshold (hystart_update).
#[test]
fn hystart_looks_at_acks_during_repairs() {
    let mut cubic = build("cubic-linux").unwrap();
    let mut all = [Window { ssthresh_packets: 100.0, ..window(60.0, 100) }];
    for ms in 0..60 {
        let acked = Acked { rtt_ns: Some(100 * MS), in_flight_packets: 200, passed_packets: 0, ..ack(ms * MS, 1) };
        cubic.measured(0, &mut all, &acked);
    }
    assert_eq!((all[0].cwnd_packets, all[0].ssthresh_packets), (60.0, 60.0));
}

/// HyStart: the queue that a flight makes by its own burst, and that is gone before the next one, is none that lasts. A
/// round begins with the first ACK of a flight, also while the window is below the 16 packets from which HyStart decides.
#[test]
fn hystart_compares_beginnings_of_flights() {
    let mut cubic = build("cubic-linux").unwrap();
    let mut all = [Window { ssthresh_packets: f64::INFINITY, ..window(10.0, 100) }];
    for round in 1..=5 {
        for packet in 0..all[0].cwnd_packets as i64 {
            let rtt_ns = 100 * MS + packet * 2_500_000;
            let at = ack(round * 1000 * MS + packet * 2_500_000, 1);
            let in_flight_packets = all[0].cwnd_packets as u32;
            cubic.acked(0, &mut all, &Acked { rtt_ns: Some(rtt_ns), in_flight_packets, ..at });
        }
    }
    assert_eq!(all[0].cwnd_packets, 320.0);
}
