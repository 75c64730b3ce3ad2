//! Whole transfers between two endpoints.

mod pair;

use pair::{End, Pair, tcp};
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
    let mut pair = Pair::new(Config::default(), Config::default(), &[10, 30]);
    pair.to_write = [300_000, 5_000_000];
    pair.run(60_000);
    complete(&pair, 5_000_000, 300_000);
    let bytes = |path| -> u64 {
        let down = pair.log.iter().filter(|(_, end, nic, _)| *end == End::Server && nic.0 == path);
        down.map(|(.., packet)| u64::from(packet.frame.payload.len)).sum()
    };
    assert!(bytes(0) > 500_000 && bytes(1) > 500_000, "{} and {}", bytes(0), bytes(1));
}

fn has_mptcp(packet: &wire::Packet) -> bool {
    tcp(packet).options.iter().any(|option| matches!(option, Ok(TcpOption::Mptcp(Mptcp::Capable(_) | Mptcp::Dss(_)))))
}
