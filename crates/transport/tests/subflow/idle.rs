//! What is left of a window after idle time.

use crate::repairing::open_and;
use crate::script::plain;
use transport::config;

/// What is in flight in 80 packets' window, and an idle time of `idle_ms` after which ten segments want to go.
fn after_idle(settings: &config::Tcp, idle_ms: u32, then: &str) {
    open_and(
        settings,
        &format!(
            "200  ! cwnd 80
             200  ! ssthresh 7
             200  ! push 1
             200  > . 1:1001 ack 1
             300  < . 1:1 ack 1001
             300  = rto 1000
             {at}  ! push 1
             {at}  > . 1001:2001 ack 1
             {then}",
            at = 200 + idle_ms,
        ),
    );
}

#[test]
fn a_window_begins_anew_after_idle_time() {
    // RFC 5681 §4.1: not before a time-out has gone by; tcp_cwnd_restart: half of it for each, and slow start up to 3/4.
    after_idle(&plain(), 1000, "1200 = cwnd 80\n 1200 = ssthresh 7");
    after_idle(&plain(), 1001, "1201 = cwnd 40\n 1201 = ssthresh 60");
    after_idle(&plain(), 2500, "2700 = cwnd 20\n 2700 = ssthresh 60");
    // Not below the first window.
    after_idle(&plain(), 60_000, "60200 = cwnd 10\n 60200 = ssthresh 60");
    let off = config::Tcp { slow_start_after_idle: false, ..plain() };
    after_idle(&off, 60_000, "60200 = cwnd 80\n 60200 = ssthresh 7");
}

#[test]
fn the_rate_of_a_scheduler_is_that_of_the_last_ack() {
    // tcp_update_pacing_rate: 1.2 windows a round trip of 100 ms, when an ACK came; a smaller window after idle time is no news.
    after_idle(&plain(), 2500, "2700 = cwnd 20\n 2700 = rate 960000");
}

#[test]
fn a_window_below_the_first_stays_after_idle_time() {
    open_and(
        &plain(),
        "200   ! cwnd 5
         200   ! push 1
         200   > . 1:1001 ack 1
         300   < . 1:1 ack 1001
         60000 ! push 1
         60000 > . 1001:2001 ack 1
         60000 = cwnd 5
         60000 = ssthresh inf",
    );
}
