//! CUBIC, of RFC 9438 and as in Linux.

use crate::windows::{MS, ack, build, window};
use transport::congestion::{Cause, Congestion, Window};
use wire::Time;

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

/// cubictcp_cwnd_event: the curve goes on where it was when nothing was sent.
#[test]
fn cubic_as_in_linux_stands_still_while_idle() {
    let run = |idle_ms: i64, reset: bool| {
        let mut cubic = build("cubic-linux").unwrap();
        let mut all = [window(1000.0, 100)];
        cubic.lost(0, &mut all, Time::default(), Cause::FastRetransmit);
        all[0].cwnd_packets = 700.0;
        for step in 0..40_000 {
            let idle = if step >= 20_000 { idle_ms * MS } else { 0 };
            if reset && step == 20_000 {
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
