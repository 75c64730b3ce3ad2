//! Closing (RFC 9293 §3.6), resets (§3.10.7.4, RFC 5961), keep-alives and probes.

use crate::pair::MS;
use crate::script::{plain, play};
use transport::config;

const OPEN: &str = "
    0    ! connect
    0    > S 0:0
    100  < S. 0:0 ack 1
    100  > . 1:1 ack 1
";

#[track_caller]
fn open_and(settings: &config::Tcp, script: &str) {
    play(settings, &format!("{OPEN}{script}"));
}

#[test]
fn this_end_first() {
    // RFC 9293 §3.6, figure 12
    open_and(
        &plain(),
        "200  ! close
         200  > F. 1:1 ack 1
         200  = state FinWait1
         200  = usable false
         300  < . 1:1 ack 2
         300  = state FinWait2
         400  < F. 1:1 ack 2
         400  > . 2:2 ack 2
         400  = state TimeWait
         // The ACK was lost: 2 MSL begin anew.
         1400 < F. 1:1 ack 2
         1400 > . 2:2 ack 2
         61399 = state TimeWait
         61401 = state Closed",
    );
}

#[test]
fn the_peer_first_and_half_close() {
    open_and(
        &plain(),
        "200  < F. 1:1 ack 1
         200  > . 1:1 ack 2
         200  = state CloseWait
         200  = finished true
         300  ! push 1
         300  > . 1:1001 ack 2
         400  < . 2:2 ack 1001
         400  ! close
         400  > F. 1001:1001 ack 2
         400  = state LastAck
         500  < . 2:2 ack 1002
         500  = state Closed",
    );
}

#[test]
fn data_after_the_fin_still_arrives() {
    open_and(
        &plain(),
        "200  ! close
         200  > F. 1:1 ack 1
         300  < . 1:1001 ack 2
         300  > . 2:2 ack 1001
         300  = state FinWait2
         400  < F. 1001:1501 ack 2
         400  > . 2:2 ack 1502
         400  = arrived 1500
         400  = state TimeWait",
    );
}

#[test]
fn simultaneously() {
    // RFC 9293 §3.6, figure 13
    open_and(
        &plain(),
        "200  ! close
         200  > F. 1:1 ack 1
         250  < F. 1:1 ack 1
         250  > . 2:2 ack 2
         250  = state Closing
         300  < . 2:2 ack 2
         300  = state TimeWait",
    );
}

#[test]
fn data_goes_with_the_fin() {
    open_and(
        &plain(),
        "200  ! push 1
         200  ! write 10
         200  ! close
         200  > . 1:1001 ack 1
         200  > F. 1001:1011 ack 1
         // Both are lost.
         1200 > . 1:1001 ack 1 again
         1300 < . 1:1 ack 1001
         1300 > F. 1001:1011 ack 1 again
         1400 < . 1:1 ack 1012
         1400 = state FinWait2",
    );
}

#[test]
fn fin_out_of_order() {
    // It has a sequence number (RFC 9293 §3.4), which blocks hold, too, as those of Linux do: without it the peer would not know that its
    // last segment came, nor find the hole before it until a time-out.
    open_and(
        &plain(),
        "200  < F. 1001:1501 ack 1
         200  > . 1:1 ack 1 sack 1001:1502
         200  = finished false
         300  < . 1:1001 ack 1
         300  > . 1:1 ack 1502
         300  = arrived 1500
         300  = state CloseWait",
    );
    open_and(
        &plain(),
        "200  < F. 1001:1001 ack 1
         200  > . 1:1 ack 1 sack 1001:1002
         200  = finished false
         300  < . 1:1001 ack 1
         300  > . 1:1 ack 1002
         300  = arrived 1000
         300  = state CloseWait",
    );
}

#[test]
fn nobody_waits_for_ever_for_a_fin() {
    open_and(
        &config::Tcp { fin_timeout_ns: 5000 * MS, ..plain() },
        "200  ! close
         200  > F. 1:1 ack 1
         300  < . 1:1 ack 2
         99000 = state FinWait2
         99000 ! orphan
         103999 = state FinWait2
         104001 = state Closed",
    );
}

#[test]
fn only_an_exact_reset_is_believed() {
    // RFC 5961 §3.2
    open_and(
        &plain(),
        "200  < R 500:500
         200  > . 1:1 ack 1
         200  = state Established
         300  < R 0:0
         300  = state Established
         400  < R 1:1
         400  = state Closed
         400  = reset true",
    );
}

#[test]
fn a_syn_is_challenged() {
    // RFC 5961 §4.2
    open_and(
        &plain(),
        "200  < S 500:500
         200  > . 1:1 ack 1
         200  = state Established",
    );
}

#[test]
fn an_ack_of_what_was_not_sent_is_answered() {
    // RFC 9293 §3.10.7.4, fifth
    open_and(
        &plain(),
        "200  < . 1:1001 ack 500
         200  > . 1:1 ack 1
         200  = arrived 0",
    );
}

#[test]
fn answers_do_not_go_on_for_ever() {
    open_and(
        &plain(),
        "200  < . 1:1 ack 500
         200  > . 1:1 ack 1
         201  < . 1:1 ack 500
         699  < . 1:1 ack 500
         701  < . 1:1 ack 500
         701  > . 1:1 ack 1",
    );
}

#[test]
fn abort() {
    open_and(
        &plain(),
        "200  ! push 1
         200  > . 1:1001 ack 1
         300  ! abort
         300  > R. 1001:1001 ack 1
         300  = state Closed
         300  = usable false",
    );
}

#[test]
fn keep_alive() {
    // RFC 9293 §3.8.4
    let settings = config::Tcp {
        keep_alive_idle_ns: Some(10_000 * MS),
        keep_alive_interval_ns: 1000 * MS,
        keep_alive_probes: 2,
        ..plain()
    };
    open_and(
        &settings,
        "10100 > . 0:0 ack 1
         10200 < . 1:1 ack 1
         20200 > . 0:0 ack 1
         21200 > . 0:0 ack 1
         22201 = gone true",
    );
}

#[test]
fn keep_alives_are_answered() {
    open_and(
        &plain(),
        "200  < . 0:0 ack 1
         200  > . 1:1 ack 1",
    );
}

#[test]
fn zero_window_probes() {
    // RFC 9293 §3.8.6.1: the first after the time-out, then further and further apart, for as long as they are answered
    open_and(
        &config::Tcp { retries: 3, max_timeout_ns: 5000 * MS, ..plain() },
        "200  < . 1:1 ack 1 win 0
         200  ! probe on
         1200 > . 0:0 ack 1
         1300 < . 1:1 ack 1 win 0
         3200 > . 0:0 ack 1
         3300 < . 1:1 ack 1 win 0
         7200 > . 0:0 ack 1
         12200 > . 0:0 ack 1
         12300 < . 1:1 ack 1 win 0
         17200 > . 0:0 ack 1
         17300 < . 1:1 ack 1 win 9000
         17300 ! probe off
         17300 ! push 1
         17300 > . 1:1001 ack 1
         17400 < . 1:1 ack 1001 win 0
         17400 ! probe on
         18400 > . 1000:1000 ack 1
         20400 > . 1000:1000 ack 1
         24400 > . 1000:1000 ack 1
         29401 = gone true",
    );
}
