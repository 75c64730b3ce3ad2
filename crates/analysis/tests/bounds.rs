//! Memory stays bounded: per connection, not per packet. The process has one test, so that its memory is the test's.

mod script;

use analysis::{Analysis, Options};
use script::*;
use std::net::SocketAddr;
use tables::Tables;
use wire::mptcp::{DataNumber, Dss, Mapping, MpJoin, Mptcp};
use wire::{Flags, Observation, Point, TcpOption};

const SYN: Flags = Flags::SYN;
const ACK: Flags = Flags::ACK;
const SYN_ACK: Flags = Flags::SYN.with(Flags::ACK);
const FIN_ACK: Flags = Flags::FIN.with(Flags::ACK);

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

/// Resident memory, KiB.
#[cfg(target_os = "linux")]
fn resident_kib() -> u64 {
    #[expect(clippy::disallowed_methods, reason = "a test may read files")]
    let status = std::fs::read_to_string("/proc/self/statm").expect("a process");
    status.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).expect("pages") * 4
}

#[cfg(not(target_os = "linux"))]
fn resident_kib() -> u64 {
    0
}

/// Runs `step` for so many numbers; memory may not grow by more than so many KiB after the first tenth.
fn bounded(name: &str, count: u32, most_kib: u64, mut step: impl FnMut(&mut Analysis, u32)) -> Tables {
    let mut analysis = analysis();
    (0..count / 10).for_each(|number| step(&mut analysis, number));
    let before = resident_kib();
    (count / 10..count).for_each(|number| step(&mut analysis, number));
    let grown = resident_kib().saturating_sub(before);
    assert!(grown <= most_kib, "{name}: grew by {grown} KiB");
    analysis.finish()
}

fn handshake(analysis: &mut Analysis, at: i64, ends: [SocketAddr; 2]) {
    analysis.observe(&plain(at, ends, SYN, (0, 0, 0)));
    analysis.observe(&plain(at + 1000, back(ends), SYN_ACK, (0, 1, 0)));
    analysis.observe(&plain(at + 1000, ends, ACK, (1, 1, 0)));
}

#[test]
fn memory_is_bounded() {
    // A port scan of a host whose ports are closed: it answers with resets. That such 4-tuples are over is remembered. It comes first: what
    // a scan before it had taken may be given back while it is measured, and would count.
    let tables = bounded("refused SYNs", 60_000, 32 << 10, |analysis, number| {
        let (at, ends) = (i64::from(number) * 1000, pair(number));
        analysis.observe(&plain(at, ends, SYN, (number, 0, 0)));
        analysis.observe(&plain(at + 500, back(ends), Flags::RST.with(ACK), (0, number + 1, 0)));
        analysis.observe(&plain(at + 500, back(ends), Flags::RST.with(ACK), (0, number + 1, 0)));
    });
    assert_eq!(tables.connections.len(), 4096);
    assert!(tables.subflows.iter().all(|row| row.handshake == "refused"));
    assert_eq!(count(&tables, "refused_syns"), 60_000 - 4096);
    assert!(!diagnostics(&tables).contains(&"late_packets"));
    drop(tables);

    // Connections that closed are finished and dropped: what stays are their rows, about 4 KiB each.
    let tables = bounded("closed connections", 10_000, 9_000 * 5, |analysis, number| {
        let (at, ends) = (i64::from(number) * 10_000_000, pair(number));
        handshake(analysis, at, ends);
        for segment in 0..10 {
            analysis.observe(&plain(at + 2000, ends, ACK, (1 + 100 * segment, 1, 100)));
        }
        analysis.observe(&plain(at + 3000, back(ends), ACK, (1, 1001, 0)));
        analysis.observe(&plain(at + 4000, ends, FIN_ACK, (1001, 1, 0)));
        analysis.observe(&plain(at + 5000, back(ends), FIN_ACK, (1, 1002, 0)));
        analysis.observe(&plain(at + 5000, ends, ACK, (1002, 2, 0)));
    });
    assert_eq!(tables.connections.len(), 10_000);
    assert!(tables.connections.iter().all(|row| row.ended == "closed"));
    assert!(tables.transfers.iter().filter(|row| row.direction == Up).all(|row| row.bytes == 1000));
    drop(tables);

    // Connections that stay open, and have something to say every other second: what passed in the times between takes next to nothing.
    const OPEN: u32 = 2000;
    let tables = bounded("open connections", 10 * OPEN, 8 << 10, |analysis, number| {
        let (turn, ends) = (number / OPEN, pair(number % OPEN));
        let at = 2_000_000_000 * i64::from(turn) + 10_000 * i64::from(number % OPEN);
        if turn == 0 {
            handshake(analysis, at, ends);
        }
        let (sent, came) = (1 + 100 * turn, 1 + 1000 * turn);
        analysis.observe(&plain(at + 2000, ends, ACK, (sent, came, 100)));
        analysis.observe(&plain(at + 3000, back(ends), ACK, (came, sent + 100, 1000)));
        analysis.observe(&plain(at + 4000, ends, ACK, (sent + 100, came + 1000, 0)));
    });
    assert_eq!(tables.connections.len(), OPEN as usize);
    assert!(tables.transfers.iter().filter(|row| row.direction == Down).all(|row| row.bytes == 10_000));
    drop(tables);

    // Every second segment is missing for ever.
    let tables = bounded("holes", 700_000, 8 << 10, |analysis, number| {
        if number == 0 {
            handshake(analysis, 0, pair(0));
        }
        let at = 10_000 + i64::from(number) * 1000;
        analysis.observe(&plain(at, pair(0), ACK, (1u32.wrapping_add(number.wrapping_mul(2000)), 1, 1000)));
    });
    assert_eq!(tables.connections.len(), 1);

    // Nobody answers a SYN, which comes again and again.
    let tables = bounded("a SYN for ever", 100_000, 8 << 10, |analysis, number| {
        analysis.observe(&plain(i64::from(number) * 1000, pair(0), SYN, (0, 0, 0)));
    });
    assert_eq!(tables.connections.len(), 1);

    // Acknowledgements are not in the capture.
    bounded("no acknowledgements", 700_000, 8 << 10, |analysis, number| {
        if number == 0 {
            handshake(analysis, 0, pair(0));
        }
        let at = 10_000 + i64::from(number) * 1000;
        analysis.observe(&plain(at, pair(0), ACK, (1u32.wrapping_add(number.wrapping_mul(1000)), 1, 1000)));
    });

    // Everything is sent twice: an event each, but not for ever.
    let tables = bounded("retransmissions", 500_000, 16 << 10, |analysis, number| {
        if number == 0 {
            handshake(analysis, 0, pair(0));
        }
        let at = 10_000 + i64::from(number) * 1000;
        let seq = 1 + number / 2 * 1000;
        analysis.observe(&plain(at, pair(0), ACK, (seq, 1, 1000)));
        analysis.observe(&plain(at + 1, back(pair(0)), ACK, (1, seq + 1000, 0)));
    });
    assert_eq!(transfer(&tables, Up).bytes, 250_000_000);
    assert!(diagnostics(&tables).contains(&"events_left_out"));
    drop(tables);

    // Data sequence numbers that jump from half to half of their space.
    bounded("far data sequence numbers", 300_000, 8 << 10, |analysis, number| {
        let at = i64::from(number) * 1000;
        let data_seq = u64::from(number.wrapping_mul(2_654_435_761)) << 32;
        let mapping =
            Mapping { data_seq: DataNumber::Long(data_seq), subflow_seq: 1 + number * 100, len: 100, checksum: None };
        let mut options = wire::Options::NONE;
        let dss = Dss { data_ack: None, mapping: Some(mapping), data_fin: false };
        options.push(&TcpOption::Mptcp(Mptcp::Dss(dss))).expect("room");
        analysis.observe(&segment(at, pair(0), ACK, (1 + number * 100, 1, 100), options));
    });

    // A port scan: SYNs that nobody answers wait for a while, and the first of them have rows.
    let tables = bounded("unanswered SYNs", 600_000, 64 << 10, |analysis, number| {
        analysis.observe(&plain(i64::from(number) * 1000, pair(number), SYN, (0, 0, 0)));
    });
    assert_eq!(tables.connections.len(), 4096);
    assert!(tables.subflows.iter().all(|row| row.handshake == "unanswered"));
    assert_eq!(count(&tables, "unanswered_syns"), 600_000 - 4096);
    drop(tables);

    // What a flood from forged addresses scatters: SYN/ACKs that nobody asked for, some of them reset. One has data after it, and is a connection.
    let tables = bounded("lone SYN/ACKs", 200_000, 80 << 10, |analysis, number| {
        let (at, ends) = (i64::from(number) * 1000, pair(number));
        analysis.observe(&plain(at, back(ends), SYN_ACK, (0, number + 1, 0)));
        if number % 3 == 0 {
            analysis.observe(&plain(at + 200, ends, Flags::RST, (number + 1, 0, 0)));
        }
        if number == 100_000 {
            analysis.observe(&plain(at + 500, back(pair(99_998)), ACK, (1, 99_999, 1000)));
        }
    });
    assert_eq!(tables.connections.len(), 4097);
    assert_eq!(tables.transfers.iter().map(|row| row.bytes).sum::<u64>(), 1000);
    assert_eq!(count(&tables, "lone_syn_acks"), 200_000 - 4097);
    drop(tables);

    // The same of joins, whose connections nobody knows: some are reset, and some of those sent again, or answer a later SYN of the same ports.
    let tables = bounded("lone SYN/ACKs of joins", 200_000, 80 << 10, |analysis, number| {
        let (at, ends) = (i64::from(number) * 1000, pair(number));
        let join = |at: i64, number: u32| {
            segment(
                at,
                back(ends),
                SYN_ACK,
                (number, number + 1, 0),
                joining(MpJoin::SynAck { backup: false, address_id: 1, hmac: 99, nonce: number }),
            )
        };
        analysis.observe(&join(at, number));
        if number % 3 == 0 {
            analysis.observe(&plain(at + 200, ends, Flags::RST, (number + 1, 0, 0)));
            analysis.observe(&join(at + 300, number + number % 2 * 1_000_000));
        }
    });
    assert_eq!(tables.connections.len(), 4096);
    assert!(tables.subflows.iter().all(|row| row.kind == "join" && row.handshake == "unseen"));
    assert_eq!(count(&tables, "lone_syn_acks"), 200_000 + 100_000 / 3 - 4096);
    assert!(!diagnostics(&tables).contains(&"late_packets"));
    drop(tables);

    // Joins that nobody answers, of connections that nobody knows: half of them name one.
    let tables = bounded("unanswered joins", 200_000, 128 << 10, |analysis, number| {
        let token = if number % 2 == 0 { number } else { 1 };
        let join = joining(MpJoin::Syn { backup: false, address_id: 1, token, nonce: number });
        analysis.observe(&segment(i64::from(number) * 1000, pair(number), SYN, (number, 0, 0), join));
    });
    assert_eq!((tables.connections.len(), tables.subflows.len()), (2049, 4096));
    assert_eq!(count(&tables, "unanswered_syns"), 200_000 - 4096);
}

fn joining(join: MpJoin) -> wire::Options {
    let mut options = wire::Options::NONE;
    options.push(&TcpOption::Mptcp(Mptcp::Join(join))).expect("room");
    options
}

fn count(tables: &Tables, diagnostic: &str) -> u64 {
    tables.diagnostics.iter().find(|row| row.diagnostic == diagnostic).and_then(|row| row.count).expect("said")
}
