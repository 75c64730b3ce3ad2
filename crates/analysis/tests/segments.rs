//! The tables `segments` and `distributions`, worked out by hand from scripts.

mod script;

use analysis::Options;
use script::Host::Server;
use script::*;

/// A download, seen at the server: a segment is lost and sent again, another is sent on the other path too, one has no
/// mapping.
const TRANSFER: &str = "
    0     client wifi S  0    0    0    mp_capable
    0.1   server wifi SA 0    1    0    mp_capable
    20    client wifi A  1    1    0    mp_capable
    30    client lte  S  0    0    0    join(2)
    30.1  server lte  SA 0    1    0    join(0)
    80    client lte  A  1    1    0    join(2)
    80.1  server lte  A  1    1    0    dss(ack 1)
    100   server wifi A  1    1    1000 dss(1 1 1000, ack 1)
    101   server wifi A  1001 1    1000 dss(1001 1001 1000, ack 1)
    120   client wifi A  1    1001 0    dss(ack 1001)
    150   server wifi A  1001 1    1500 dss(1001 1001 1500, ack 1)  # again, and 500 bytes more
    151   server lte  A  1    1    1000 dss(1501 1 1000, ack 1)     # 500 + 500 of them on the other path
    170   client wifi A  1    2501 0    dss(ack 2501)
    201   client lte  A  1    1001 0    dss(ack 2501)
    202   client wifi A  1    2501 100  dss(1 1 100, ack 2501)
    203   server wifi A  2501 101  100                              # no mapping
    222   server wifi A  2501 101  0    dss(ack 101)
    ";

type Position = (u32, tables::Direction, Option<i64>, i64, u32);

fn positions(tables: &tables::Tables) -> Vec<Position> {
    let position = |row: &tables::Segment| {
        (row.subflow, row.direction, row.data_offset_bytes, row.subflow_offset_bytes, row.bytes)
    };
    tables.segments.iter().map(position).collect()
}

fn kinds(tables: &tables::Tables) -> Vec<(Option<&'static str>, u32, u32)> {
    tables.segments.iter().map(|row| (row.kind, row.retransmitted_bytes, row.reinjected_bytes)).collect()
}

#[test]
fn segments_say_where_their_bytes_lie_and_what_they_are() {
    let tables = Script::at(Server).run(TRANSFER);
    let expected: [Position; 6] = [
        (0, Down, Some(0), 0, 1000),
        (0, Down, Some(1000), 1000, 1000),
        (0, Down, Some(1000), 1000, 1500),
        (1, Down, Some(1500), 0, 1000),
        (0, Up, Some(0), 0, 100),
        (0, Down, None, 2500, 100),
    ];
    assert_eq!(positions(&tables), expected);
    let new = (Some("new"), 0, 0);
    let again = (Some("retransmission"), 1000, 0);
    assert_eq!(kinds(&tables), [new, new, again, (Some("reinjection"), 0, 1000), new, new]);
    let at: Vec<_> = tables.segments.iter().map(|row| (row.at_ns - EPOCH_NS, row.at_s, row.record)).collect();
    assert_eq!(at[0], (100_000_000, 0.1, 8));
    assert_eq!(at[5], (203_000_000, 0.203, 16));
}

/// The client sees the lost segment once only, after what followed it: it cannot tell why it is late.
#[test]
fn what_fills_a_gap_is_of_no_known_kind_at_the_receiver() {
    let text = "
        0   client wifi S  0    0    0    mp_capable
        20  server wifi SA 0    1    0    mp_capable
        20  client wifi A  1    1    0    mp_capable
        50  server wifi A  1001 1    1000 dss(1001 1001 1000, ack 1)
        50  client wifi A  1    1    0    dss(ack 1)
        80  server wifi A  1    1    1000 dss(1 1 1000, ack 1)
        80  client wifi A  1    2001 0    dss(ack 2001)
        90  server wifi A  1    1    1000 dss(1 1 1000, ack 1)
        90  client wifi A  1    2001 0    dss(ack 2001)
        ";
    let tables = Script::default().run(text);
    assert_eq!(only(&tables).vantage, Some("client"));
    assert_eq!(kinds(&tables), [(Some("new"), 0, 0), (None, 0, 0), (Some("retransmission"), 1000, 0)]);
}

/// A keep-alive brings nothing; a probe into a closed window is a kind of its own.
#[test]
fn probes_and_keep_alives() {
    let tables = Script::at(Server).run(
        "
        0    client wifi S  0    0    0
        0.1  server wifi SA 0    1    0
        20   client wifi A  1    1    0
        100  server wifi A  1    1    1000
        120  client wifi A  1    1001 0 win(0)
        320  server wifi A  1000 1    0
        740  server wifi A  1001 1    1
        1560 server wifi A  1001 1    1
        1580 client wifi A  1    1002 0
        9000 server wifi A  1001 1    1           # keep-alive
        9020 client wifi A  1    1002 0
        ",
    );
    assert_eq!(kinds(&tables), [(Some("new"), 0, 0), (Some("probe"), 0, 0), (Some("probe"), 0, 0)]);
    assert_eq!(tables.segments.iter().map(|row| row.bytes).sum::<u32>(), 1002);
    assert_eq!(flow(&tables, 0, Down).data_bytes, 1002);
}

/// With captures of both ends each packet has a row once, by the end that sent it.
#[test]
fn of_two_ends_the_sender_tells() {
    let text = "
        0|10    client wifi S  0    0    0    mp_capable
        20|10   server wifi SA 0    1    0    mp_capable
        20|30   client wifi A  1    1    0    mp_capable
        -|100   server wifi A  1    1    1000 dss(1 1 1000, ack 1)
        210|200 server wifi A  1    1    1000 dss(1 1 1000, ack 1)
        210|220 client wifi A  1    1001 50   dss(1 1 50, ack 1001)
        240|230 server wifi A  1001 51   0    dss(ack 51)
        ";
    let tables = Script::default().run(text);
    let seen: Vec<_> = tables.segments.iter().map(|row| (row.direction, row.at_ns - EPOCH_NS, row.kind)).collect();
    let ms = 1_000_000;
    assert!(seen.contains(&(Up, 210 * ms, Some("new"))), "{seen:?}");
    assert_eq!(seen.iter().filter(|row| row.0 == Up).count(), 1);
    let down: Vec<_> = seen.iter().filter(|row| row.0 == Down).map(|row| row.2).collect();
    assert_eq!(down, [Some("new"), Some("retransmission")]);
}

#[test]
fn segments_are_listed_only_where_samples_are_asked_for() {
    let packets = Script::at(Server).packets(TRANSFER);
    let without = analyze_with(Options::default(), packets.clone());
    assert!(without.segments.is_empty());
    let with = analyze(packets);
    assert_eq!(without.distributions, with.distributions);
    assert_eq!((without.flows, without.transfers), (with.flows, with.transfers));
}

/// 2⁷ bins to a power of two: 20 ms and 50 ms lie in [2²⁴, 2²⁵) and [2²⁵, 2²⁶) ns, in bins of 2¹⁷ and 2¹⁸ ns.
#[test]
fn distributions_are_the_bins_of_the_quantiles() {
    let tables = Script::at(Server).run(TRANSFER);
    // Wi-Fi: 20 ms for the first 1000 bytes and for the last 500, none for what was sent again. LTE: 50 ms.
    let rows: Vec<_> = tables.distributions.iter().map(|row| (row.subflow, row.direction, row.count)).collect();
    assert_eq!(rows[..4], [(Some(0), Down, 2), (Some(1), Down, 1), (None, Down, 2), (None, Down, 1)]);
    let bin =
        |nanos: u64, width: u64| ((nanos / width * width) as f64 / 1e6, (nanos / width * width + width) as f64 / 1e6);
    let bounds: Vec<_> = tables.distributions.iter().map(|row| (row.from_ms, row.to_ms)).collect();
    assert_eq!(bounds[..2], [bin(20_000_000, 1 << 17), bin(50_000_000, 1 << 18)]);
    assert_eq!(bounds[2..4], bounds[..2]);
    // The client's data came in order.
    let late = tables.distributions.last().expect("rows");
    assert_eq!((late.quantity, late.subflow, late.direction), ("out_of_order_delay", None, Up));
    assert_eq!((late.from_ms, late.to_ms, late.count), (0.0, 1e-6, 1));
    // At the client: delays of the server's data, and the round trip of its own.
    let at_client = TRANSFER.replace("0.1   server", "20 server").replace("30.1  server", "80 server");
    let client = Script::default().run(&at_client);
    assert_eq!(only(&client).vantage, Some("client"));
    assert!(client.distributions.iter().all(|row| (row.quantity == "rtt") == (row.direction == Up)));
}
