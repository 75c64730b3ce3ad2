//! What controllers add for an ACK and leave after a loss, against the documents that define them.

mod windows;

use proptest::prelude::*;
use transport::congestion::{Acked, Cause, Congestion, NAMES, Olia, Sample, Window, descriptions, is_reno_alone};
use transport::recovery::delivery::Rate;
use windows::{MS, MSS, ack, assert_close, build, increments, window, windows};
use wire::Time;

#[test]
fn controllers_are_known_by_name() {
    assert_eq!(
        NAMES,
        [
            "reno",
            "reno-linux",
            "cubic",
            "cubic-linux",
            "lia",
            "lia-linux",
            "olia",
            "olia-linux",
            "balia",
            "balia-linux",
            "wvegas",
            "ewtcp",
            "fully-coupled",
            "coupled-increase",
            "coupled-decrease",
            "global-window",
            "bbr",
        ]
    );
    assert!(NAMES.iter().all(|name| build(name).is_some()));
    assert!(descriptions().iter().all(|one| !one.summary.is_empty() && !one.summary.contains('\n')));
    assert!(build("vegas").is_none());
}

/// RFC 5681 §3.1: slow start doubles, avoidance adds one packet per window.
#[test]
fn reno_doubles_and_then_adds_one() {
    let mut reno = build("reno").unwrap();
    let mut all = [Window { ssthresh_packets: 12.0, ..window(10.0, 100) }];
    reno.acked(0, &mut all, &ack(0, 1));
    assert_eq!(all[0].cwnd_packets, 11.0);
    // Of three one ends slow start, two are avoidance.
    reno.acked(0, &mut all, &ack(0, 3));
    assert_eq!(all[0].cwnd_packets, 12.0 + 1.0 / 12.0 + 1.0 / (12.0 + 1.0 / 12.0));
    reno.acked(0, &mut all, &Acked { cwnd_limited: false, ..ack(0, 3) });
    assert!(all[0].cwnd_packets < 12.2, "a window that is not used does not grow");
    reno.lost(0, &mut all, Time::default(), Cause::FastRetransmit);
    assert_eq!(all[0].ssthresh_packets, all[0].cwnd_packets / 2.0);
    all[0].cwnd_packets = 1.0;
    reno.lost(0, &mut all, Time::default(), Cause::Timeout);
    assert_eq!(all[0].ssthresh_packets, 2.0);
}

/// net/ipv4/tcp_cong.c, tcp_cong_avoid_ai: a window of n grows with the nth segment, and keeps what is over.
#[test]
fn reno_as_in_linux_counts_segments() {
    let mut reno = build("reno-linux").unwrap();
    let mut all = [Window { ssthresh_packets: 4.0, ..window(5.0, 100) }];
    let grow = |reno: &mut dyn Congestion, all: &mut [Window; 1]| {
        reno.acked(0, all, &ack(0, 2));
        all[0].cwnd_packets
    };
    let growth: Vec<f64> = (0..10).map(|_| grow(&mut *reno, &mut all)).collect();
    assert_eq!(growth, [5.0, 5.0, 6.0, 6.0, 6.0, 7.0, 7.0, 7.0, 8.0, 8.0], "5, 6 and 7 segments");
    all[0].cwnd_packets = 7.0;
    reno.lost(0, &mut all, Time::default(), Cause::FastRetransmit);
    assert_eq!(all[0].ssthresh_packets, 3.0, "7 / 2");
    all[0].cwnd_packets = 4.0;
    assert_eq!([(); 2].map(|()| grow(&mut *reno, &mut all)), [4.0, 5.0], "what was counted is forgotten");
}

/// A loss every 1/p packets gives a sawtooth from w to 2w with 1.5 w² + w packets.
#[test]
fn reno_has_its_sawtooth() {
    for p in [1e-4, 1e-3] {
        let mut reno = build("reno").unwrap();
        let mut all = [window(10.0, 100)];
        let (mut packets, mut rounds, mut measured) = (0.0, 0.0, 0.0);
        for loss in 0..60 {
            while packets < 1.0 / p {
                let flight = all[0].cwnd_packets.floor();
                reno.acked(0, &mut all, &ack(0, flight as u32));
                packets += flight;
                if loss >= 30 {
                    measured += flight;
                    rounds += 1.0;
                }
            }
            packets -= 1.0 / p;
            reno.lost(0, &mut all, Time::default(), Cause::FastRetransmit);
            all[0].cwnd_packets = all[0].ssthresh_packets;
        }
        let low = ((1.0 + 6.0 / p).sqrt() - 1.0) / 3.0;
        let expected = 1.0 / p / (low + 1.0);
        assert!((measured / rounds / expected - 1.0).abs() < 0.03, "{} for {expected}", measured / rounds);
    }
}

/// RFC 6356 eq. (1) and (2), computed by hand.
#[test]
fn lia_adds_what_its_rfc_says() {
    let cases: &[(Vec<Window>, &[f64])] = &[
        (windows([10.0, 10.0], [100, 100]), &[0.025, 0.025]),
        // The second is held to what a single TCP would add.
        (windows([10.0, 20.0], [20, 100]), &[0.051020, 0.05]),
        (windows([100.0, 20.0], [10, 100]), &[0.009612, 0.009612]),
        (windows([5.0, 40.0], [200, 50]), &[0.023508, 0.023508]),
        (windows([10.0, 10.0, 10.0], [50, 50, 50]), &[0.011111, 0.011111, 0.011111]),
    ];
    for (all, expected) in cases {
        assert_close(&increments(&mut *build("lia").unwrap(), all), expected);
    }
}

/// A subflow in recovery counts with its ssthresh, one that cannot send or has no sample not at all.
#[test]
fn coupling_counts_windows_that_mean_something() {
    for name in ["lia", "olia"] {
        let mut controller = build(name).unwrap();
        let calm = windows([10.0, 10.0], [100, 100]);
        let mut all = calm.clone();
        all[1] = Window { cwnd_packets: 37.0, ssthresh_packets: 10.0, recovering: true, ..all[1] };
        assert_eq!(increments(&mut *controller, &all)[0], increments(&mut *controller, &calm)[0], "{name}");
        for other in [Window { usable: false, ..calm[1] }, Window { srtt_ns: None, ..calm[1] }] {
            assert_eq!(increments(&mut *controller, &[calm[0], other])[0], 10.0 + 1.0 / 10.0 - 10.0, "{name}");
        }
    }
}

/// Segments of half the size in windows of the same bytes: the same bytes are added.
#[test]
fn coupling_is_in_bytes() {
    for name in ["lia", "olia"] {
        let mut all = windows([10.0, 10.0], [100, 50]);
        let whole = increments(&mut *build(name).unwrap(), &all);
        all[1] = Window { cwnd_packets: 20.0, mss_bytes: MSS / 2, ..all[1] };
        let halves = increments(&mut *build(name).unwrap(), &all);
        assert_close(&[halves[0], halves[1]], &[whole[0], whole[1] / 2.0]);
    }
}

/// OLIA whose subflows have had so many bytes acknowledged since their last loss.
fn olia(bytes: &[u64], all: &[Window]) -> Olia {
    let mut olia = Olia::default();
    for (i, &bytes) in bytes.iter().enumerate() {
        olia.joined(i, Time::default());
        olia.acked(i, &mut all.to_vec(), &Acked { bytes, cwnd_limited: false, ..ack(0, 1) });
    }
    olia
}

/// draft-khalili-mptcp-congestion-control-05 §2, computed by hand.
#[test]
fn olia_adds_what_its_draft_says() {
    type Case<'a> = (Vec<Window>, &'a [u64], &'a [f64], &'a [f64]);
    let third = 1.0 / 3.0;
    let cases: &[Case] = &[
        (windows([10.0, 10.0], [100, 100]), &[1000, 1000], &[0.0, 0.0], &[0.025, 0.025]),
        (windows([10.0, 20.0], [100, 100]), &[5000, 1000], &[0.5, -0.5], &[0.061111, -0.002778]),
        (windows([20.0, 10.0], [20, 100]), &[1000, 50000], &[-0.5, 0.5], &[0.016322, 0.050826]),
        (
            windows([4.0, 16.0, 16.0], [50, 50, 50]),
            &[9000, 100, 100],
            &[third, -third / 2.0, -third / 2.0],
            &[0.086420, 0.001929, 0.001929],
        ),
    ];
    for (all, bytes, alphas, expected) in cases {
        let mut olia = olia(bytes, all);
        let got: Vec<_> = (0..all.len()).map(|i| olia.alpha(i, all)).collect();
        assert_close(&got, alphas);
        assert_close(&increments(&mut olia, all), expected);
    }
}

/// l_r is the longer of the run since the last loss and the one before it; losses with nothing between are one.
#[test]
fn olia_remembers_two_runs() {
    let all = windows([10.0, 20.0], [100, 100]);
    let mut olia = olia(&[5000, 4000], &all);
    let lose = |olia: &mut Olia, i| olia.lost(i, &mut all.clone(), Time::default(), Cause::FastRetransmit);
    assert_eq!(olia.alpha(0, &all), 0.5);
    lose(&mut olia, 0);
    lose(&mut olia, 0);
    assert_eq!(olia.alpha(0, &all), 0.5, "the run before counts");
    olia.acked(0, &mut all.clone(), &Acked { bytes: 3000, ..ack(0, 1) });
    lose(&mut olia, 0);
    assert_eq!(olia.alpha(0, &all), 0.0, "3000 are less than the other's 4000");
    olia.undone(0);
    assert_eq!(olia.alpha(0, &all), 0.5, "the loss was none");
}

#[test]
fn olia_shrinks_below_ssthresh_and_never_below_one() {
    let mut all = windows([1.0, 20.0], [100, 100]);
    all[1].ssthresh_packets = 20.0;
    let mut olia = olia(&[1_000_000, 1000], &all);
    all[0].cwnd_packets = 10.0;
    for _ in 0..100 {
        olia.acked(1, &mut all, &Acked { bytes: 0, ..ack(0, 1) });
    }
    assert!(all[1].cwnd_packets < 20.0, "slow start does not bring it back");
    // Windows this small would fall under one packet.
    let mut all = windows([1.0, 1.9], [100, 1]);
    all[1].cwnd_packets = 2.0;
    for _ in 0..100 {
        olia.acked(1, &mut all, &Acked { bytes: 0, ..ack(0, 1) });
        assert!(all[1].cwnd_packets >= 1.0);
    }
}

/// Rounds of one round trip each: the window at the end of each.
fn cubic_rounds(cubic: &mut dyn Congestion, all: &mut [Window], rtt_ms: i64, rounds: i64) -> Vec<f64> {
    (0..rounds)
        .map(|round| {
            let flight = all[0].cwnd_packets.floor() as i64;
            for packet in 0..flight {
                let now = (round * flight + packet) * rtt_ms * MS / flight;
                cubic.acked(0, all, &ack(now.max(round * rtt_ms * MS + packet), 1));
            }
            all[0].cwnd_packets
        })
        .collect()
}

/// RFC 9438 eq. (1) and (2): W(t) = C (t - K)³ + W_max. At 1000 packets and 100 ms Reno is far slower.
#[test]
fn cubic_follows_its_curve() {
    let mut cubic = build("cubic").unwrap();
    let mut all = [window(1000.0, 100)];
    cubic.joined(0, Time::default());
    cubic.lost(0, &mut all, Time::default(), Cause::FastRetransmit);
    assert_eq!(all[0].ssthresh_packets, 1000.0 * 0.7);
    all[0].cwnd_packets = all[0].ssthresh_packets;
    let got = cubic_rounds(&mut *cubic, &mut all, 100, 140);
    let k = (300.0_f64 / 0.4).cbrt();
    for (round, got) in got.iter().enumerate().skip(2) {
        let t = (round + 1) as f64 * 0.1;
        let expected = 0.4 * (t - k) * (t - k) * (t - k) + 1000.0;
        assert!((got / expected - 1.0).abs() < 0.01, "{got} for {expected} at {t} s");
    }
    assert!((got[(k * 10.0) as usize] - 1000.0).abs() < 2.0, "flat at K = {k} s");
}

/// RFC 9438 §5.1, tables 1 and 2: the mean window when every 1/p-th packet is lost. The tables know no fast convergence,
/// which takes some of the larger windows.
#[test]
fn cubic_has_the_windows_of_its_rfc() {
    for (rtt_ms, p, expected) in [(100, 1e-4, 187.0), (100, 1e-5, 1054.0), (10, 1e-3, 38.0), (10, 1e-4, 120.0)] {
        let mut cubic = build("cubic").unwrap();
        let mut all = [window(expected, rtt_ms)];
        let (mut packets, mut rounds, mut measured, mut now) = (0.0, 0.0, 0.0, 0);
        for loss in 0..60 {
            while packets < 1.0 / p {
                let flight = all[0].cwnd_packets.floor();
                for packet in 0..flight as i64 {
                    cubic.acked(0, &mut all, &ack(now + packet * rtt_ms * MS / flight as i64, 1));
                }
                now += rtt_ms * MS;
                packets += flight;
                if loss >= 20 {
                    measured += flight;
                    rounds += 1.0;
                }
            }
            packets -= 1.0 / p;
            cubic.lost(0, &mut all, Time::from_nanos(now), Cause::FastRetransmit);
            all[0].cwnd_packets = all[0].ssthresh_packets;
        }
        assert!((measured / rounds / expected - 1.0).abs() < 0.1, "{} for {expected}", measured / rounds);
    }
}

/// RFC 9438 §4.7: a second loss below W_max lets the new one be (1 + 0.7) / 2 of the window.
#[test]
fn cubic_makes_room() {
    let mut cubic = build("cubic").unwrap();
    let mut all = [window(1000.0, 100)];
    cubic.lost(0, &mut all, Time::default(), Cause::FastRetransmit);
    all[0].cwnd_packets = 700.0;
    cubic.lost(0, &mut all, Time::default(), Cause::FastRetransmit);
    all[0].cwnd_packets = 490.0;
    // 595 = 700 · 0.85, and K = ∛(105 / 0.4) = 6.4 s.
    let got = cubic_rounds(&mut *cubic, &mut all, 100, 65);
    assert!((got[64] - 595.0).abs() < 2.0, "{}", got[64]);
}

/// RFC 9438 §4.3: with small windows CUBIC is as fast as Reno would be, 0.53 packets per round trip and then 1.
#[test]
fn cubic_is_no_slower_than_reno() {
    let mut cubic = build("cubic").unwrap();
    let mut all = [window(20.0, 10)];
    cubic.lost(0, &mut all, Time::default(), Cause::FastRetransmit);
    all[0].cwnd_packets = 14.0;
    let got = cubic_rounds(&mut *cubic, &mut all, 10, 30);
    let slope = |a: usize, b: usize| (got[b] - got[a]) / (b - a) as f64;
    assert!((slope(2, 9) - 0.529).abs() < 0.05, "{}", slope(2, 9));
    assert!((slope(15, 29) - 1.0).abs() < 0.06, "{}", slope(15, 29));
}

/// Linux: Reno's share grows by 8/15 of a packet per round trip however large it is (`beta_scale` of tcp_cubic.c is 15).
#[test]
fn cubic_as_in_linux_keeps_renos_pace() {
    let mut cubic = build("cubic-linux").unwrap();
    let mut all = [window(20.0, 10)];
    cubic.lost(0, &mut all, Time::default(), Cause::FastRetransmit);
    assert_eq!(all[0].ssthresh_packets, 14.0, "20 · 717 / 1024");
    all[0].cwnd_packets = 14.0;
    let got = cubic_rounds(&mut *cubic, &mut all, 10, 60);
    let slope = (got[59] - got[9]) / 50.0;
    assert!((slope - 8.0 / 15.0).abs() < 0.06, "{slope}");
}

/// Linux: the same curve, but for whole packets.
#[test]
fn cubic_as_in_linux_follows_its_curve() {
    let mut cubic = build("cubic-linux").unwrap();
    let mut all = [window(1000.0, 100)];
    cubic.lost(0, &mut all, Time::default(), Cause::FastRetransmit);
    all[0].cwnd_packets = all[0].ssthresh_packets;
    let got = cubic_rounds(&mut *cubic, &mut all, 100, 140);
    let k = (300.0_f64 / 0.4).cbrt();
    for (round, got) in got.iter().enumerate().skip(2) {
        let t = (round + 1) as f64 * 0.1;
        let expected = 0.4 * (t - k) * (t - k) * (t - k) + 1000.0;
        assert!((got / expected - 1.0).abs() < 0.02, "{got} for {expected} at {t} s");
    }
}

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

/// cubictcp_cwnd_event: the curve goes on where it was when nothing was sent.
#[test]
fn cubic_as_in_linux_stands_still_while_idle() {
    let run = |idle_ms: i64, told: bool| {
        let mut cubic = build("cubic-linux").unwrap();
        let mut all = [window(1000.0, 100)];
        cubic.lost(0, &mut all, Time::default(), Cause::FastRetransmit);
        all[0].cwnd_packets = 700.0;
        for step in 0..40_000 {
            let idle = if step >= 20_000 { idle_ms * MS } else { 0 };
            if told && step == 20_000 {
                cubic.resumed(0, Time::from_nanos(step * MS / 10 + idle), idle, false);
            }
            cubic.acked(0, &mut all, &ack(step * MS / 10 + idle, 1));
        }
        all[0].cwnd_packets
    };
    let busy = run(0, false);
    assert!((run(60_000, true) - busy).abs() < 0.01 * busy, "{} for {busy}", run(60_000, true));
    assert!(run(60_000, false) > 2.0 * busy, "without being told it leaps");
}

/// cubictcp_state: a time-out during a repair, which is no further loss, makes CUBIC begin anew too: with no earlier height,
/// the window grows by a packet for each 20 at least.
#[test]
fn cubic_as_in_linux_begins_anew_with_a_time_out() {
    let grown = |timed_out: bool| {
        let mut cubic = build("cubic-linux").unwrap();
        let mut all = [window(1000.0, 100)];
        cubic.lost(0, &mut all, Time::default(), Cause::FastRetransmit);
        if timed_out {
            cubic.timed_out(0);
        }
        all[0].cwnd_packets = 990.0;
        for ms in 0..990 {
            cubic.acked(0, &mut all, &ack(ms * MS / 10, 1));
        }
        all[0].cwnd_packets - 990.0
    };
    assert!(grown(true) >= 40.0, "{}", grown(true));
    assert!(grown(false) < 10.0, "{}", grown(false));
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

/// RFC 9438 §5.8: time in which the window was not used does not count.
#[test]
fn cubic_does_not_grow_while_idle() {
    let run = |idle_ns: i64| {
        let mut cubic = build("cubic").unwrap();
        let mut all = [window(1000.0, 100)];
        cubic.lost(0, &mut all, Time::default(), Cause::FastRetransmit);
        all[0].cwnd_packets = 700.0;
        for step in 0..40_000 {
            let idle = if step >= 20_000 { idle_ns } else { 0 };
            cubic.acked(0, &mut all, &ack(step * MS / 10 + idle, 1));
        }
        all[0].cwnd_packets
    };
    let busy = run(0);
    assert!((run(60_000 * MS) - busy).abs() < 0.01 * busy, "{} for {busy}", run(60_000 * MS));
}

/// RFC 9438 §4.9: after a loss that was none the curve goes on.
#[test]
fn cubic_undoes() {
    let run = |undo: bool| {
        let mut cubic = build("cubic").unwrap();
        let mut all = [window(100.0, 50)];
        cubic.lost(0, &mut all, Time::default(), Cause::FastRetransmit);
        all[0].cwnd_packets = 70.0;
        for step in 0..2000 {
            if undo && step == 1000 {
                let before = all;
                cubic.lost(0, &mut all, Time::from_nanos(step * MS), Cause::FastRetransmit);
                cubic.undone(0);
                all = before;
            }
            cubic.acked(0, &mut all, &ack(step * MS, 1));
        }
        all[0].cwnd_packets
    };
    assert_eq!(run(true), run(false));
}

/// One thing that happens to a subflow.
#[derive(Clone, Debug)]
enum Step {
    Acked { packets: u32, limited: bool, gap_ns: i64, srtt_ms: i64 },
    Lost(Cause),
    Undone,
}

fn steps() -> impl Strategy<Value = Vec<(usize, Step)>> {
    let acked = (1..20_u32, prop::bool::weighted(0.8), 0..300 * MS, 1..400_i64)
        .prop_map(|(packets, limited, gap_ns, srtt_ms)| Step::Acked { packets, limited, gap_ns, srtt_ms });
    let lost = prop_oneof![Just(Cause::FastRetransmit), Just(Cause::Timeout)].prop_map(Step::Lost);
    prop::collection::vec((0..3_usize, prop_oneof![20 => acked, 2 => lost, 1 => Just(Step::Undone)]), 0..300)
}

/// Runs a controller as recovery would; all windows after every step.
fn play(name: &str, subflows: usize, steps: &[(usize, Step)]) -> Vec<Vec<Window>> {
    let mut controller = build(name).unwrap();
    let start = Window { ssthresh_packets: f64::INFINITY, ..window(10.0, 50) };
    let mut all = vec![start; subflows];
    let mut before = all.clone();
    let mut now = 0;
    let mut trace = Vec::new();
    for (i, step) in steps {
        let i = i % subflows;
        match *step {
            Step::Acked { packets, limited, gap_ns, srtt_ms } => {
                now += gap_ns;
                all[i].srtt_ns = Some(srtt_ms * MS);
                all[i].recovering = false;
                controller.acked(i, &mut all, &Acked { cwnd_limited: limited, ..ack(now, packets) });
            }
            Step::Lost(cause) => {
                before[i] = all[i];
                controller.lost(i, &mut all, Time::from_nanos(now), cause);
                all[i].recovering = cause == Cause::FastRetransmit;
                all[i].cwnd_packets = if all[i].recovering { all[i].ssthresh_packets } else { 1.0 };
            }
            Step::Undone => {
                controller.undone(i);
                if all[i].recovering {
                    all[i] = before[i];
                }
            }
        }
        trace.push(all.clone());
    }
    trace
}

#[test]
fn what_couples_subflows_is_reno_over_one_path() {
    let others: Vec<_> = NAMES.iter().copied().filter(|name| !is_reno_alone(name)).collect();
    assert_eq!(others, ["reno-linux", "cubic", "cubic-linux", "wvegas", "bbr"]);
}

proptest! {
    #[test]
    fn one_coupled_subflow_is_reno_to_the_bit(steps in steps()) {
        let reno = play("reno", 1, &steps);
        // In the out-of-tree kernel's integers a packet is made of one ACK more than the window has, or of as many as
        // rounding asks for.
        for name in NAMES.iter().filter(|name| is_reno_alone(name) && !name.ends_with("-linux")) {
            prop_assert_eq!(&play(name, 1, &steps), &reno, "{}", name);
        }
    }

    #[test]
    fn windows_stay_windows(steps in steps()) {
        // One by rate sets its windows in recovery too.
        for name in NAMES.iter().filter(|name| build(name).unwrap().by_rate().is_none()) {
            for window in play(name, 3, &steps).iter().flatten() {
                prop_assert!(window.cwnd_packets >= 1.0 && window.cwnd_packets.is_finite(), "{} {:?}", name, window);
                prop_assert!(window.ssthresh_packets >= 1.0, "{} {:?}", name, window);
            }
        }
    }

    #[test]
    fn coupled_increases_keep_their_promises(
        paths in prop::collection::vec((1.0..500.0_f64, 1..500_i64, 0..1_000_000_u64), 1..6),
    ) {
        let all: Vec<_> = paths.iter().map(|&(cwnd, rtt, _)| window(cwnd, rtt)).collect();
        let reno = increments(&mut *build("reno").unwrap(), &all);
        let lia = increments(&mut *build("lia").unwrap(), &all);
        // RFC 6356 §2: nowhere more than a single TCP.
        prop_assert!(lia.iter().zip(&reno).all(|(lia, reno)| (0.0..=*reno).contains(lia)));
        let bytes: Vec<_> = paths.iter().map(|&(_, _, bytes)| bytes).collect();
        let olia = olia(&bytes, &all);
        let sum: f64 = (0..all.len()).map(|i| olia.alpha(i, &all)).sum();
        prop_assert!(sum.abs() < 1e-12, "{}", sum);
    }

    #[test]
    fn an_ack_of_two_is_two_acks(
        paths in prop::collection::vec((2.0..500.0_f64, 1..500_i64), 1..4),
        packets in 2..8_u32,
    ) {
        // In the kernel's integers ACKs count, not packets.
        for name in NAMES.iter().filter(|name| !name.ends_with("-linux") && **name != "wvegas" && **name != "bbr") {
            let all: Vec<_> = paths.iter().map(|&(cwnd, rtt)| window(cwnd, rtt)).collect();
            let (mut once, mut often) = (all.clone(), all);
            let mut controllers = [build(name).unwrap(), build(name).unwrap()];
            controllers[0].acked(0, &mut once, &ack(MS, packets));
            for _ in 0..packets {
                controllers[1].acked(0, &mut often, &ack(MS, 1));
            }
            prop_assert!((once[0].cwnd_packets - often[0].cwnd_packets).abs() < 1e-9, "{}", name);
        }
    }
}

/// bbr_update_min_rtt: a round trip that is as short as the least does not put PROBE_RTT off, one that is shorter does; and once
/// the least is too old, an ACK that may have waited says nothing of it.
#[test]
fn bbr_looks_at_the_path_every_ten_seconds() {
    let first_probe_ms = |rtt_ms: &dyn Fn(i64) -> i64| {
        let mut bbr = build("bbr").unwrap();
        let bbr = bbr.by_rate().unwrap();
        let mut window = window(100.0, 50);
        bbr.started(0, &window, Time::default(), 1);
        (1..1500).map(|step| step * 10).find(|&ms| {
            let delivered = ms as u64;
            let rate = Rate { packets: 50, interval_ns: 50 * MS, since: delivered.saturating_sub(50), limited: false };
            let sample = Sample {
                now: Time::from_nanos(ms * MS),
                rate: Some(rate),
                delivered,
                packets: 10,
                lost: 0,
                rtt_ns: Some(rtt_ms(ms) * MS),
                ack_delayed: false,
                in_flight_before: 60,
                in_flight: 50,
                repairing: false,
                recovering: false,
            };
            bbr.delivered(0, &mut window, &sample);
            bbr.holds_back(0)
        })
    };
    assert_eq!(first_probe_ms(&|_| 50), Some(10_010), "ties");
    assert_eq!(first_probe_ms(&|ms| if ms == 4000 { 49 } else { 50 }), Some(14_010), "a shorter one");
}
