//! What controllers add for an ACK and leave after a loss, against the documents that define them.

#[path = "congestion/cubic.rs"]
mod cubic;
#[path = "congestion/hystart.rs"]
mod hystart;
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
