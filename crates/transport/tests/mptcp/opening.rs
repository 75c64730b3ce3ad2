//! MP_CAPABLE (RFC 8684 §3.1).

use crate::script::{SERVER, plain, play};

#[test]
fn a_client_that_sends_first() {
    // RFC 8684 §3.1: the first data tells the keys once more, with its length; a DSS from the peer ends that.
    play(
        &plain(),
        "0   ! connect
         0   > wifi S 0:0 capable
         10  < wifi S. 0:0 ack 1 capable
         10  > wifi . 1:1 ack 1 capable
         10  = events connected
         20  ! write 1500
         20  > wifi . 1:1001 ack 1 capable
         20  > wifi . 1001:1501 ack 1 dss(1001 1001 500, ack 1)
         30  < wifi . 1:1 ack 1501 dss(ack 1501)
         30  = waiting 0
         30  ! write 500
         30  > wifi . 1501:2001 ack 1 dss(1501 1501 500, ack 1)",
    );
}

#[test]
fn a_server_that_sends_first() {
    play(
        &plain(),
        "0   ! listen
         0   < wifi S 0:0 capable
         0   > wifi S. 0:0 ack 1 capable
         10  < wifi . 1:1 ack 1 capable
         10  = events accepted connected
         10  ! write 500
         10  > wifi . 1:501 ack 1 dss(1 1 500, ack 1)
         20  < wifi . 1:1 ack 501 dss(ack 501)
         20  = waiting 0",
    );
}

#[test]
fn a_lost_third_packet_is_made_good_by_data_or_by_the_next_syn_ack() {
    // RFC 8684 §3.1: data with the keys completes the handshake.
    play(
        &plain(),
        "0   ! listen
         0   < wifi S 0:0 capable
         0   > wifi S. 0:0 ack 1 capable
         20  < wifi . 1:501 ack 1 capable
         20  > wifi . 1:1 ack 501 dss(ack 501)
         20  = read 500
         20  = mptcp true",
    );
    // What overtakes the keys is not taken: it comes again.
    play(
        &plain(),
        "0   ! listen
         0   < wifi S 0:0 capable
         0   > wifi S. 0:0 ack 1 capable
         20  < wifi . 501:1001 ack 1 dss(501 501 500, ack 1)
         21  < wifi . 1:501 ack 1 capable
         21  > wifi . 1:1 ack 501 dss(ack 501)
         30  < wifi . 501:1001 ack 1 dss(501 501 500, ack 1)
         30  > wifi . 1:1 ack 1001 dss(ack 1001)
         30  = read 1000",
    );
    // The client answers to the second SYN/ACK with the keys again.
    play(
        &plain(),
        "0    ! connect
         0    > wifi S 0:0 capable
         10   < wifi S. 0:0 ack 1 capable
         10   > wifi . 1:1 ack 1 capable
         1010 < wifi S. 0:0 ack 1 capable
         1010 > wifi . 1:1 ack 1 capable",
    );
}

#[test]
fn lost_syns_and_syn_acks_are_sent_again() {
    play(
        &plain(),
        "0    ! listen
         0    < wifi S 0:0 capable
         0    > wifi S. 0:0 ack 1 capable
         1000 > wifi S. 0:0 ack 1 capable
         1010 < wifi . 1:1 ack 1 capable
         1010 = mptcp true",
    );
    // The SYN again: so is its answer.
    play(
        &plain(),
        "0    ! listen
         0    < wifi S 0:0 capable
         0    > wifi S. 0:0 ack 1 capable
         900  < wifi S 0:0 capable
         900  > wifi S. 0:0 ack 1 capable",
    );
}

#[test]
fn syns_go_without_mptcp_when_those_with_it_are_not_answered() {
    // RFC 8684 §3.1: a middlebox may drop what it does not know. As Linux's net.mptcp.syn_retrans_before_tcp_fallback.
    let mut config = plain();
    config.mptcp.capable_retries = 2;
    play(
        &config,
        "0    ! connect
         0    > wifi S 0:0 capable
         1000 > wifi S 0:0 capable
         3000 > wifi S 0:0
         3010 < wifi S. 0:0 ack 1
         3010 > wifi . 1:1 ack 1
         3010 = mptcp false
         3010 = events connected
         3010 ! write 1024
         3010 > wifi . 1:1025 ack 1",
    );
}

#[test]
fn nobody_answers_at_all() {
    let mut config = plain();
    config.tcp.syn_retries = 2;
    play(
        &config,
        "0    ! connect
         0    > wifi S 0:0 capable
         1000 > wifi S 0:0 capable
         3000 > wifi S 0:0 capable
         7000 = events timed-out
         7000 = mptcp none",
    );
}

#[test]
fn other_versions_and_unknown_demands_are_not_accepted() {
    // RFC 8684 §3.1: flag B, no algorithm that is known; RFC 6824's SYN has a key.
    for capable in ["capable(v0)", "capable(B)", "capable(no H)"] {
        play(
            &plain(),
            &format!(
                "0   ! listen
                 0   < wifi S 0:0 {capable}
                 0   > wifi S. 0:0 ack 1
                 10  < wifi . 1:1 ack 1
                 10  = mptcp false"
            ),
        );
        play(
            &plain(),
            &format!(
                "0   ! connect
                 0   > wifi S 0:0 capable
                 10  < wifi S. 0:0 ack 1 {capable}
                 10  > wifi . 1:1 ack 1
                 10  = mptcp false"
            ),
        );
    }
}

#[test]
fn checksums_are_used_when_either_side_wants_them() {
    // RFC 8684 §3.1, flag A.
    play(
        &plain(),
        "0   ! connect
         0   > wifi S 0:0 capable
         10  < wifi S. 0:0 ack 1 capable(checksum)
         10  > wifi . 1:1 ack 1 capable(checksum)
         10  ! write 1500
         10  > wifi . 1:1001 ack 1 capable(checksum)
         10  > wifi . 1001:1501 ack 1 dss(1001 1001 500, ack 1, sum)",
    );
    play(
        &plain(),
        "0   ! listen
         0   < wifi S 0:0 capable(checksum)
         0   > wifi S. 0:0 ack 1 capable(checksum)
         10  < wifi . 1:501 ack 1 capable(checksum)
         10  > wifi . 1:1 ack 501 dss(ack 501)
         20  < wifi . 501:1001 ack 1 dss(501 501 500, ack 1, sum)
         20  > wifi . 1:1 ack 1001 dss(ack 1001)
         20  = read 1000
         20  ! write 100
         20  > wifi . 1:101 ack 1001 dss(1 1 100, ack 1001, sum)",
    );
    let mut config = plain();
    config.mptcp.checksum = true;
    play(
        &config,
        "0   ! listen
         0   < wifi S 0:0 capable
         0   > wifi S. 0:0 ack 1 capable(checksum)
         10  < wifi . 1:1 ack 1 capable(checksum)
         10  ! write 100
         10  > wifi . 1:101 ack 1 dss(1 1 100, ack 1, sum)",
    );
}

#[test]
fn numbers_of_four_bytes() {
    // RFC 8684 §3.3.1. The first segment leaves room for the keys: MP_CAPABLE is longer than such a DSS.
    let mut config = plain();
    config.mptcp.long_numbers = false;
    play(
        &config,
        "0   ! connect
         0   > wifi S 0:0 capable
         10  < wifi S. 0:0 ack 1 capable
         10  > wifi . 1:1 ack 1 capable
         10  ! write 1000
         10  > wifi . 1:1001 ack 1 capable
         20  < wifi . 1:101 ack 1001 dss4(1 1 100, ack 1001)
         20  > wifi . 1001:1001 ack 101 dss4(ack 101)
         20  = read 100
         20  ! write 1004
         20  > wifi . 1001:2005 ack 101 dss4(1001 1001 1004, ack 101)",
    );
}

#[test]
fn data_acks_are_long_once_a_long_number_came() {
    // RFC 8684 §3.3.2; net/mptcp/options.c, mptcp_established_options_dss: four bytes more for data, in packets of the same
    // length, until data with a number of 8 bytes comes the other way.
    play(
        &plain(),
        &format!(
            "{SERVER}
             10  ! write 3500
             10  > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
             10  > wifi . 1001:2001 ack 1 dss(1001 1001 1000, ack 1)
             10  > wifi . 2001:3001 ack 1 dss(2001 2001 1000, ack 1)
             10  > wifi . 3001:3501 ack 1 dss(3001 3001 500, ack 1)
             20  < wifi . 1:101 ack 3501 dss(1 1 100, ack 3501)
             20  > wifi . 3501:3501 ack 101 dss(ack 101)
             30  ! write 1500
             30  > wifi . 3501:4497 ack 101 dss(3501 3501 996, ack 101)
             30  > wifi . 4497:5001 ack 101 dss(4497 4497 504, ack 101)"
        ),
    );
}

#[test]
fn a_client_with_nothing_to_say_ends_all_the_same() {
    // The server has nothing to send that would confirm the keys; they and the DATA_FIN do not fit one segment.
    play(
        &plain(),
        "0    ! connect
         0    > wifi S 0:0 capable
         10   < wifi S. 0:0 ack 1 capable
         10   > wifi . 1:1 ack 1 capable
         20   ! finish
         20   > wifi . 1:1 ack 1 dss(fin 1, ack 1)
         1020 > wifi . 1:1 ack 1 capable
         1020 > wifi . 1:1 ack 1 dss(fin 1, ack 1)
         1030 < wifi . 1:1 ack 1 dss(ack 2)
         1030 = events connected delivered",
    );
}

#[test]
fn a_wrong_key_is_not_believed() {
    play(
        &plain(),
        "0    ! listen
         0    < wifi S 0:0 capable
         0    > wifi S. 0:0 ack 1 capable
         10   < wifi . 1:1 ack 1 capable(wrong)
         20   = events accepted",
    );
}
