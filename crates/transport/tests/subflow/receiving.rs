//! What a receiver answers: delayed ACKs (RFC 5681 §4.2), selective ones (RFC 2018, RFC 2883), PAWS (RFC 7323 §5).

use crate::pair::MS;
use crate::script::{plain, play};
use transport::config;

const OPEN: &str = "
    0    < S 0:0
    0    > S. 0:0 ack 1
    100  < . 1:1 ack 1
";

#[track_caller]
fn open_and(settings: &config::Tcp, script: &str) {
    play(settings, &format!("{OPEN}{script}"));
}

#[test]
fn every_second_segment_or_when_time_is_up() {
    open_and(
        &config::Tcp { delayed_ack_ns: Some(40 * MS), ..plain() },
        "200  < . 1:1001 ack 1
         210  < . 1001:2001 ack 1
         210  > . 1:1 ack 2001
         220  < . 2001:3001 ack 1
         260  > . 1:1 ack 3001
         300  < .P 3001:3101 ack 1
         310  < .P 3101:3201 ack 1
         // The one before waited in vain: the time is 80 ms now, and 60 after a segment that comes soon (tcp_event_data_recv).
         370  > . 1:1 ack 3201",
    );
}

#[test]
fn at_once_at_the_start() {
    open_and(
        &config::Tcp { delayed_ack_ns: Some(40 * MS), quick_acks: 2, ..plain() },
        "200  < . 1:1001 ack 1
         200  > . 1:1 ack 1001
         210  < . 1001:2001 ack 1
         210  > . 1:1 ack 2001
         220  < . 2001:3001 ack 1
         260  > . 1:1 ack 3001",
    );
}

#[test]
fn acks_behind_a_hole_wait_for_each_other_once_there_were_three() {
    // net/ipv4/tcp_input.c, __tcp_ack_snd_check: 5 % of the round trip, which is 100 ms here, and 1 ms at most
    open_and(
        &config::Tcp { delayed_ack_ns: Some(40 * MS), ack_compression: true, ..plain() },
        "200   < . 1001:2001 ack 1
         200   > . 1:1 ack 1 sack 1001:2001
         200.1 < . 2001:3001 ack 1
         200.1 > . 1:1 ack 1 sack 1001:3001
         200.2 < . 3001:4001 ack 1
         200.2 > . 1:1 ack 1 sack 1001:4001
         200.3 < . 4001:5001 ack 1
         200.9 < . 5001:6001 ack 1
         201.3 > . 1:1 ack 1 sack 1001:6001
         202   < . 6001:7001 ack 1
         203   > . 1:1 ack 1 sack 1001:7001
         // Another hole: three more at once.
         204   < . 1:501 ack 1
         204   > . 1:1 ack 501 sack 1001:7001
         204.5 < . 7001:8001 ack 1
         204.5 > . 1:1 ack 501 sack 1001:8001
         // Nothing waits once all is there.
         205   < . 501:1001 ack 1
         205   > . 1:1 ack 8001",
    );
}

#[test]
fn acks_behind_a_hole_wait_only_where_they_may() {
    let without = config::Tcp { delayed_ack_ns: Some(40 * MS), ack_compression: false, ..plain() };
    let quick = config::Tcp { delayed_ack_ns: Some(40 * MS), quick_acks: 5, ack_compression: true, ..plain() };
    let no_delay = config::Tcp { ack_compression: true, ..plain() };
    for settings in [without, quick, no_delay] {
        let segments = (1..=5).map(|n| {
            let (from, to) = (1000 * n + 1, 1000 * n + 1001);
            format!("200.{n} < . {from}:{to} ack 1\n200.{n} > . 1:1 ack 1 sack 1001:{to}\n")
        });
        open_and(&settings, &segments.collect::<String>());
    }
}

#[test]
fn so_many_acks_wait_at_most() {
    // tcp_comp_sack_nr is 44
    let mut script = String::new();
    for n in 1..=3 + 44 + 1 {
        let (from, to) = (1000 * n + 1, 1000 * n + 1001);
        script += &format!("200.{n:03} < . {from}:{to} ack 1\n");
        if n <= 3 || n == 3 + 44 + 1 {
            script += &format!("200.{n:03} > . 1:1 ack 1 sack 1001:{to}\n");
        }
    }
    open_and(&config::Tcp { delayed_ack_ns: Some(40 * MS), ack_compression: true, ..plain() }, &script);
}

#[test]
fn at_once_while_the_window_grows() {
    // net/ipv4/tcp_input.c, tcp_grow_window: by two segments for each, up to 162 of 256 parts of the buffer; small ones do not count
    open_and(
        &config::Tcp { delayed_ack_ns: Some(40 * MS), ..plain() },
        "200  ! buffer 107457
         200  < . 1:1461 ack 1
         200  > . 1:1 ack 1461
         210  < . 1461:2921 ack 1
         210  > . 1:1 ack 2921
         220  < . 2921:4381 ack 1
         260  > . 1:1 ack 4381
         300  ! buffer 112198
         300  < . 4381:4481 ack 1
         380  > . 1:1 ack 4481
         390  < . 4481:5941 ack 1
         390  > . 1:1 ack 5941",
    );
}

#[test]
fn at_once_after_a_pause_and_after_a_duplicate() {
    // net/ipv4/tcp_input.c, tcp_event_data_recv: longer than the time-out, of 1 s here; tcp_send_dupack
    open_and(
        &config::Tcp { delayed_ack_ns: Some(40 * MS), quick_acks: 1, ..plain() },
        "200  < . 1:1001 ack 1
         200  > . 1:1 ack 1001
         900  < . 1001:2001 ack 1
         940  > . 1:1 ack 2001
         2000 < . 2001:3001 ack 1
         2000 > . 1:1 ack 3001
         2010 < . 3001:4001 ack 1
         2050 > . 1:1 ack 4001
         2100 < . 1:1001 ack 1
         2100 > . 1:1 ack 4001 sack 1:1001
         2110 < . 4001:5001 ack 1
         2110 > . 1:1 ack 5001
         2120 < . 5001:6001 ack 1
         2160 > . 1:1 ack 6001",
    );
}

#[test]
fn data_carries_the_ack() {
    open_and(
        &config::Tcp { delayed_ack_ns: Some(40 * MS), ..plain() },
        "200  < . 1:1001 ack 1
         210  ! push 1
         210  > . 1:1001 ack 1001
         300  < . 1001:1001 ack 1001",
    );
}

#[test]
fn holes() {
    // RFC 2018 §4: the block of the latest segment first, then those reported before; RFC 5681 §4.2: at once
    open_and(
        &config::Tcp { delayed_ack_ns: Some(40 * MS), ..plain() },
        "200  < . 1001:2001 ack 1
         200  > . 1:1 ack 1 sack 1001:2001
         210  < . 3001:4001 ack 1
         210  > . 1:1 ack 1 sack 3001:4001 sack 1001:2001
         220  < . 5001:6001 ack 1
         220  > . 1:1 ack 1 sack 5001:6001 sack 3001:4001 sack 1001:2001
         230  < . 2001:3001 ack 1
         230  > . 1:1 ack 1 sack 1001:4001 sack 5001:6001
         240  < . 1:1001 ack 1
         240  > . 1:1 ack 4001 sack 5001:6001
         250  < . 4001:5001 ack 1
         250  > . 1:1 ack 6001
         250  = arrived 6000",
    );
}

#[test]
fn duplicates_are_reported() {
    // RFC 2883 §4
    open_and(
        &plain(),
        "200  < . 1:1001 ack 1
         200  > . 1:1 ack 1001
         300  < . 1:1001 ack 1
         300  > . 1:1 ack 1001 sack 1:1001
         400  < . 2001:3001 ack 1
         400  > . 1:1 ack 1001 sack 2001:3001
         500  < . 2001:3001 ack 1
         500  > . 1:1 ack 1001 sack 2001:3001 sack 2001:3001
         // Partly new, as after a change of segment sizes (§4.1.2).
         600  < . 501:1501 ack 1
         600  > . 1:1 ack 1501 sack 501:1001 sack 2001:3001",
    );
}

#[test]
fn full_segments_leave_no_room_for_selective_acks() {
    open_and(
        &plain(),
        "200  < . 1001:2001 ack 1
         200  > . 1:1 ack 1 sack 1001:2001
         200  ! push 1
         200  ! write 100
         200  > . 1:1001 ack 1
         200  > . 1001:1101 ack 1 sack 1001:2001
         300  < . 2001:2001 ack 1101",
    );
}

#[test]
fn old_timestamps() {
    // RFC 7323 §5.3, R1
    let settings = config::Tcp { timestamps: true, ..plain() };
    play(
        &settings,
        "0    < S 0:0 ts 4294967290
         0    > S. 0:0 ack 1
         100  < . 1:1 ack 1 ts 5
         200  < . 1:1001 ack 1 ts 10
         200  > . 1:1 ack 1001
         300  < . 1001:2001 ack 1 ts 9
         300  > . 1:1 ack 1001 sack 1001:2001
         300  = arrived 1000
         400  < . 1001:2001 ack 1 ts 11
         400  > . 1:1 ack 2001
         // A reset needs none (§5.2).
         500  < R 2001:2001 ts 3
         500  = state Closed",
    );
}

#[test]
fn overtaken_acks() {
    // Linux 6.18, tcp_disordered_ack_check: the time-out is 1 s, a fifth more is 1.2 s.
    let settings = config::Tcp { timestamps: true, ..plain() };
    play(
        &settings,
        "0    < S 0:0 ts 4294967290
         0    > S. 0:0 ack 1
         100  < . 1:1 ack 1 ts 5
         200  < . 1:1001 ack 1 ts 2000 win 65000
         200  > . 1:1 ack 1001
         300  < . 1001:1001 ack 1 ts 2000 win 65000
         // It says nothing new and is 1.2 s older: taken, which needs no answer.
         1000 < . 1001:1001 ack 1 ts 800 win 65000
         // What came latest stays the measure.
         1010 < . 1001:2001 ack 1 ts 1999
         1010 > . 1:1 ack 1001 sack 1001:2001
         // Older still, or with a wider window: refused.
         2000 < . 1001:1001 ack 1 ts 799 win 65000
         2000 > . 1:1 ack 1001
         3000 < . 1001:1001 ack 1 ts 1999 win 65535
         3000 > . 1:1 ack 1001
         // Behind what came, it is not worth an answer.
         4000 < . 1:1 ack 1 ts 1999",
    );
}
