//! Whatever the link does and whichever mechanisms are on, every byte arrives once and in order and nobody is stuck.

use crate::pair::{Fate, Host, MS, Pair, Segment};
use proptest::prelude::*;
use std::ops::Range;
use transport::config;
use wire::Time;

/// How bad the link is.
#[derive(Clone, Debug)]
struct Link {
    delay_ns: i64,
    jitter_ns: i64,
    loss_percent: u64,
    duplicate_percent: u64,
    /// Of so many segments one is marked; 0: none.
    marks_each: u64,
    /// Nothing passes, from the start of the transfer.
    outage_ns: Range<i64>,
}

fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32
}

prop_compose! {
    fn links()(
        delay in 1..100i64,
        jitter in prop_oneof![Just(0), 1..60i64],
        loss_percent in prop_oneof![Just(0), 0..30u64],
        duplicate_percent in prop_oneof![Just(0), 0..20u64],
        marks_each in 0..20u64,
        (from, len) in prop_oneof![Just((0, 0)), (0..2000i64, 0..20_000i64)],
    ) -> Link {
        Link { delay_ns: delay * MS, jitter_ns: jitter * MS, loss_percent, duplicate_percent, marks_each, outage_ns: from * MS..(from + len) * MS }
    }
}

/// Every switch as `bits` say.
fn switched(bits: u32) -> config::Tcp {
    let on = |i: u32| bits >> i & 1 == 1;
    let linux_timeout = on(7);
    config::Tcp {
        window_scaling: on(0),
        timestamps: on(1),
        sack: on(2),
        delayed_ack_ns: on(3).then_some(40 * MS),
        proportional_rate_reduction: on(4),
        rack: on(5),
        tail_loss_probe: on(6),
        linux_timeout,
        min_timeout_ns: if linux_timeout { 200 * MS } else { 1000 * MS },
        pacing: on(8),
        undo: on(9),
        ecn: if on(10) { config::Ecn::Request } else { config::Ecn::Accept },
        // At worst 30 % of segments are lost each way: nobody gives up by chance.
        syn_retries: 40,
        retries: 60,
        max_timeout_ns: 10_000 * MS,
        time_wait_ns: 600_000 * MS,
        ..config::Tcp::default()
    }
}

const SWITCHES: u32 = 11;

prop_compose! {
    fn settings()(
        bits in 0..1u32 << SWITCHES,
        initial_window_packets in 1..20u32,
        initial_ssthresh_packets in prop_oneof![Just(None), (2..50u32).prop_map(Some)],
        quick_acks in 0..20u32,
    ) -> config::Tcp {
        config::Tcp { initial_window_packets, initial_ssthresh_packets, quick_acks, ..switched(bits) }
    }
}

fn run(pair: &mut Pair, link: &Link, mut seed: u64) {
    let start = pair.now;
    pair.marks_each = link.marks_each;
    let mut fate = |now: Time, _: usize, _: &Segment| -> Fate {
        if link.outage_ns.contains(&(now - start)) {
            return [None, None];
        }
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

#[test]
fn with_every_setting_of_the_switches() {
    let link = Link {
        delay_ns: 20 * MS,
        jitter_ns: 15 * MS,
        loss_percent: 10,
        duplicate_percent: 5,
        marks_each: 7,
        outage_ns: 100 * MS..900 * MS,
    };
    for bits in 0..1 << SWITCHES {
        let settings = switched(bits);
        let mut pair = Pair::new(Host::new(settings.clone(), true, 1), Host::new(settings, false, 2));
        (pair.hosts[0].total, pair.hosts[1].total) = (60_000, 30_000);
        run(&mut pair, &link, u64::from(bits) + 1);
        assert_eq!((pair.hosts[1].arrived, pair.hosts[0].arrived), (60_000, 30_000), "switches {bits:#b}");
    }
}
