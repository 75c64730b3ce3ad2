//! Opportunistic retransmission and penalisation, beside a scheduler that finds no window open.

use crate::{MS, MSS, NOW, WAIT, again, build, full, path, to};
use transport::congestion::Window;
use transport::scheduler::{Choice, Opportunistic, PathView};
use wire::Time;

fn window(cwnd: f64, ssthresh: f64) -> Window {
    Window {
        cwnd_packets: cwnd,
        ssthresh_packets: ssthresh,
        srtt_ns: None,
        min_rtt_ns: None,
        mss_bytes: MSS as u32,
        recovering: false,
        usable: true,
    }
}

/// Subflow 0 is free, subflow 1 (in avoidance) holds the head of the connection's window.
fn blocked(helper: &mut Opportunistic, now: Time, sent_on: u64, paths: &[PathView], all: &mut [Window]) -> Choice {
    helper.blocked(now, &again(sent_on), paths, all, &mut *build("lowest-rtt").unwrap())
}

/// mptcp_rcv_buf_optimization
#[test]
fn blocked_windows_are_opened_by_copies() {
    let near = path(0, 10);
    let small = |path| PathView { cwnd_packets: 4, ..path };
    let cases = [
        ("more than four times as slow", 0b10, vec![near, full(path(1, 41))], to(0, 1000)),
        ("four times is not more", 0b10, vec![near, full(path(1, 40))], WAIT),
        ("but a small window is helped", 0b10, vec![near, full(small(path(1, 12)))], to(0, 1000)),
        ("it had it", 0b11, vec![near, full(path(1, 100))], WAIT),
        ("the holder is gone", 0b100, vec![near, path(1, 100)], WAIT),
        ("none is free", 0b10, vec![full(near), full(path(1, 100))], WAIT),
        ("one of two holders is near", 0b110, vec![near, full(path(1, 100)), full(path(2, 20))], WAIT),
    ];
    for (rule, sent_on, paths, expected) in cases {
        let mut all = [window(10.0, 5.0); 3];
        let mut helper = Opportunistic::new(true, false);
        assert_eq!(blocked(&mut helper, NOW, sent_on, &paths, &mut all), expected, "{rule}");
        assert_eq!(all, [window(10.0, 5.0); 3], "{rule}");
        let mut off = Opportunistic::new(false, false);
        assert_eq!(blocked(&mut off, NOW, sent_on, &paths, &mut all), WAIT, "{rule}");
    }
}

#[test]
fn slow_holders_are_penalised() {
    let paths = [path(0, 10), full(path(1, 20))];
    let penalised = |before: Window, paths: &[PathView]| {
        let mut all = [window(10.0, 5.0), before];
        blocked(&mut Opportunistic::new(false, true), NOW, 0b10, paths, &mut all);
        assert_eq!(all[0], window(10.0, 5.0), "the free subflow is left alone");
        (all[1].cwnd_packets, all[1].ssthresh_packets)
    };
    assert_eq!(penalised(window(10.0, 8.0), &paths), (5.0, 4.0));
    assert_eq!(penalised(window(10.0, 80.0), &paths), (5.0, 80.0), "slow start goes on");
    assert_eq!(penalised(window(1.5, 1.0), &paths), (1.0, 2.0), "floors");
    assert_eq!(penalised(Window { recovering: true, ..window(10.0, 8.0) }, &paths), (10.0, 8.0), "CA_Open only");
    assert_eq!(penalised(window(10.0, 8.0), &[path(0, 20), full(path(1, 20))]), (10.0, 8.0), "slower ones only");
}

#[test]
fn penalties_wait_for_a_round_trip() {
    let paths = [path(0, 10), full(path(1, 20))];
    let mut all = [window(16.0, 8.0); 2];
    let mut helper = Opportunistic::new(false, true);
    for (at_ms, expected) in [(0, 8.0), (9, 8.0), (10, 4.0), (19, 4.0), (20, 2.0)] {
        blocked(&mut helper, NOW + at_ms * MS, 0b10, &paths, &mut all);
        assert_eq!(all[1].cwnd_packets, expected, "{at_ms} ms");
    }
}
