//! Opening (RFC 9293 §3.5).

use crate::script::{plain, play};
use transport::config;

#[test]
fn three_ways() {
    // RFC 9293 §3.5, figure 6
    play(
        &plain(),
        "0    ! connect
         0    > S 0:0
         0    = state SynSent
         100  < S. 0:0 ack 1
         100  > . 1:1 ack 1
         100  = state Established
         100  = cwnd 10
         100  = rto 1000",
    );
}

#[test]
fn answering() {
    play(
        &plain(),
        "0    < S 0:0
         0    > S. 0:0 ack 1
         0    = state SynReceived
         100  < . 1:1 ack 1
         100  = state Established",
    );
}

#[test]
fn data_completes_the_handshake_when_the_ack_is_lost() {
    play(
        &plain(),
        "0    < S 0:0
         0    > S. 0:0 ack 1
         100  < . 1:1001 ack 1
         100  > . 1:1 ack 1001
         100  = state Established",
    );
}

#[test]
fn simultaneous() {
    // RFC 9293 §3.5, figure 7
    play(
        &plain(),
        "0    ! connect
         0    > S 0:0
         50   < S 0:0
         50   > S. 0:0 ack 1 again
         50   = state SynReceived
         100  < S. 0:0 ack 1
         100  = state Established
         200  < . 1:1001 ack 1
         200  > . 1:1 ack 1001",
    );
}

#[test]
fn a_syn_is_sent_again() {
    // RFC 6298 §5.5, §5.7: the time-out is 3 s when data begins
    play(
        &config::Tcp { syn_retries: 2, ..plain() },
        "0    ! connect
         0    > S 0:0
         1000 > S 0:0 again
         3000 > S 0:0 again
         3000 = syns 3
         3100 < S. 0:0 ack 1
         3100 > . 1:1 ack 1
         3100 = rto 3000
         3100 = cwnd 1",
    );
    play(
        &config::Tcp { syn_retries: 2, ..plain() },
        "0    ! connect
         0    > S 0:0
         1000 > S 0:0 again
         3000 > S 0:0 again
         7001 = gone true
         7001 = state Closed",
    );
}

#[test]
fn a_lost_answer_is_sent_again() {
    play(
        &plain(),
        "0    < S 0:0
         0    > S. 0:0 ack 1
         1000 > S. 0:0 ack 1 again
         1500 < S 0:0
         1500 > S. 0:0 ack 1 again
         1600 < . 1:1 ack 1
         1600 = state Established",
    );
}

#[test]
fn what_does_not_answer_the_syn_is_refused() {
    // RFC 9293 §3.10.7.3, first: figure 8
    play(
        &plain(),
        "0    ! connect
         0    > S 0:0
         50   < . 300:300 ack 91
         50   > R 91:91
         60   < S. 0:0 ack 7
         60   > R 7:7
         60   = state SynSent
         1000 > S 0:0 again",
    );
}

#[test]
fn refused() {
    // RFC 9293 §3.10.7.3, second
    play(
        &plain(),
        "0    ! connect
         0    > S 0:0
         50   < R 0:0
         50   < R. 0:0 ack 9
         50   = state SynSent
         100  < R. 0:0 ack 1
         100  = reset true
         100  = state Closed",
    );
    play(
        &plain(),
        "0    < S 0:0
         0    > S. 0:0 ack 1
         100  < R 1:1
         100  = state Closed",
    );
}

#[test]
fn a_syn_ack_that_comes_again_is_acknowledged() {
    // RFC 5961 §4.2
    play(
        &plain(),
        "0    ! connect
         0    > S 0:0
         100  < S. 0:0 ack 1
         100  > . 1:1 ack 1
         1100 < S. 0:0 ack 1
         1100 > . 1:1 ack 1
         1100 = state Established",
    );
}
