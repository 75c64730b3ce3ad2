//! How losses are found and repaired.

use crate::script::{plain, play};
use transport::config;

const OPEN: &str = "
    0    ! connect
    0    > S 0:0
    100  < S. 0:0 ack 1
    100  > . 1:1 ack 1
";

#[track_caller]
pub fn open_and(settings: &config::Tcp, script: &str) {
    play(settings, &format!("{OPEN}{script}"));
}

#[test]
fn by_selective_acks() {
    // RFC 6675 §5: three blocks' worth above make it lost; PRR sends one for what two deliver (RFC 6937 §3)
    open_and(
        &plain(),
        "200  ! push 10
         200  > . 1:1001 ack 1
         200  > . 1001:2001 ack 1
         200  > . 2001:3001 ack 1
         200  > . 3001:4001 ack 1
         200  > . 4001:5001 ack 1
         200  > . 5001:6001 ack 1
         200  > . 6001:7001 ack 1
         200  > . 7001:8001 ack 1
         200  > . 8001:9001 ack 1
         200  > . 9001:10001 ack 1
         300  < . 1:1 ack 1 sack 1001:2001
         301  < . 1:1 ack 1 sack 1001:3001
         302  < . 1:1 ack 1 sack 1001:4001
         302  > . 1:1001 ack 1 again
         302  = ssthresh 5
         302  = cwnd 7
         303  < . 1:1 ack 1 sack 1001:5001
         304  < . 1:1 ack 1 sack 1001:6001
         305  < . 1:1 ack 1 sack 1001:7001
         // Rules 3 and 4: nothing new to send, and nothing below the highest SACK, so the last is sent as a rescue.
         305  > . 9001:10001 ack 1 again
         400  < . 1:1 ack 10001
         400  = pipe 0",
    );
}

#[test]
fn by_duplicate_acks() {
    // RFC 5681 §3.2, RFC 3042, RFC 6582 §3.2: limited transmit, fast retransmit, a partial ACK, a full one. ACKs come 2 ms
    // apart, so that no segment waits for another
    open_and(
        &config::Tcp { sack: false, proportional_rate_reduction: false, ..plain() },
        "200  ! cwnd 6
         200  ! push 9
         200  > . 1:1001 ack 1
         200  > . 1001:2001 ack 1
         200  > . 2001:3001 ack 1
         200  > . 3001:4001 ack 1
         200  > . 4001:5001 ack 1
         200  > . 5001:6001 ack 1
         300  < . 1:1 ack 1
         300  > . 6001:7001 ack 1
         302  < . 1:1 ack 1
         302  > . 7001:8001 ack 1
         304  < . 1:1 ack 1
         304  > . 1:1001 ack 1 again
         304  = ssthresh 3
         304  = pipe 5
         305  < . 1:1 ack 1
         306  < . 1:1 ack 1
         307  < . 1:1 ack 1
         307  > . 8001:9001 ack 1
         // 3001 was lost too.
         402  < . 1:1 ack 3001
         402  > . 3001:4001 ack 1 again
         403  < . 1:1 ack 3001
         // The duplicates that the repair caused start none (RFC 6582 §3.2 step 2).
         502  < . 1:1 ack 9001
         502  = ssthresh 3
         502  ! push 1
         502  > . 9001:10001 ack 1
         503  < . 1:1 ack 9001
         503  < . 1:1 ack 9001
         503  < . 1:1 ack 9001
         503  = ssthresh 3
         602  < . 1:1 ack 10001",
    );
}

#[test]
fn by_time() {
    // RFC 8985 §6.2: one later delivered segment, and a quarter of the least round trip; 2 ms more as in Linux
    open_and(
        &config::Tcp { rack: true, ..plain() },
        "200  ! push 3
         200  > . 1:1001 ack 1
         200  > . 1001:2001 ack 1
         200  > . 2001:3001 ack 1
         300  < . 1:1 ack 1 sack 2001:3001
         327  > . 1:1001 ack 1 again
         425  < . 1:1 ack 1001 sack 2001:3001
         425  > . 1001:2001 ack 1 again
         525  < . 1:1 ack 3001",
    );
}

#[test]
fn reordering_is_no_loss() {
    // RFC 8985 §6.2 step 4
    open_and(
        &config::Tcp { rack: true, ..plain() },
        "200  ! push 3
         200  > . 1:1001 ack 1
         200  > . 1001:2001 ack 1
         200  > . 2001:3001 ack 1
         300  < . 1:1 ack 1 sack 2001:3001
         310  < . 1:1 ack 3001
         400  = cwnd 10
         // Reordering was seen, so three SACKed segments prove nothing by themselves.
         400  ! push 4
         400  > . 3001:4001 ack 1
         400  > . 4001:5001 ack 1
         400  > . 5001:6001 ack 1
         400  > . 6001:7001 ack 1
         500  < . 1:1 ack 3001 sack 4001:7001
         520  < . 1:1 ack 7001",
    );
}

#[test]
fn where_much_is_overtaken_the_window_grows_out_of_order() {
    // tcp_check_sack_reordering and tcp_may_raise_cwnd (net/ipv4/tcp_input.c)
    open_and(
        &config::Tcp { rack: true, ..plain() },
        "200  ! push 6
         200  > . 1:1001 ack 1
         200  > . 1001:2001 ack 1
         200  > . 2001:3001 ack 1
         200  > . 3001:4001 ack 1
         200  > . 4001:5001 ack 1
         200  > . 5001:6001 ack 1
         300  < . 1:1 ack 1 sack 5001:6001
         // From its beginning to the end of what overtook it: three segments, as many as duplicates prove nothing.
         301  < . 1:1 ack 1 sack 3001:4001 sack 5001:6001
         301  = cwnd 10
         // Six. This one moves the cumulative ACK anyway: four more are delivered.
         302  < . 1:1 ack 6001
         302  = cwnd 14
         400  ! push 8
         400  > . 6001:7001 ack 1
         400  > . 7001:8001 ack 1
         400  > . 8001:9001 ack 1
         400  > . 9001:10001 ack 1
         400  > . 10001:11001 ack 1
         400  > . 11001:12001 ack 1
         400  > . 12001:13001 ack 1
         400  > . 13001:14001 ack 1
         500  < . 1:1 ack 6001 sack 7001:8001
         500  = cwnd 15
         501  < . 1:1 ack 14001
         501  = cwnd 22",
    );
}

#[test]
fn a_lost_retransmission_is_sent_again() {
    // RFC 8985 §3.2: copies are judged by time as originals are
    open_and(
        &config::Tcp { rack: true, ..plain() },
        "200  ! push 5
         200  > . 1:1001 ack 1
         200  > . 1001:2001 ack 1
         200  > . 2001:3001 ack 1
         200  > . 3001:4001 ack 1
         200  > . 4001:5001 ack 1
         300  < . 1:1 ack 1 sack 1001:5001
         300  > . 1:1001 ack 1 again
         310  ! push 1
         310  > . 5001:6001 ack 1
         410  < . 1:1 ack 1 sack 1001:6001
         410  > . 1:1001 ack 1 again
         510  < . 1:1 ack 6001",
    );
}

#[test]
fn copies_that_arrive_above_a_hole_show_that_another_copy_is_lost() {
    // net/ipv4/tcp_input.c, tcp_rack_advance: of what was sent again only the least round trip says which copy arrived. The echo
    // does not: above a hole it is that of the last segment in order (RFC 7323 §4.3), from before all copies.
    play(
        &config::Tcp { timestamps: true, rack: true, ..plain() },
        "0    ! connect
         0    > S 0:0
         100  < S. 0:0 ack 1 ts 1
         100  > . 1:1 ack 1
         200  ! push 5
         200  > . 1:1001 ack 1
         200  > . 1001:2001 ack 1
         200  > . 2001:3001 ack 1
         200  > . 3001:4001 ack 1
         200  > . 4001:5001 ack 1
         300  < . 1:1 ack 1 ts 300 echo 100 sack 2001:5001
         300  > . 1:1001 ack 1 again
         300  > . 1001:2001 ack 1 again
         400  < . 1:1 ack 1 ts 400 echo 100 sack 1001:5001
         400  > . 1:1001 ack 1 again
         500  < . 1:1 ack 5001 ts 500 echo 400",
    );
}

#[test]
fn pacing() {
    // Twice the window that the last ACK left over the round trip: one of 10 segments every 5 ms; the first ten go at once
    open_and(
        &config::Tcp { pacing: true, ..plain() },
        "200  ! cwnd 20
         200  ! push 13
         200  > . 1:1001 ack 1
         200  > . 1001:2001 ack 1
         200  > . 2001:3001 ack 1
         200  > . 3001:4001 ack 1
         200  > . 4001:5001 ack 1
         200  > . 5001:6001 ack 1
         200  > . 6001:7001 ack 1
         200  > . 7001:8001 ack 1
         200  > . 8001:9001 ack 1
         200  > . 9001:10001 ack 1
         205   > . 10001:11001 ack 1
         210  > . 11001:12001 ack 1
         215   > . 12001:13001 ack 1
         315  < . 1:1 ack 13001",
    );
}

#[test]
fn blocks_that_arrived_together_are_no_reordering() {
    // RFC 2018 §4: the block that changed last comes first. What RACK waits for is a round trip then, no more.
    open_and(
        &config::Tcp { rack: true, ..plain() },
        "200  ! push 9
         200  > . 1:1001 ack 1
         200  > . 1001:2001 ack 1
         200  > . 2001:3001 ack 1
         200  > . 3001:4001 ack 1
         200  > . 4001:5001 ack 1
         200  > . 5001:6001 ack 1
         200  > . 6001:7001 ack 1
         200  > . 7001:8001 ack 1
         200  > . 8001:9001 ack 1
         300  < . 1:1 ack 1 sack 4001:6001 sack 1001:3001
         300  > . 1:1001 ack 1 again
         300  > . 3001:4001 ack 1 again
         400  < . 1:1 ack 9001",
    );
}

#[test]
fn acks_that_carry_signals_are_no_duplicates() {
    // RFC 8684 §3.4.1
    open_and(
        &config::Tcp { sack: false, ..plain() },
        "200  ! push 5
         200  > . 1:1001 ack 1
         200  > . 1001:2001 ack 1
         200  > . 2001:3001 ack 1
         200  > . 3001:4001 ack 1
         200  > . 4001:5001 ack 1
         300  < . 1:1 ack 1 backup yes
         301  < . 1:1 ack 1 backup yes
         302  < . 1:1 ack 1 backup yes
         303  < . 1:1 ack 1 backup yes
         303  = pipe 5
         304  < . 1:1 ack 1
         304  = pipe 4
         305  < . 1:1 ack 5001",
    );
}

#[test]
fn acks_with_a_wider_window_are_no_duplicates() {
    // net/ipv4/tcp_input.c, tcp_may_update_window: a narrower one is none of the peer's.
    open_and(
        &config::Tcp { sack: false, ..plain() },
        "200  ! push 5
         200  > . 1:1001 ack 1
         200  > . 1001:2001 ack 1
         200  > . 2001:3001 ack 1
         200  > . 3001:4001 ack 1
         200  > . 4001:5001 ack 1
         300  < . 1:1 ack 1001 win 30000
         301  < . 1:1 ack 1001 win 31000
         302  < . 1:1 ack 1001 win 32000
         303  < . 1:1 ack 1001 win 33000
         303  = pipe 4
         304  < . 1:1 ack 1001 win 20000
         304  = pipe 3
         305  < . 1:1 ack 1001 win 32000
         305  = pipe 2
         306  < . 1:1 ack 5001 win 33000",
    );
}
