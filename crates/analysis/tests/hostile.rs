//! Work stays bounded: no capture makes a packet cost as much as all packets before it.

mod script;

use analysis::{Analysis, Options};
use script::*;
use std::net::SocketAddr;
use wire::mptcp::{MpJoin, Mptcp};
use wire::{Flags, Observation, Point, TcpOption};

const SYN: Flags = Flags::SYN;
const ACK: Flags = Flags::ACK;
const SYN_ACK: Flags = Flags::SYN.with(Flags::ACK);

fn pair(number: u32) -> [SocketAddr; 2] {
    let [_, a, b, c] = number.to_be_bytes();
    [SocketAddr::from(([10, a, b, c], 5000)), SocketAddr::from(([192, 0, 2, 1], 443))]
}

fn back([client, server]: [SocketAddr; 2]) -> [SocketAddr; 2] {
    [server, client]
}

fn analysis() -> Analysis {
    let mut analysis = Analysis::new(Options::default());
    analysis.add_point(Point::default());
    analysis
}

fn plain(at_ns: i64, ends: [SocketAddr; 2], flags: Flags, numbers: (u32, u32, u32)) -> Observation {
    segment(at_ns, ends, flags, numbers, wire::Options::NONE)
}

/// Segments from the last to the first, each before all that came: no work that grows with their number.
#[test]
fn reversed_segments() {
    let mut analysis = analysis();
    analysis.observe(&plain(0, pair(0), SYN, (0, 0, 0)));
    analysis.observe(&plain(1000, back(pair(0)), SYN_ACK, (0, 1, 0)));
    analysis.observe(&plain(1000, pair(0), ACK, (1, 1, 0)));
    for number in (0..200_000u32).rev() {
        let at = 10_000 + i64::from(200_000 - number) * 1000;
        analysis.observe(&plain(at, pair(0), ACK, (1 + number * 1000, 1, 1000)));
    }
    analysis.observe(&plain(1_000_000_000, back(pair(0)), ACK, (1, 200_000_001, 0)));
    let tables = analysis.finish();
    assert_eq!(transfer(&tables, Up).bytes, 200_000_000);
}

/// More subflows than 16 bits count, all of one connection.
#[test]
fn many_subflows() {
    let script = Script::default();
    let mut analysis = analysis();
    let handshake = "
        0  client wifi S  0 0 0 mp_capable
        20 server wifi SA 0 1 0 mp_capable
        20 client wifi A  1 1 0 mp_capable
        ";
    script.packets(handshake).iter().for_each(|packet| analysis.observe(&packet.observation));
    for number in 0..70_000u32 {
        let mut options = wire::Options::NONE;
        let token = script.token(Host::Server);
        let join = MpJoin::Syn { backup: false, address_id: 1, token, nonce: number };
        options.push(&TcpOption::Mptcp(Mptcp::Join(join))).expect("room");
        let at = 30_000_000 + i64::from(number) * 1000;
        analysis.observe(&segment(at, pair(0x20_0000 + number), SYN, (number, 0, 0), options));
        // Half of them are refused.
        if number % 2 == 0 {
            let refusal = Flags::RST.with(ACK);
            analysis.observe(&plain(at + 500, back(pair(0x20_0000 + number)), refusal, (0, number + 1, 0)));
        }
    }
    let tables = analysis.finish();
    assert_eq!(only(&tables).subflows, 70_001);
    let of = |handshake: &str| tables.subflows.iter().filter(|row| row.handshake == handshake).count();
    assert_eq!((of("refused"), of("pending"), of("established")), (35_000, 35_000, 1));
}

/// Joins of one token and one random number from everywhere: no copies that a NAT makes, as those come at once and few.
#[test]
fn flood_of_one_join() {
    let join = |number: u32, seq: u32, at_ns: i64| {
        let mut options = wire::Options::NONE;
        let join = MpJoin::Syn { backup: false, address_id: 1, token: 0x1234_5678, nonce: 99 };
        options.push(&TcpOption::Mptcp(Mptcp::Join(join))).expect("room");
        segment(at_ns, pair(number), SYN, (seq, 0, 0), options)
    };
    let mut analysis = analysis();
    (0..10_000).for_each(|number| analysis.observe(&join(number, 0, i64::from(number) * 20_000)));
    let tables = analysis.finish();
    assert_eq!((only(&tables).protocol, only(&tables).mptcp_version), ("mptcp", None));
    // Three may be copies.
    assert_eq!((only(&tables).subflows, only(&tables).began), (4_096, "midway"));
    let said = |name: &str| tables.diagnostics.iter().find(|row| row.diagnostic == name).and_then(|row| row.count);
    assert_eq!((said("joins_repeated"), said("translated_copies")), (Some(4_095), Some(3)));
    assert_eq!(said("unanswered_syns"), Some(10_000 - 4_096 - 3));
}

/// Connections that all begin at the same sequence numbers, while others wait for their answers: each is its own.
#[test]
fn connections_with_equal_sequence_numbers() {
    let mut analysis = analysis();
    for number in 0..30_000u32 {
        let at = i64::from(number) * 1000;
        analysis.observe(&plain(at, pair(number), SYN, (0, 0, 0)));
        analysis.observe(&plain(at + 10, back(pair(number)), SYN_ACK, (0, 1, 0)));
        analysis.observe(&plain(at + 20, pair(number), ACK, (1, 1, 100)));
        analysis.observe(&plain(at + 30, back(pair(number)), ACK, (1, 101, 0)));
    }
    let tables = analysis.finish();
    assert_eq!(tables.connections.len(), 30_000);
    assert!(tables.transfers.iter().filter(|row| row.direction == Up).all(|row| row.bytes == 100));
}

/// A clock that was set during the handshake: no figure, and a word.
#[test]
fn clocks_that_jump() {
    const YEARS_MS: i64 = 21 * 365 * 86_400_000;
    for (syn, third) in [(YEARS_MS, YEARS_MS + 1), (-YEARS_MS, 1 - YEARS_MS)] {
        // As they stand: what stands behind by so much is not put in order.
        let text = format!("0 client wifi S 0 0 0\n{syn} server wifi SA 0 1 0\n{third} client wifi A 1 1 0");
        let mut analysis = analysis();
        Script::default().packets(&text).iter().for_each(|packet| analysis.observe(&packet.observation));
        let tables = analysis.finish();
        assert_eq!((subflow(&tables, 0).handshake_rtt_ms, subflow(&tables, 0).join_time_ms), (None, None));
        assert_eq!((only(&tables).vantage, subflow(&tables, 0).handshake), (None, "established"));
        assert!(diagnostics(&tables).contains(&"clock_jumped"));
    }
}
