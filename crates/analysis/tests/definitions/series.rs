//! Throughput over time, windows, and what is sent to keep a connection open.

use crate::script::Host::Server;
use crate::script::*;
use analysis::Options;

const UNEVEN: &str = "
    0    client wifi S  0    0    0
    20   server wifi SA 0    1    0
    20   client wifi A  1    1    0
    500  server wifi A  1    1    1000
    500  client wifi A  1    1001 0
    1500 server wifi A  1001 1    3000
    1500 client wifi A  1    4001 0
    2500 server wifi A  4001 1    1000
    2500 client wifi A  1    5001 0
    3500 server wifi A  5001 1    3000
    3500 client wifi A  1    8001 0
    4200 server wifi A  8001 1    100
    4200 client wifi A  1    8101 0
    ";

/// Bins of 1 s from the first packet; the last one until the last acknowledgement.
#[test]
fn throughput_in_bins() {
    let tables = Script::default().run(UNEVEN);
    let of_connection = tables.throughput.iter().filter(|row| row.subflow.is_none() && row.direction == Down);
    let bins: Vec<_> = of_connection.map(|row| (row.at_s, row.bytes, row.throughput_mbps)).collect();
    // 1000 B/s = 0.008 Mbit/s; 100 bytes in 0.2 s = 0.004 Mbit/s.
    assert_eq!(
        bins,
        [(0.0, 1000, 0.008), (1.0, 3000, 0.024), (2.0, 1000, 0.008), (3.0, 3000, 0.024), (4.0, 100, 0.004)]
    );
}

/// A connection that idles for a month has no row for each of its seconds; what does not need them is told all the same.
#[test]
fn throughput_of_a_very_long_connection() {
    let tables = Script::default().run(
        "
        0          client wifi S  0   0    0
        20         server wifi SA 0   1    0
        20         client wifi A  1   1    0
        40         server wifi A  1   1    1000
        40         client wifi A  1   1001 0
        2592000000 server wifi A  1001 1   1000
        2592000000 client wifi A  1   2001 0
        ",
    );
    assert_eq!((transfer(&tables, Down).bytes, transfer(&tables, Down).elapsed_s), (2000, Some(2_592_000.0)));
    assert_eq!(transfer(&tables, Down).gaps, Some(1));
    assert_eq!(tables.throughput, []);
    let left_out = tables.diagnostics.iter().find(|row| row.diagnostic == "throughput_left_out").unwrap();
    // A row per second for the connection, and for its only subflow.
    assert_eq!(left_out.count, Some(2 * 2_592_000));
}

/// σ/μ of the series of whole bins, smoothed and its start dropped as asked.
#[test]
fn coefficient_of_variation() {
    let with = |smoothing_s: i64, trim_s: i64| {
        let options = Options {
            smoothing_ns: smoothing_s * 1_000_000_000,
            trim_ns: trim_s * 1_000_000_000,
            ..Options::default()
        };
        let tables = analyze_with(options, Script::default().packets(UNEVEN));
        let down = transfer(&tables, Down);
        (down.throughput_mbps_mean, down.throughput_mbps_sigma, down.coefficient_of_variation)
    };
    // 8, 24, 8, 24 kbit/s: mean 16, σ = √(4 × 8² / 3).
    let (mean, sigma, cv) = with(1, 0);
    close(mean, 0.016);
    close(sigma, (256.0f64 / 3.0).sqrt() / 1000.0);
    close(cv, (256.0f64 / 3.0).sqrt() / 16.0);
    // 24, 8, 24: mean 56/3, σ = √(((16/3)² × 2 + (32/3)²) / 2) = √(256/3).
    let (mean, _, cv) = with(1, 1);
    close(mean, 0.056 / 3.0);
    close(cv, (256.0f64 / 3.0).sqrt() / (56.0 / 3.0));
    // Over two seconds each: 16, 16, 16.
    let (mean, sigma, cv) = with(2, 0);
    close(mean, 0.016);
    assert!(sigma.unwrap() < 1e-12 && cv.unwrap() < 1e-12);
    // Longer than the transfer: nothing to take it of.
    assert_eq!(with(5, 5), (None, None, None));
}

/// In flight: sent and not yet acknowledged, over the data packets. Window: the field shifted by the scale that the
/// announcing side's SYN had, if both had one (RFC 7323 §2.2).
#[test]
fn data_in_flight_and_window() {
    let text = |server_scale: &str| {
        format!(
            "
            0   client wifi S  0    0    0 ws(7)
            0.1 server wifi SA 0    1    0 {server_scale}
            20  client wifi A  1    1    0 win(200)
            100 server wifi A  1    1    1000
            101 server wifi A  1001 1    1000
            120 client wifi A  1    1001 0 win(100)
            121 server wifi A  2001 1    1000
            "
        )
    };
    let scaled = Script::at(Server).run(&text("ws(2)"));
    let down = flow(&scaled, 0, Down);
    // After each data packet: 1000, 2000, 2000.
    close(down.in_flight_bytes_mean, 5000.0 / 3.0);
    assert_eq!(down.in_flight_bytes_max, Some(2000));
    assert_eq!((down.window_bytes_min, down.window_bytes_max), (Some(100 << 7), Some(200 << 7)));
    let of_down = scaled.window.iter().filter(|row| row.direction == Down);
    let rows: Vec<_> = of_down.map(|row| (row.in_flight_bytes, row.window_bytes, row.record)).collect();
    assert_eq!(
        rows,
        [
            (Some(0), Some(25_600), 3),
            (Some(1000), Some(25_600), 4),
            (Some(2000), Some(25_600), 5),
            (Some(1000), Some(12_800), 6),
            (Some(2000), Some(12_800), 7),
        ]
    );
    let unscaled = Script::at(Server).run(&text(""));
    assert_eq!(flow(&unscaled, 0, Down).window_bytes_max, Some(200));
    // At the receiver, what is in flight is not known; what it announces is.
    let receiver = Script::default().run(&text("ws(2)").replace("0.1 server", "20  server"));
    assert_eq!(flow(&receiver, 0, Down).in_flight_bytes_max, None);
    assert_eq!(flow(&receiver, 0, Down).window_bytes_max, Some(25_600));
}

/// An ACK that the FIN overtook has the number before the next too.
#[test]
fn an_ack_overtaken_by_the_fin_is_no_keep_alive() {
    let tables = Script::default().run(
        "
        0    client wifi S  0 0 0
        20   server wifi SA 0 1 0
        20   client wifi A  1 1 0
        30   client wifi FA 1 1 0
        50   server wifi A  1 2 0
        50.1 client wifi A  1 1 0
        ",
    );
    assert_eq!(flow(&tables, 0, Up).keep_alive_packets, Some(0));
}

/// RFC 1122 §4.2.3.6: a keep-alive repeats the number before the next, with one byte of garbage or none.
#[test]
fn keep_alives() {
    let tables = Script::at(Server).run(
        "
        0     client wifi S  0    0    0
        0.1   server wifi SA 0    1    0
        20    client wifi A  1    1    0
        100   server wifi A  1    1    1000
        120   client wifi A  1    1001 0
        60120 server wifi A  1000 1    0
        60140 client wifi A  1    1001 0
        90120 server wifi A  1000 1    1
        90140 client wifi A  1    1001 0
        ",
    );
    let down = flow(&tables, 0, Down);
    assert_eq!((down.keep_alive_packets, down.zero_window_probe_packets), (Some(2), Some(0)));
    assert_eq!((down.data_packets, down.bytes, down.retransmitted_packets), (1, 1000, Some(0)));
    assert_eq!(events(&tables), ["tcp_established"]);
    assert_eq!(transfer(&tables, Down).elapsed_s, Some(0.12));
    // Nothing was sent yet: the number before the next is the SYN's.
    let idle = Script::at(Server).run(
        "
        0     client wifi S  0 0 0
        0.1   server wifi SA 0 1 0
        20    client wifi A  1 1 0
        60000 client wifi A  0 1 0
        60000 server wifi A  1 1 0
        90000 server wifi A  0 1 0
        90020 client wifi A  1 1 0
        ",
    );
    assert_eq!([Up, Down].map(|direction| flow(&idle, 0, direction).keep_alive_packets), [Some(1), Some(1)]);
}

/// RFC 9293 §3.8.6.1: into a closed window a byte is sent now and then, or an old number without one (Linux).
#[test]
fn zero_window_probes() {
    let tables = Script::at(Server).run(
        "
        0    client wifi S  0    0    0
        0.1  server wifi SA 0    1    0
        20   client wifi A  1    1    0
        100  server wifi A  1    1    1000
        120  client wifi A  1    1001 0 win(0)
        320  server wifi A  1000 1    0           # Linux
        340  client wifi A  1    1001 0 win(0)
        740  server wifi A  1001 1    1           # others
        760  client wifi A  1    1001 0 win(0)
        1560 server wifi A  1001 1    1           # again
        1580 client wifi A  1    1002 0           # it opened
        1580 server wifi A  1002 1    500
        1600 client wifi A  1    1502 0
        ",
    );
    let down = flow(&tables, 0, Down);
    assert_eq!((down.zero_window_probe_packets, down.keep_alive_packets), (Some(3), Some(0)));
    // The byte came through in the end; that it was tried twice is no loss.
    assert_eq!((transfer(&tables, Down).bytes, down.bytes), (1501, 1501));
    assert_eq!(
        (down.retransmitted_packets, down.loss_rate_percent, down.duplicate_packets),
        (Some(0), Some(0.0), Some(0))
    );
    // From 120 to 1580 ms nothing new came.
    assert_eq!(events(&tables), ["tcp_established", "gap"]);
    assert_eq!(transfer(&tables, Down).longest_gap_ms, Some(1460.0));
    assert_eq!(down.window_bytes_min, Some(0));
}
