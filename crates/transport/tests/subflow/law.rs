//! The first law: Reno under periodic loss.

use crate::pair::{Fate, Host, MS, Pair, Segment};
use transport::config;
use wire::Time;

/// Packets per second that arrive when every k-th data packet is lost, over `cycles` of k packets.
fn rate(settings: &config::Tcp, every: u64, rtt_ns: i64, cycles: u64) -> f64 {
    let mut pair = Pair::new(Host::new(settings.clone(), true, 7), Host::new(settings.clone(), false, 9));
    pair.hosts[0].total = u64::MAX;
    let mut sent = 0;
    let mut fate = |now: Time, _: usize, segment: &Segment| -> Fate {
        sent += u64::from(segment.emission.len > 0);
        let lost = segment.emission.len > 0 && sent % every == 0;
        [(!lost).then_some(now + rtt_ns / 2), None]
    };
    let packet = 1448;
    let mut run = |pair: &mut Pair, packets: u64| {
        while pair.hosts[1].arrived < packets * packet {
            assert!(pair.step(&mut fate), "stuck");
        }
        (pair.now, pair.hosts[1].arrived)
    };
    let (start, before) = run(&mut pair, 3 * every);
    let (end, after) = run(&mut pair, (3 + cycles) * every);
    assert_eq!(pair.hosts[0].tcp().timeouts(), 0);
    (after - before) as f64 / packet as f64 / ((end - start) as f64 / 1e9)
}

/// 1/(p·R·(w+1)) with 1.5w² + w = 1/p: a window that grows from w to 2w packets, one per round trip.
fn law(every: u64, rtt_ns: i64) -> f64 {
    let w = (-1.0 + (1.0 + 6.0 * every as f64).sqrt()) / 3.0;
    every as f64 / (rtt_ns as f64 / 1e9 * (w + 1.0))
}

#[test]
fn reno_under_periodic_loss() {
    for (name, sack, rack, proportional_rate_reduction) in [
        ("RACK and PRR", true, true, true),
        ("RFC 6675 and PRR", true, false, true),
        ("RFC 6675", true, false, false),
        ("NewReno", false, false, false),
        ("NewReno and PRR", false, false, true),
    ] {
        let settings = config::Tcp {
            delayed_ack_ns: None,
            initial_ssthresh_packets: Some(50),
            sack,
            rack,
            proportional_rate_reduction,
            ..config::Tcp::default()
        };
        // The longest takes most of the time and shows least of recovery.
        let most = if rack { 3 } else { 2 };
        for (every, tolerance, cycles) in [(100, 0.1, 100), (1000, 0.03, 20), (10_000, 0.03, 3)].into_iter().take(most)
        {
            for rtt_ns in [10 * MS, 50 * MS, 200 * MS] {
                let (got, expected) = (rate(&settings, every, rtt_ns, cycles), law(every, rtt_ns));
                let off = got / expected - 1.0;
                assert!(
                    off.abs() < tolerance,
                    "{name}: 1/p {every}, {} ms: {got} for {expected} packets/s",
                    rtt_ns / MS
                );
            }
        }
    }
}

/// A receiver that acknowledges every other packet halves the growth of a window that counts ACKs: where k packets are sent
/// between losses it is at each moment as it is elsewhere where k/2 are (Padhye et al., 1998, with b = 2).
#[test]
fn reno_that_counts_delayed_acks_under_periodic_loss() {
    for appropriate_byte_counting in [true, false] {
        let settings =
            config::Tcp { initial_ssthresh_packets: Some(50), appropriate_byte_counting, ..config::Tcp::default() };
        for (every, cycles) in [(1000, 20), (4000, 8)] {
            let halved = if appropriate_byte_counting { every } else { every / 2 };
            let (got, expected) = (rate(&settings, every, 200 * MS, cycles), law(halved, 200 * MS));
            let off = got / expected - 1.0;
            assert!(off.abs() < 0.05, "{appropriate_byte_counting}: 1/p {every}: {got} for {expected} packets/s");
        }
    }
}
