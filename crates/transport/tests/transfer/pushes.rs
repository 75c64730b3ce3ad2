//! Which segments say that nothing follows for now: PSH.

use crate::pair::{End, Pair, tcp};
use transport::{Config, era};
use wire::Flags;

/// Of the data that the server sends on each path, which segments have PSH.
fn pushes(config: Config, bytes: u64) -> Vec<Vec<bool>> {
    let mut pair = Pair::new(config.clone(), config, &[50, 60]);
    pair.to_write = [0, bytes];
    pair.run(60_000);
    let data = |path| {
        let sent = pair.log.iter().filter(|(_, end, nic, _)| *end == End::Server && nic.0 == path);
        let with_data = sent.filter(|(.., packet)| packet.frame.payload.len > 0);
        with_data.map(|(.., packet)| tcp(packet).flags.has(Flags::PSH)).collect()
    };
    vec![data(0), data(1)]
}

// net/ipv4/tcp_output.c: at such rates two segments leave as one packet (tcp_tso_autosize), the last of which has PSH
// (__tcp_transmit_skb).
#[test]
fn each_second_segment_of_todays_linux() {
    let mut config = Config::default();
    config.mptcp.enabled = false;
    let first = &pushes(config.clone(), 14_480)[0];
    assert_eq!(first[..], [false, true].repeat(5));
    assert_eq!(pushes(config, 4 * 1448 + 100)[0], [false, true, false, true, true], "and the last of what was written");
}

// Before that PSH ended what was written, however little a scheduler gives a subflow at a time; a writer that waits for room
// ends there, too.
#[test]
fn no_segment_of_the_era_2012_but_the_last_of_a_write() {
    let paths = pushes(era::config("2012").unwrap(), 300_000);
    let pushed = paths.concat().iter().filter(|&&push| push).count();
    assert!(paths.iter().all(|path| path.len() > 20), "{paths:?}");
    assert!((1..10).contains(&pushed), "{pushed}");
}
