//! Losses and time-outs that turn out to be none.

use crate::repairing::open_and;
use crate::script::{plain, play};
use transport::config;

#[test]
fn a_time_out_that_was_premature_is_taken_back() {
    // RFC 3522, RFC 4015: the ACK echoes the timestamp of the original
    let settings = config::Tcp { timestamps: true, rack: true, ..plain() };
    let script = "0    ! connect
         0    > S 0:0
         100  < S. 0:0 ack 1 ts 1
         100  > . 1:1 ack 1
         200  ! push 3
         200  > . 1:1001 ack 1
         200  > . 1001:2001 ack 1
         200  > . 2001:3001 ack 1
         1200 > . 1:1001 ack 1 again
         1200 = cwnd 1
         // It was held on its way.
         1250 < . 1:1 ack 1001 ts 1250 echo 200";
    play(
        &settings,
        &format!(
            "{script}
             1250 = cwnd 10
             1250 = ssthresh inf
             1250 = pipe 2
             1260 < . 1:1 ack 3001 ts 1260 echo 200"
        ),
    );
    play(
        &config::Tcp { undo: false, ..settings },
        &format!(
            "{script}
             1250 > . 1001:2001 ack 1 again
             1250 > . 2001:3001 ack 1 again
             1250 = cwnd 2
             1250 = ssthresh 5
             1260 < . 1:1 ack 3001 ts 1260 echo 200"
        ),
    );
}

/// Ten segments, of which the first is taken for lost.
const ONE_RESENT: &str = "200  ! push 10
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
    ";

#[test]
fn a_loss_that_duplicates_disprove_is_taken_back() {
    // RFC 2883 §4, RFC 3708; tcp_try_undo_dsack: the repair is over, and then all that was sent again is reported
    open_and(
        &plain(),
        &format!(
            "{ONE_RESENT}
             303  < . 1:1 ack 10001
             303  = ssthresh 5
             403  < . 1:1 ack 10001 sack 1:1001
             403  = cwnd 10
             403  = ssthresh inf"
        ),
    );
    // While it goes on.
    open_and(
        &plain(),
        &format!(
            "{ONE_RESENT}
             303  < . 1:1 ack 5001
             304  < . 1:1 ack 6001 sack 1:1001
             // With slow start: a copy that arrived left the network too.
             304  = cwnd 12
             304  = ssthresh inf
             305  < . 1:1 ack 10001"
        ),
    );
    // Nothing else is a duplicate of it, and nothing is taken back where that is off.
    let off = config::Tcp { undo: false, ..plain() };
    for (settings, block) in [(plain(), "sack 10001:10001"), (off, "sack 1:1001")] {
        open_and(
            &settings,
            &format!(
                "{ONE_RESENT}
                 303  < . 1:1 ack 10001
                 403  < . 1:1 ack 10001 {block}
                 403  = ssthresh 5"
            ),
        );
    }
}

#[test]
fn more_duplicates_than_copies_prove_nothing() {
    // tcp_dsack_seen: the network duplicates, too
    open_and(
        &config::Tcp { rescue_retransmission: false, ..plain() },
        "200  ! push 1
         200  > . 1:1001 ack 1
         300  < . 1:1 ack 1001
         301  < . 1:1 ack 1001 sack 1:1001
         302  ! push 4
         302  > . 1001:2001 ack 1
         302  > . 2001:3001 ack 1
         302  > . 3001:4001 ack 1
         302  > . 4001:5001 ack 1
         402  < . 1:1 ack 1001 sack 2001:5001
         402  > . 1001:2001 ack 1 again
         502  < . 1:1 ack 5001
         503  < . 1:1 ack 5001 sack 1001:2001
         503  = ssthresh 5",
    );
}

/// Four segments of six are in flight, and the timer sends the first again.
const TIMED_OUT: &str = "200  ! cwnd 4
    200  ! push 6
    200  > . 1:1001 ack 1
    200  > . 1001:2001 ack 1
    200  > . 2001:3001 ack 1
    200  > . 3001:4001 ack 1
    1200 > . 1:1001 ack 1 again
    1200 = cwnd 1
    1200 = ssthresh 2
    1300 < . 1:1 ack 1001
    1300 > . 4001:5001 ack 1
    1300 > . 5001:6001 ack 1
    ";

#[test]
fn originals_that_arrive_after_a_time_out_show_that_it_was_none() {
    // RFC 5682 §3.1: step 2 b sends new data, step 3 b finds that what was not sent again is acknowledged
    open_and(
        &plain(),
        &format!(
            "{TIMED_OUT}
             1310 < . 1:1 ack 2001
             // The window of before, and slow start.
             1310 = cwnd 5
             1310 = ssthresh inf
             1310 = pipe 4
             1320 < . 1:1 ack 6001"
        ),
    );
    // Step 3 a: the new data arrived, and the rest was lost.
    open_and(
        &plain(),
        &format!(
            "{TIMED_OUT}
             1400 < . 1:1 ack 1001 sack 4001:5001
             1400 > . 1001:2001 ack 1 again
             1401 < . 1:1 ack 1001 sack 4001:6001
             1401 > . 2001:3001 ack 1 again
             1500 < . 1:1 ack 2001 sack 4001:6001
             1500 > . 3001:4001 ack 1 again
             1600 < . 1:1 ack 6001
             1600 = ssthresh 2"
        ),
    );
    // Without new data, and without F-RTO, what seems lost is sent again at once.
    for (settings, segments) in [(plain(), 4), (config::Tcp { f_rto: false, ..plain() }, 6)] {
        open_and(
            &settings,
            &format!(
                "200  ! cwnd 4
                 200  ! push {segments}
                 200  > . 1:1001 ack 1
                 200  > . 1001:2001 ack 1
                 200  > . 2001:3001 ack 1
                 200  > . 3001:4001 ack 1
                 1200 > . 1:1001 ack 1 again
                 1300 < . 1:1 ack 1001
                 1300 > . 1001:2001 ack 1 again
                 1300 > . 2001:3001 ack 1 again
                 1300 ! abort
                 1300 > R. 4001:4001 ack 1"
            ),
        );
    }
}

#[test]
fn originals_that_fill_holes_stop_the_repair() {
    // tcp_try_undo_partial: with a copy under way nothing more is sent again, and nothing taken back; without one it is
    let settings = config::Tcp { timestamps: true, rescue_retransmission: false, ..plain() };
    play(
        &settings,
        "0    ! connect
         0    > S 0:0
         100  < S. 0:0 ack 1 ts 1
         100  > . 1:1 ack 1
         200  ! push 8
         200  > . 1:1001 ack 1
         200  > . 1001:2001 ack 1
         200  > . 2001:3001 ack 1
         200  > . 3001:4001 ack 1
         200  > . 4001:5001 ack 1
         200  > . 5001:6001 ack 1
         200  > . 6001:7001 ack 1
         200  > . 7001:8001 ack 1
         300  < . 1:1 ack 1 ts 300 echo 200 sack 1001:2001
         301  < . 1:1 ack 1 ts 301 echo 200 sack 3001:4001 sack 1001:2001
         302  < . 1:1 ack 1 ts 302 echo 200 sack 3001:6001 sack 1001:2001
         302  > . 1:1001 ack 1 again
         // NextSeg rule 3
         302  > . 2001:3001 ack 1 again
         303  < . 1:1 ack 1 ts 303 echo 200 sack 3001:7001 sack 1001:2001
         303  = ssthresh 5
         304  < . 1:1 ack 2001 ts 304 echo 200 sack 3001:7001
         304  = ssthresh 5
         305  < . 1:1 ack 7001 ts 305 echo 200
         305  = ssthresh inf
         306  < . 1:1 ack 8001 ts 306 echo 200",
    );
}
