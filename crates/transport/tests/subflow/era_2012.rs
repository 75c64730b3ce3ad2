//! TCP of the era 2012 as a whole, as Linux 3.0 has it: its settings stand here untouched.
//!
//! Names of functions are those of net/ipv4 of Linux 3.0. Where ours is another on purpose (`era.rs`), the script says so.

use crate::script::play;
use transport::{config, era};

const OPEN: &str = "
    0    ! connect
    0    > S 0:0
    100  < S. 0:0 ack 1
    100  > . 1:1 ack 1
";

fn tcp() -> config::Tcp {
    era::config("2012").unwrap().tcp
}

/// A connection with a round trip of 100 ms, and its first window on the way.
#[track_caller]
fn window_and(segments: u32, script: &str) {
    let sent: String = (0..10).map(|n| format!("200  > . {}:{} ack 1\n", n * 1000 + 1, n * 1000 + 1001)).collect();
    play(&tcp(), &format!("{OPEN} 200 ! push {segments}\n{sent}{script}"));
}

#[test]
fn a_syn_waits_for_three_seconds_and_is_sent_six_times() {
    // TCP_TIMEOUT_INIT is 3 s, TCP_SYN_RETRIES 5: "~180secs is RFC minimum", 3 + 6 + 12 + 24 + 48 + 96 s.
    play(
        &tcp(),
        "0      ! connect
         0      > S 0:0
         3000   > S 0:0 again
         9000   > S 0:0 again
         21000  > S 0:0 again
         45000  > S 0:0 again
         93000  > S 0:0 again
         188999 = state SynSent
         189001 = gone true",
    );
}

#[test]
fn three_selective_acks_make_a_loss_and_halve_the_window() {
    // tcp_time_to_recover: more than three segments (tp->reordering) up to the highest that is reported. tcp_enter_recovery:
    // ssthresh is half of the window (tcp_reno_ssthresh); the window itself comes down at once, which deviates.
    window_and(
        10,
        "300  < . 1:1 ack 1 sack 1001:2001
         302  < . 1:1 ack 1 sack 1001:3001
         304  < . 1:1 ack 1 sack 1001:4001
         304  > . 1:1001 ack 1 again
         304  = ssthresh 5
         304  = cwnd 5
         304  = pipe 7
         // tcp_xmit_retransmit_queue sends no rescue (RFC 6675, NextSeg rule 4): the last segment is sent once.
         306  < . 1:1 ack 1 sack 1001:5001
         308  < . 1:1 ack 1 sack 1001:6001
         310  < . 1:1 ack 1 sack 1001:7001
         312  < . 1:1 ack 1 sack 1001:8001
         314  < . 1:1 ack 1 sack 1001:9001
         316  < . 1:1 ack 1 sack 1001:10001
         316  = pipe 1
         404  < . 1:1 ack 10001
         404  = pipe 0
         404  = ssthresh 5",
    );
}

#[test]
fn the_repair_goes_as_the_halved_window_allows() {
    // tcp_xmit_retransmit_queue: while tcp_packets_in_flight is below the window of 5. Lost are three, as three were reported
    // above each (RFC 6675 §4, IsLost).
    window_and(
        12,
        "300  < . 1:1 ack 1 sack 3001:4001
         // Limited transmit (RFC 3042): two segments beyond the window.
         300  > . 10001:11001 ack 1
         302  < . 1:1 ack 1 sack 3001:5001
         302  > . 11001:12001 ack 1
         304  < . 1:1 ack 1 sack 3001:6001
         304  > . 1:1001 ack 1 again
         306  < . 1:1 ack 1 sack 3001:7001
         308  < . 1:1 ack 1 sack 3001:8001
         310  < . 1:1 ack 1 sack 3001:9001
         310  > . 1001:2001 ack 1 again
         312  < . 1:1 ack 1 sack 3001:10001
         312  > . 2001:3001 ack 1 again
         404  < . 1:1 ack 12001",
    );
}

#[test]
fn a_burst_is_found_by_its_third_duplicate_where_fack_had_needed_one() {
    // Deviation: Linux 3.0 has FACK (sysctl_tcp_fack is 1) until it sees reordering: tcp_dupack_heuristics and
    // tcp_mark_head_lost count the holes too, so that the report of the fifth segment alone (fackets_out 5, reordering 3)
    // makes it send the first again at 300.
    window_and(
        10,
        "300  < . 1:1 ack 1 sack 4001:5001
         302  < . 1:1 ack 1 sack 4001:6001
         304  < . 1:1 ack 1 sack 4001:7001
         304  > . 1:1001 ack 1 again
         304  > . 1001:2001 ack 1 again",
    );
}

#[test]
fn a_lost_tail_waits_for_the_time_out() {
    // No tail loss probe (Linux 3.10). tcp_set_rto: the round trip of the SYN, 100 ms, and tcp_rto_min, 200 ms, as deviation.
    window_and(
        10,
        "300  < . 1:1 ack 9001
         // 100 + 200 ms after the ACK; then twice as long.
         600  > . 9001:10001 ack 1 again
         1200 > . 9001:10001 ack 1 again
         1300 < . 1:1 ack 10001",
    );
}

#[test]
fn a_time_out_is_believed() {
    // No F-RTO: tcp_enter_loss begins with one segment, and what an ACK lets go is what was lost, not what is new.
    window_and(
        12,
        "500  > . 1:1001 ack 1 again
         500  = cwnd 1
         500  = ssthresh 5
         600  < . 1:1 ack 1001
         600  > . 1001:2001 ack 1 again
         600  > . 2001:3001 ack 1 again
         600  = cwnd 2
         700  < . 1:1 ack 10001
         700  > . 10001:11001 ack 1
         700  > . 11001:12001 ack 1
         800  < . 1:1 ack 12001",
    );
}

#[test]
fn windows_grow_by_acks() {
    // sysctl_tcp_abc is 0: tcp_slow_start adds a packet for each ACK, however much that acknowledges.
    window_and(
        20,
        "300  < . 1:1 ack 3001
         300  > . 10001:11001 ack 1
         300  > . 11001:12001 ack 1
         300  > . 12001:13001 ack 1
         300  > . 13001:14001 ack 1
         300  = cwnd 11
         302  < . 1:1 ack 6001
         302  > . 14001:15001 ack 1
         302  > . 15001:16001 ack 1
         302  > . 16001:17001 ack 1
         302  > . 17001:18001 ack 1
         302  = cwnd 12
         402  < . 1:1 ack 18001
         402  > . 18001:19001 ack 1
         402  > . 19001:20001 ack 1
         502  < . 1:1 ack 20001",
    );
    // tcp_cong_avoid_ai: a packet for a window of ACKs.
    window_and(
        10,
        "250  ! ssthresh 2
         300  < . 1:1 ack 2001
         300  = cwnd 10.1
         400  < . 1:1 ack 10001",
    );
}

#[test]
fn one_duplicate_alone_repairs_nothing() {
    // Neither RACK (Linux 4.4) nor early retransmit (3.5): the rest waits for the time-out.
    window_and(
        10,
        "300  < . 1:1 ack 1 sack 1001:2001
         500  > . 1:1001 ack 1 again
         600  < . 1:1 ack 10001",
    );
}

#[test]
fn every_segment_behind_a_hole_is_reported() {
    // tcp_ack_snd_check: at once; ACKs that wait for each other (Linux 4.18) there are none.
    let behind: String = (1..40)
        .map(|n| {
            let end = n * 1000 + 1001;
            format!("200  < . {}:{end} ack 1\n 200  > . 1:1 ack 1 sack 1001:{end}\n", n * 1000 + 1)
        })
        .collect();
    play(&tcp(), &format!("{OPEN}{behind} 210  < . 1:1001 ack 1\n 210  > . 1:1 ack 40001"));
}
