//! Whatever the link does and whichever mechanisms are on, every byte arrives once and in order and nobody is stuck.

use crate::pair::{Fate, Host, MS, Pair, Segment};
use proptest::prelude::*;
use transport::config;
use wire::Time;

/// How bad the link is.
#[derive(Clone, Debug)]
struct Link {
    delay_ns: i64,
    jitter_ns: i64,
    loss_percent: u64,
    duplicate_percent: u64,
}

fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32
}

fn links() -> impl Strategy<Value = Link> {
    (1..100i64, prop_oneof![Just(0), 1..60i64], prop_oneof![Just(0), 0..30u64], prop_oneof![Just(0), 0..20u64])
        .prop_map(|(delay, jitter, loss_percent, duplicate_percent)| Link {
            delay_ns: delay * MS,
            jitter_ns: jitter * MS,
            loss_percent,
            duplicate_percent,
        })
}

prop_compose! {
    /// Every switch either way.
    fn settings()(
        switches in proptest::array::uniform10(any::<bool>()),
        initial_window_packets in 1..20u32,
        initial_ssthresh_packets in prop_oneof![Just(None), (2..50u32).prop_map(Some)],
        quick_acks in 0..20u32,
    ) -> config::Tcp {
        let [window_scaling, timestamps, sack, delayed, prr, rack, tlp, linux_timeout, pacing, undo] = switches;
        config::Tcp {
            window_scaling,
            timestamps,
            sack,
            delayed_ack_ns: delayed.then_some(40 * MS),
            quick_acks,
            proportional_rate_reduction: prr,
            rack,
            tail_loss_probe: tlp,
            linux_timeout,
            min_timeout_ns: if linux_timeout { 200 * MS } else { 1000 * MS },
            pacing,
            undo,
            initial_window_packets,
            initial_ssthresh_packets,
            // At worst 30 % of segments are lost each way: nobody gives up by chance.
            syn_retries: 40,
            retries: 60,
            max_timeout_ns: 10_000 * MS,
            time_wait_ns: 600_000 * MS,
            ..config::Tcp::default()
        }
    }
}

fn run(pair: &mut Pair, link: &Link, mut seed: u64) {
    let mut fate = |now: Time, _: usize, _: &Segment| -> Fate {
        let mut copy = |percent: u64| {
            let lost = random(&mut seed) % 100 >= percent;
            let jitter = if link.jitter_ns > 0 { random(&mut seed) as i64 % link.jitter_ns } else { 0 };
            lost.then(|| now + link.delay_ns + jitter)
        };
        [copy(link.loss_percent), copy(100 - link.duplicate_percent)]
    };
    let mut steps = 0;
    while !pair.both_closed() {
        assert!(
            pair.step(&mut fate),
            "stuck at {:?}: {:#?}",
            pair.now,
            pair.hosts.each_ref().map(|host| host.tcp.as_ref())
        );
        steps += 1;
        assert!(steps < 200_000, "no end: {:#?}", pair.hosts.each_ref().map(|host| host.tcp.as_ref()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn everything_arrives_once_and_in_order(
        client in settings(),
        server in settings(),
        link in links(),
        (up, down) in (0..200_000u64, 0..200_000u64),
        isns in any::<[u32; 2]>(),
        (buffer, reads_every_ms) in prop_oneof![Just((1 << 30, None)), (3000..60_000u64, (1..2000i64).prop_map(Some))],
        seed in 1..u64::MAX,
    ) {
        let mut pair = Pair::new(Host::new(client, true, isns[0]), Host::new(server, false, isns[1]));
        (pair.hosts[0].total, pair.hosts[1].total) = (up, down);
        pair.hosts[1].buffer = buffer;
        pair.hosts[1].reads_every_ns = reads_every_ms.map(|ms| ms * MS);
        run(&mut pair, &link, seed);
        prop_assert_eq!((pair.hosts[1].arrived, pair.hosts[0].arrived), (up, down));
        for host in &pair.hosts {
            prop_assert!(host.finished && host.established && host.gone.is_none() && !host.reset);
        }
    }
}
