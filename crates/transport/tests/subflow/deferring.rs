//! Segments that wait for others (net/ipv4/tcp_output.c, tcp_tso_should_defer).

use crate::script::{plain, play};

#[test]
fn a_window_with_room_for_one_waits_for_two_unless_nothing_left_for_a_millisecond() {
    play(
        &plain(),
        "0    ! connect
         0    > S 0:0
         100  < S. 0:0 ack 1
         100  > . 1:1 ack 1
         200  ! ssthresh 8
         200  ! cwnd 8
         200  ! push 14
         200  > . 1:1001 ack 1
         200  > . 1001:2001 ack 1
         200  > . 2001:3001 ack 1
         200  > . 3001:4001 ack 1
         200  > . 4001:5001 ack 1
         200  > . 5001:6001 ack 1
         200  > . 6001:7001 ack 1
         200  > . 7001:8001 ack 1
         300  < . 1:1 ack 1001
         300  > . 8001:9001 ack 1
         301  < . 1:1 ack 2001
         301  = pipe 7
         302  < . 1:1 ack 3001
         302  > . 9001:10001 ack 1
         302  > . 10001:11001 ack 1
         303  < . 1:1 ack 4001
         306  < . 1:1 ack 5001
         306  > . 11001:12001 ack 1
         306  > . 12001:13001 ack 1
         // The last that there is does not wait.
         307  < . 1:1 ack 6001
         307  > . 13001:14001 ack 1",
    );
}
