//! Plain TCP: a connection without MPTCP.

use crate::script::{plain, play};

fn tcp() -> transport::Config {
    let mut config = plain();
    config.mptcp.enabled = false;
    config
}

const SERVER: &str = "0   ! listen
    0   < wifi S 0:0 capable
    0   > wifi S. 0:0 ack 1
    10  < wifi . 1:1 ack 1
    ";

#[test]
fn no_options_of_mptcp() {
    play(
        &tcp(),
        &format!(
            "{SERVER}
             20  < wifi . 1:101 ack 1
             20  > wifi . 1:1 ack 101
             20  ! write 1024
             20  > wifi . 1:1025 ack 101
             20  ! finish
             20  > wifi F. 1025:1025 ack 101
             30  < wifi . 101:101 ack 1026
             30  = events accepted connected delivered
             // Half closed for as long as it takes.
             90000 < wifi F. 101:201 ack 1026
             90000 > wifi . 1026:1026 ack 202
             90000 = events finished complete"
        ),
    );
}

#[test]
fn both_close_at_once() {
    // RFC 9293 §3.6, figure 13.
    play(
        &tcp(),
        &format!(
            "{SERVER}
             20  ! finish
             20  > wifi F. 1:1 ack 1
             21  < wifi F. 1:1 ack 1
             21  > wifi . 2:2 ack 2
             30  < wifi . 2:2 ack 2
             30  = events accepted connected finished delivered complete"
        ),
    );
}

#[test]
fn a_reset() {
    play(&tcp(), &format!("{SERVER} 20 < wifi R. 1:1 ack 1\n 20 = events accepted connected reset\n 21 = mptcp none"));
    play(&tcp(), &format!("{SERVER} 20 ! abort\n 20 > wifi R. 1:1 ack 1\n 20 = events accepted connected aborted"));
    // Nobody listens.
    play(
        &tcp(),
        "0   ! connect
         0   > wifi S 0:0
         10  < wifi R. 0:0 ack 1
         10  = events reset",
    );
}

#[test]
fn the_address_goes_and_comes_back() {
    // The connection waits: its packets go nowhere meanwhile.
    play(
        &tcp(),
        "0    ! connect
         0    > wifi S 0:0
         10   < wifi S. 0:0 ack 1
         10   > wifi . 1:1 ack 1
         20   ! down wifi
         20   ! write 100
         2000 ! up wifi
         3020 > wifi . 1:101 ack 1
         3030 < wifi . 1:1 ack 101
         3030 = waiting 0",
    );
}

#[test]
fn everything_is_lost_at_the_end() {
    let mut config = tcp();
    config.tcp.retries = 2;
    play(
        &config,
        &format!(
            "{SERVER}
             20   ! finish
             20   > wifi F. 1:1 ack 1
             1020 > wifi F. 1:1 ack 1
             3020 > wifi F. 1:1 ack 1
             7020 = events accepted connected timed-out
             7020 = mptcp none"
        ),
    );
}

// With a buffer of 46080 bytes of memory, which a packet of n segments takes n · 1024 + 832 of.
#[test]
fn a_writer_asks_for_memory_only_where_a_packet_begins() {
    let mut config = tcp();
    config.congestion_control = "reno-linux".into();
    config.tcp.send_buffer_bytes = 46_080;
    // Half of the window are packets of 31 segments. Ten segments leave as they are written, two of them at once, and take
    // 10240 + 5 · 832; one packet more begins before the memory is full. Linux does so too: 10 segments of 1448 bytes out, 22
    // waiting.
    let first = (0..10).map(|n| format!("20 > wifi . {}:{} ack 101\n", 1 + 1024 * n, 1025 + 1024 * n));
    play(
        &config,
        &format!(
            "{SERVER}
             20 < wifi . 1:101 ack 1 win(64000)
             20 > wifi . 1:1 ack 101
             20 ! offer 1000000
             {}
             20 = waiting 41984",
            first.collect::<String>()
        ),
    );
}

/// Segments of 1024 bytes that leave at `at`, from the `first` to before the `last`.
fn segments(at: u32, first: u32, last: u32) -> String {
    (first..last).map(|n| format!("{at} > wifi . {}:{} ack 1\n", 1 + 1024 * n, 1025 + 1024 * n)).collect()
}

// RFC 2861 §3.1; net/ipv4/tcp_output.c, tcp_cwnd_validate, tcp_cwnd_application_limited. The time-out is a second.
#[test]
fn a_window_that_is_not_filled_comes_down() {
    for (slow_start_after_idle, windows) in [(true, [20, 15, 12]), (false, [20, 20, 20])] {
        let mut config = tcp();
        config.tcp.slow_start_after_idle = slow_start_after_idle;
        play(
            &config,
            &format!(
                "{SERVER}
                 20   ! write 10240
                 {}
                 30   < wifi . 1:1 ack 10241
                 // One segment of 20 is used, but the first window counts as used always. Each ACK of data begins anew
                 // (tcp_cong_avoid sets snd_cwnd_stamp).
                 600  ! write 1024
                 {}
                 600  = windows {}
                 610  < wifi . 1:1 ack 11265
                 1590 ! write 1024
                 {}
                 1590 = windows {}
                 1610 ! write 1024
                 {}
                 1610 = windows {}
                 1620 < wifi . 1:1 ack 13313
                 2600 ! write 1024
                 {}
                 2600 = windows {}
                 2620 ! write 1024
                 {}
                 2620 = windows {}",
                segments(20, 0, 10),
                segments(600, 10, 11),
                windows[0],
                segments(1590, 11, 12),
                windows[0],
                segments(1610, 12, 13),
                windows[1],
                segments(2600, 13, 14),
                windows[1],
                segments(2620, 14, 15),
                windows[2],
            ),
        );
    }
}
