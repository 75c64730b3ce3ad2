//! What a window is after idle time, and of the next connection.

use crate::pair::{End, Pair};
use crate::{complete, plain};
use transport::Config;

/// Acknowledged bytes of the server's first connection and of its second, after so long.
fn two_downloads(ssthresh_cache: bool) -> [f64; 2] {
    let mut config = plain();
    config.tcp = transport::config::Tcp { ssthresh_cache, ..config.tcp };
    config.congestion_control = "reno".into();
    let mut pair = Pair::new(config.clone(), config, &[50]);
    // The hundredth segment is lost, once.
    let mut sent = 0;
    pair.middle = Box::new(move |_, from, _, packet| {
        sent += u32::from(from == End::Server && packet.frame.payload.len > 0);
        if sent == 100 && packet.frame.payload.len > 0 {
            sent += 1;
            vec![]
        } else {
            vec![0]
        }
    });
    let mut ends = [0.0; 2];
    for end in &mut ends {
        pair.to_write = [0, 3_000_000];
        pair.run(pair.now.as_nanos() / 1_000_000 + 600);
        *end = ssthresh(&pair);
        pair.run(pair.now.as_nanos() / 1_000_000 + 30_000);
        complete(&pair, 3_000_000, 0);
        pair.again();
    }
    ends
}

fn ssthresh(pair: &Pair) -> f64 {
    let snapshot = pair.server.snapshot(pair.ids[1].expect("it was accepted")).expect("it goes on");
    snapshot.subflows[0].path.expect("it is established").ssthresh_packets
}

/// The window after as many bytes were written after a download and more than a time-out, with a round trip of 100 ms.
fn window_after_idle(bytes: u64) -> u32 {
    let config = Config { congestion_control: "reno".into(), ..Config::default() };
    let mut pair = Pair::new(config.clone(), config, &[50]);
    pair.finish = [false; 2];
    pair.to_write = [0, 1_000_000];
    pair.run(1200);
    pair.to_write = [0, bytes];
    pair.run(1201);
    let snapshot = pair.server.snapshot(pair.ids[1].expect("it was accepted")).expect("it goes on");
    snapshot.subflows[0].path.expect("it is established").cwnd_packets
}

#[test]
fn a_window_begins_anew_with_each_buffer_that_is_filled() {
    // Linux 6.18 halves the windows of two subflows twice where bursts of 64 KiB, which are two buffers, follow 300 ms of pause.
    let [none, one, two] = [0, 60_000, 70_000].map(window_after_idle);
    assert_eq!((one, two), (none / 2, none / 4));
}

#[test]
fn slow_start_ends_where_it_did_last_time() {
    let [first, second] = two_downloads(true);
    assert!(first.is_finite(), "a loss ended it");
    // Kept in whole packets, as in Linux (tcp_update_metrics).
    assert!(second >= first.floor() && second.is_finite(), "{second} after {first}");
    assert_eq!(two_downloads(false)[1], f64::INFINITY);
}
