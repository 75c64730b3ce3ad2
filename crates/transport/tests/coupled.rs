//! Controllers that regard all subflows, and those of the out-of-tree kernel, against the documents and the code that define
//! them.

mod windows;

use parameters::Table;
use proptest::prelude::*;
use transport::congestion::{self, Acked, Cause, Congestion, Window};
use windows::{ack, assert_close, build, increments, window, windows};
use wire::Time;

fn lose(name: &str, i: usize, all: &[Window]) -> Vec<Window> {
    let mut after = all.to_vec();
    build(name).unwrap().lost(i, &mut after, Time::default(), Cause::FastRetransmit);
    after
}

/// Where each window goes at a loss, one at a time.
fn after_losses(name: &str, all: &[Window]) -> Vec<f64> {
    (0..all.len()).map(|i| lose(name, i, all)[i].ssthresh_packets).collect()
}

/// ACKs until a packet is made, from the second packet on.
fn acks_per_packet(controller: &mut dyn Congestion, i: usize, all: &[Window]) -> usize {
    let mut all = all.to_vec();
    let mut next = || {
        let cwnd = all[i].cwnd_packets;
        let made = |_: &usize| {
            controller.acked(i, &mut all, &ack(0, 1));
            all[i].cwnd_packets != cwnd
        };
        (1..1_000_000).find(made).expect("a packet is made")
    };
    next()
}

/// draft-walid-mptcp-congestion-control-04 §3, computed by hand: x / (R X²) (1 + α)/2 (4 + α)/5, and w/2 min(α, 1.5).
#[test]
fn balia_does_what_its_draft_says() {
    let cases: &[(Vec<Window>, &[f64], &[f64])] = &[
        (windows([10.0, 10.0], [100, 100]), &[0.025, 0.025], &[5.0, 5.0]),
        (windows([10.0, 20.0], [20, 100]), &[0.051020, 0.009286], &[5.0, 5.0]),
        (windows([100.0, 20.0], [10, 100]), &[0.009612, 0.005294], &[50.0, 5.0]),
        (windows([10.0, 14.0], [100, 100]), &[0.022500, 0.024306], &[3.0, 7.0]),
    ];
    for (all, added, left) in cases {
        assert_close(&increments(&mut *build("balia").unwrap(), all), added);
        assert_close(&after_losses("balia", all), left);
    }
}

/// `mptcp_balia.c`: 10 X² w / ((x + m)(4x + m)) ACKs and one make a packet, and α is an integer: at 10 and 14 packets it is 1,
/// where the draft has 1.4. Bytes per second are 1000 · w / 0.1 s.
#[test]
fn balia_as_in_linux_counts_and_rounds() {
    let cases = [
        // X = 200 000, x = m = 100 000: 10 · 4e10 · 10 / (2e5 · 5e5) = 40.
        (windows([10.0, 10.0], [100, 100]), [40, 40], [5.0, 5.0]),
        // X = 240 000: 10 · 5.76e10 / 2.4e5 = 2 400 000; · 10 / 5.4e5 = 44.4. And 5.76e11 / 2.8e5 = 2 057 142; · 14 / 7e5 = 41.1.
        (windows([10.0, 14.0], [100, 100]), [44, 41], [5.0, 7.0]),
        // x = 500 000 and 200 000: 4.9e12 / 1e6 = 4 900 000; · 10 / 2.5e6 = 19.6. And 4.9e12 / 7e5 = 7 000 000; · 20 / 1.3e6 = 107.6.
        (windows([10.0, 20.0], [20, 100]), [19, 107], [5.0, 5.0]),
    ];
    for (all, acks, left) in cases {
        for i in 0..2 {
            let mut balia = build("balia-linux").unwrap();
            assert_eq!(acks_per_packet(&mut *balia, i, &all), acks[i] + 1);
            let mut after = all.clone();
            let mut balia = build("balia-linux").unwrap();
            balia.acked(i, &mut after, &ack(0, 1));
            balia.lost(i, &mut after, Time::default(), Cause::FastRetransmit);
            assert_eq!(after[i].ssthresh_packets, left[i]);
        }
    }
}

/// What a loss takes was reckoned when the window last changed, not when the loss came.
#[test]
fn balia_as_in_linux_decreases_by_what_it_remembers() {
    let mut balia = build("balia-linux").unwrap();
    let mut all = windows([10.0, 10.0], [100, 100]);
    balia.acked(0, &mut all, &ack(0, 1));
    all[1].cwnd_packets = 40.0;
    balia.lost(0, &mut all, Time::default(), Cause::FastRetransmit);
    assert_eq!(all[0].ssthresh_packets, 5.0);
    all[0].cwnd_packets = 10.0;
    balia.acked(0, &mut all, &ack(0, 1));
    balia.lost(0, &mut all, Time::default(), Cause::FastRetransmit);
    assert_eq!(all[0].ssthresh_packets, 3.0, "10 - 5 · 1.5, in integers");
}

/// `mptcp_coupled.c` with srtt in eighths of a microsecond: max(4096 / α, w) ACKs and one make a packet.
#[test]
fn lia_as_in_linux_counts() {
    let cases: &[(Vec<Window>, &[usize])] = &[
        (windows([10.0, 10.0], [100, 100]), &[40, 40]),
        (windows([10.0, 20.0], [20, 100]), &[19, 20]),
        (windows([100.0, 20.0], [10, 100]), &[105, 105]),
        (windows([5.0, 40.0], [200, 50]), &[42, 42]),
        (windows([10.0, 10.0, 10.0], [50, 50, 50]), &[91, 91, 91]),
        // w/R² is 0 for both: the oldest subflow is the best, and α 568 or 22 of 4096.
        (windows([5.0, 5.0], [20, 100]), &[7, 7]),
        (windows([5.0, 5.0], [100, 20]), &[186, 186]),
        // α is 1 of 4096 for 2048 packets as for 4096: the exact one is 1/2048 · 1/2.
        (windows([2048.0, 2048.0], [100, 100]), &[4096, 4096]),
        (windows([1500.0, 1500.0], [100, 100]), &[4096, 4096]),
    ];
    for (all, acks) in cases {
        for (i, &acks) in acks.iter().enumerate() {
            assert_eq!(acks_per_packet(&mut *build("lia-linux").unwrap(), i, all), acks + 1, "{all:?}");
        }
    }
}

/// `mptcp_olia.c`. At 10 and 10 packets: (10 · 1024)² · 1024 / (10 · 20481²) = 25 1024ths an ACK, and 1023 make a packet.
#[test]
fn olia_as_in_linux_counts() {
    let all = windows([10.0, 10.0], [100, 100]);
    assert_eq!(acks_per_packet(&mut *build("olia-linux").unwrap(), 0, &all), 41);
    // The first has had 5000 bytes between losses, the second 1000: ε is 1/2 and -1/2.
    let all = windows([10.0, 20.0], [100, 100]);
    let grown = |i: usize| {
        let mut olia = build("olia-linux").unwrap();
        for (j, bytes) in [(0, 5000), (1, 1000)] {
            olia.acked(j, &mut all.clone(), &Acked { bytes, cwnd_limited: false, ..ack(0, 1) });
        }
        let mut all = all.clone();
        let acks = (1..100_000).find(|_| {
            olia.acked(i, &mut all, &Acked { bytes: 0, ..ack(0, 1) });
            all[i].cwnd_packets != [10.0, 20.0][i]
        });
        (acks.unwrap(), all[i].cwnd_packets)
    };
    // rate = 30721²: (rate + 2 · 10240²) · 1024 / (2 · 10 · rate) = 62.6, 17 of which are 1054.
    assert_eq!(grown(0), (17, 11.0));
    // (-rate + 2 · 20480²) · 1024 / (2 · 20 · rate) = -2.8, rounded to -2: 512 of them are -1024.
    assert_eq!(grown(1), (512, 19.0));
}

/// Honda et al., and Wischik et al. (NSDI 2011): a / w with a = 1/n², or 1/√n.
#[test]
fn ewtcp_has_its_weight() {
    let all = windows([10.0, 20.0], [100, 50]);
    let with = |parameters: &[(&str, parameters::Value)]| {
        let table: Table = parameters.iter().map(|(name, value)| ((*name).into(), value.clone())).collect();
        congestion::build("ewtcp", &table)
    };
    let added = |parameters: &[(&str, parameters::Value)]| increments(&mut *with(parameters).unwrap(), &all);
    assert_close(&added(&[]), &[0.025, 0.0125]);
    assert_close(&added(&[("weighting", "inverse-root".into())]), &[0.070711, 0.035355]);
    assert_close(&added(&[("weight", 0.5.into())]), &[0.05, 0.025]);
    assert_close(&after_losses("ewtcp", &all), &[5.0, 10.0]);
    let unusable = [all[0], Window { usable: false, ..all[1] }];
    assert_close(&increments(&mut *with(&[]).unwrap(), &unusable)[..1], &[0.1]);
    for refused in [("weight", 0.into()), ("weight", 101.into()), ("weighting", "x".into()), ("wait", 1.into())] {
        assert!(with(&[refused]).is_err());
    }
    assert!(with(&[("weight", 0.5.into()), ("weighting", "inverse-root".into())]).is_err(), "one or the other");
}

/// Chen et al., "A measurement-based study", §II-B: +1/w and -w/2 of all windows, or of one's own. 10 and 30 packets are 40.
#[test]
fn coupled_are_what_the_papers_write() {
    let all = windows([10.0, 30.0], [100, 20]);
    let together = [1.0 / 40.0, 1.0 / 40.0];
    let cases: &[(&str, [f64; 2], [f64; 2])] = &[
        // 10 - 20 leaves one packet.
        ("fully-coupled", together, [1.0, 10.0]),
        ("coupled-increase", together, [5.0, 15.0]),
        ("coupled-decrease", [1.0 / 10.0, 1.0 / 30.0], [1.0, 10.0]),
        ("global-window", together, [5.0, 15.0]),
    ];
    for (name, added, left) in cases {
        assert_close(&increments(&mut *build(name).unwrap(), &all), added);
        assert_close(&after_losses(name, &all), left);
    }
}

/// Vondrous et al., algorithm 3: a loss on any path halves the whole window, so every part of it.
#[test]
fn a_loss_halves_the_global_window() {
    let mut all = windows([10.0, 30.0, 3.0], [100, 20, 20]);
    all[2] = Window { usable: false, ..all[2] };
    let after = lose("global-window", 0, &all);
    assert_eq!([after[0].ssthresh_packets, after[1].ssthresh_packets, after[1].cwnd_packets], [5.0, 15.0, 15.0]);
    assert_eq!(after[2], all[2]);
    // The window of one in recovery is recovery's.
    all[1] = Window { recovering: true, ssthresh_packets: 20.0, ..all[1] };
    let after = lose("global-window", 0, &all);
    assert_eq!((after[1].ssthresh_packets, after[1].cwnd_packets), (10.0, 30.0));
}

/// A round of wVegas: so many ACKs of which each took so long.
fn round(wvegas: &mut dyn Congestion, i: usize, all: &mut [Window], rtt_us: i64) {
    let flight = all[i].cwnd_packets as u32;
    for left in (1..=flight).rev() {
        wvegas.acked(i, all, &Acked { rtt_ns: Some((rtt_us - 1) * 1000), in_flight_packets: left, ..ack(0, 1) });
    }
}

/// `mptcp_wvegas.c`: a subflow of which w (R - base) / R packets wait keeps α of them there. Alone its α is 10: with a fifth of
/// the round trip in queues, which do not depend on it, it comes to 50 packets.
#[test]
fn wvegas_keeps_its_packets_in_queues() {
    let mut wvegas = build("wvegas").unwrap();
    let mut all = [window(20.0, 100)];
    round(&mut *wvegas, 0, &mut all, 10_000);
    for _ in 0..100 {
        round(&mut *wvegas, 0, &mut all, 12_500);
    }
    assert_eq!(all[0].cwnd_packets, 50.0);
    // Twice the least queueing delay: the queue is drained, and the window comes to 30 packets from below, a third of which waits.
    let mut least = f64::INFINITY;
    for _ in 0..100 {
        round(&mut *wvegas, 0, &mut all, 15_000);
        least = least.min(all[0].cwnd_packets);
    }
    assert!(least < 20.0, "{least}");
    assert_eq!(all[0].cwnd_packets, 30.0);
}

/// The base of a subflow never becomes larger: on a longer path it takes the way for a queue. Nine tenths of each window count:
/// 12 packets have 10.8 of them there.
#[test]
fn wvegas_starves_on_a_path_that_becomes_longer() {
    let mut wvegas = build("wvegas").unwrap();
    let mut all = [window(20.0, 100)];
    for _ in 0..5 {
        round(&mut *wvegas, 0, &mut all, 10_000);
    }
    assert!(all[0].cwnd_packets > 20.0);
    for _ in 0..100 {
        round(&mut *wvegas, 0, &mut all, 100_000);
    }
    assert_eq!(all[0].cwnd_packets, 12.0);
}

/// mptcp_wvegas_state: while something is out of order the window is Reno's, which grows where Vegas stays.
#[test]
fn wvegas_is_reno_in_disorder() {
    let mut wvegas = build("wvegas").unwrap();
    let mut all = [window(20.0, 100)];
    round(&mut *wvegas, 0, &mut all, 10_000);
    for _ in 0..100 {
        round(&mut *wvegas, 0, &mut all, 12_500);
    }
    assert_eq!(all[0].cwnd_packets, 50.0);
    for packets in 0..500 {
        let at = Acked { rtt_ns: Some(12_499_000), in_flight_packets: 50, disordered: true, ..ack(packets, 1) };
        wvegas.acked(0, &mut all, &at);
    }
    assert!((58.0..60.0).contains(&all[0].cwnd_packets), "{}", all[0].cwnd_packets);
    for _ in 0..100 {
        round(&mut *wvegas, 0, &mut all, 12_500);
    }
    // From above, where 54 packets have 10 whole ones in queues.
    assert_eq!(all[0].cwnd_packets, 54.0);
}

/// mptcp_wvegas_cwnd_event: after idle time longer than a time-out (CA_EVENT_CWND_RESTART) there is a new base.
#[test]
fn wvegas_knows_a_longer_path_after_idle_time() {
    let mut wvegas = build("wvegas").unwrap();
    let mut all = [window(20.0, 100)];
    for _ in 0..5 {
        round(&mut *wvegas, 0, &mut all, 10_000);
    }
    wvegas.resumed(0, Time::default(), 5_000_000_000, false);
    for _ in 0..100 {
        round(&mut *wvegas, 0, &mut all, 100_000);
    }
    assert_eq!(all[0].cwnd_packets, 12.0);
    wvegas.resumed(0, Time::default(), 5_000_000_000, true);
    for _ in 0..100 {
        round(&mut *wvegas, 0, &mut all, 100_000);
    }
    assert!(all[0].cwnd_packets > 100.0, "{}", all[0].cwnd_packets);
}

/// Two subflows share 10 packets by their rates, and none has fewer than 2. Where half of the round trip of 20 ms is queue, 2
/// packets are a window of 4 or 5; the other, of whose 12.5 ms a fifth is, then comes to x1 + x2 = 4 packets per ms: to 47.
#[test]
fn wvegas_goes_where_queues_are_short() {
    let mut wvegas = build("wvegas").unwrap();
    let mut all = windows([20.0, 20.0], [100, 100]);
    for (i, rtts_us) in [(0, [10_000, 12_500]), (1, [10_000, 20_000])] {
        wvegas.joined(i, Time::default());
        for rtt_us in rtts_us {
            round(&mut *wvegas, i, &mut all, rtt_us);
        }
    }
    for _ in 0..200 {
        round(&mut *wvegas, 0, &mut all, 12_500);
        round(&mut *wvegas, 1, &mut all, 20_000);
    }
    assert!((45.0..=50.0).contains(&all[0].cwnd_packets), "{}", all[0].cwnd_packets);
    assert!((4.0..=5.0).contains(&all[1].cwnd_packets), "{}", all[1].cwnd_packets);
}

proptest! {
    /// A single TCP is the most that LIA, BALIA and what is coupled in its increase are on any path.
    #[test]
    fn coupled_increases_are_never_more_than_renos(
        paths in prop::collection::vec((1.0..500.0_f64, 1..500_i64), 1..6),
    ) {
        let all: Vec<_> = paths.iter().map(|&(cwnd, rtt)| window(cwnd, rtt)).collect();
        let reno = increments(&mut *build("reno").unwrap(), &all);
        for name in ["lia", "balia", "ewtcp", "fully-coupled", "coupled-increase", "global-window"] {
            let added = increments(&mut *build(name).unwrap(), &all);
            prop_assert!(added.iter().zip(&reno).all(|(added, reno)| (0.0..=*reno).contains(added)), "{}", name);
        }
    }
}
