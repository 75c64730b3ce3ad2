//! Whole transfers between two endpoints.

mod pair;

use pair::{End, Pair, tcp};
use proptest::prelude::*;
use transport::{Config, Outcome};
use wire::TcpOption;
use wire::mptcp::Mptcp;

fn complete(pair: &Pair, down: u64, up: u64) {
    for (n, (read, name)) in [(down, "client"), (up, "server")].into_iter().enumerate() {
        let seen = &pair.seen[n];
        assert_eq!(seen.read, read, "{name} read: {seen:?}");
        assert!(seen.finished && seen.delivered, "{name}: {seen:?}");
        assert_eq!(seen.outcome, Some(Outcome::Complete), "{name}");
    }
}

fn plain() -> Config {
    let mut config = Config::default();
    config.mptcp.enabled = false;
    config
}

#[test]
fn plain_tcp_carries_data_both_ways() {
    let mut pair = Pair::new(plain(), plain(), &[10]);
    pair.to_write = [300_000, 5_000_000];
    pair.run(60_000);
    complete(&pair, 5_000_000, 300_000);
    assert!(!pair.log.iter().any(|(.., packet)| has_mptcp(packet)));
}

#[test]
fn mptcp_over_two_paths_uses_both() {
    let mut pair = Pair::new(Config::default(), Config::default(), &[10, 12]);
    pair.to_write = [300_000, 5_000_000];
    pair.run(60_000);
    complete(&pair, 5_000_000, 300_000);
    let bytes = |path| -> u64 {
        let down = pair.log.iter().filter(|(_, end, nic, _)| *end == End::Server && nic.0 == path);
        down.map(|(.., packet)| u64::from(packet.frame.payload.len)).sum()
    };
    assert!(bytes(0) > 100_000 && bytes(1) > 100_000, "{} and {}", bytes(0), bytes(1));
}

fn has_mptcp(packet: &wire::Packet) -> bool {
    tcp(packet).options.iter().any(|option| matches!(option, Ok(TcpOption::Mptcp(Mptcp::Capable(_) | Mptcp::Dss(_)))))
}

/// Settings by the bits of a number.
fn settings(bits: u32) -> Config {
    let bit = |n: u32| bits >> n & 1 == 1;
    let mut config = Config::default();
    config.congestion_control = ["reno", "cubic", "lia", "olia"][(bits & 3) as usize].into();
    config.mptcp.scheduler = if bit(2) { "linux" } else { "lowest-rtt" }.into();
    config.mptcp.checksum = bit(3);
    config.mptcp.long_numbers = bit(4);
    config.mptcp.opportunistic_retransmission = bit(5);
    config.mptcp.penalisation = bit(6);
    config.tcp.sack = !bit(7);
    config.tcp.rack = !bit(8);
    config.tcp.tail_loss_probe = !bit(9);
    config.tcp.proportional_rate_reduction = !bit(10);
    config.tcp.timestamps = !bit(11);
    config.tcp.delayed_ack_ns = if bit(12) { None } else { Some(40_000_000) };
    config.tcp.pacing = bit(13);
    config.mptcp.enabled = !(bit(14) && bit(15));
    if bit(16) {
        config.tcp.receive_buffer_bytes = 20_000;
        config.tcp.receive_buffer_tuning = false;
    }
    config
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]
    #[test]
    fn every_byte_arrives_once_whatever_is_lost(
        client in any::<u32>(),
        server in any::<u32>(),
        loss_percent in 0u64..25,
        down in 1u64..400_000,
        up in 0u64..100_000,
        seed in any::<u64>(),
        delays in prop::collection::vec(1i64..200, 1..4),
    ) {
        let mut pair = Pair::new(settings(client), settings(server), &delays);
        pair.to_write = [up, down];
        let mut state = seed | 1;
        pair.middle = Box::new(move |now, _, _, _| {
            // An end to the losses, so that nobody gives up for good.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            now.as_nanos() > 40_000_000_000 || (state >> 33) % 100 >= loss_percent
        });
        pair.run(1_000_000);
        for (n, read) in [(0, down), (1, up)] {
            let seen = &pair.seen[n];
            prop_assert_eq!(seen.read, read, "end {}: {:?}", n, &pair.seen);
            prop_assert_eq!(seen.outcome, Some(Outcome::Complete), "end {}: {:?}", n, &pair.seen);
        }
    }
}
