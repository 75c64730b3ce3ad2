//! Explicit congestion notification against the text of RFC 3168, and what Linux does where that leaves a choice.

use crate::script::{plain, play};
use transport::config::{self, Ecn};

fn settings(ecn: Ecn) -> config::Tcp {
    config::Tcp { ecn, rescue_retransmission: false, ..plain() }
}

/// A client that asks a server which agrees.
const OPEN: &str = "
    0    ! connect
    0    > SEW 0:0
    100  < S.E 0:0 ack 1
    100  > . 1:1 ack 1
";

#[track_caller]
fn open_and(settings: &config::Tcp, script: &str) {
    play(settings, &format!("{OPEN}{script}"));
}

#[test]
fn who_asks_and_who_answers() {
    // RFC 3168 §6.1.1: an ECN-setup SYN has ECE and CWR, its answer ECE alone.
    open_and(&settings(Ecn::Request), "200 ! push 1\n 200 > . 1:1001 ack 1 ip ect0");
    for answer in ["S.", "S.W", "S.EW"] {
        let script = format!("0 ! connect\n 0 > SEW 0:0\n 100 < {answer} 0:0 ack 1\n 100 > . 1:1 ack 1\n");
        play(&settings(Ecn::Request), &format!("{script} 200 ! push 1\n 200 > . 1:1001 ack 1"));
    }
    // Who does not ask is not answered, whatever the answer says.
    for ecn in [Ecn::Off, Ecn::Accept] {
        let script = "0 ! connect\n 0 > S 0:0\n 100 < S.E 0:0 ack 1\n 100 > . 1:1 ack 1\n";
        play(&settings(ecn), &format!("{script} 200 ! push 1\n 200 > . 1:1001 ack 1"));
    }
    for (ecn, syn, answer, data) in [
        (Ecn::Off, "SEW", "S.", ""),
        (Ecn::Accept, "SEW", "S.E", " ip ect0"),
        (Ecn::Request, "SEW", "S.E", " ip ect0"),
        (Ecn::Accept, "S", "S.", ""),
        (Ecn::Accept, "SE", "S.", ""),
        (Ecn::Accept, "SW", "S.", ""),
    ] {
        play(
            &settings(ecn),
            &format!(
                "0   < {syn} 0:0
                 0   > {answer} 0:0 ack 1
                 100 < . 1:1 ack 1
                 200 ! push 1
                 200 > . 1:1001 ack 1{data}"
            ),
        );
    }
}

#[test]
fn without_an_answer_the_syn_goes_without() {
    // RFC 3168 §6.1.1.1; tcp_ecn_fallback. An answer to the first that was late holds.
    for (answer, data) in [("S.", ""), ("S.E", " ip ect0")] {
        play(
            &settings(Ecn::Request),
            &format!(
                "0    ! connect
                 0    > SEW 0:0
                 1000 > S 0:0 again
                 1100 < {answer} 0:0 ack 1
                 1100 > . 1:1 ack 1
                 1200 ! push 1
                 1200 > . 1:1001 ack 1{data}"
            ),
        );
    }
    // The answer to a SYN says what it said.
    play(
        &settings(Ecn::Accept),
        "0    < SEW 0:0
         0    > S.E 0:0 ack 1
         1000 > S.E 0:0 ack 1 again
         1100 < . 1:1 ack 1
         1100 = state Established",
    );
}

#[test]
fn both_open_at_once() {
    play(
        &settings(Ecn::Request),
        "0    ! connect
         0    > SEW 0:0
         50   < SEW 0:0
         50   > S.E 0:0 ack 1 again
         100  < S.E 0:0 ack 1
         100  = state Established
         200  ! push 1
         200  > . 1:1001 ack 1 ip ect0",
    );
}

#[test]
fn only_new_data_can_be_marked() {
    // RFC 3168 §6.1.4: no pure ACK; §6.1.5: nothing sent again; §6.1.6: no window probe. Linux also: no FIN without data.
    open_and(
        &settings(Ecn::Request),
        "200  ! push 2
         200  > . 1:1001 ack 1 ip ect0
         200  > . 1001:2001 ack 1 ip ect0
         300  < . 1:1001 ack 1 ip ect0
         300  > . 2001:2001 ack 1001
         1200 > . 1:1001 ack 1001 again
         1300 < . 1001:1001 ack 2001 win 0
         1300 ! probe on
         3300 > . 2000:2000 ack 1001
         3400 < . 1001:1001 ack 2001
         3400 ! close
         3400 > F. 2001:2001 ack 1001
         3500 < . 1001:1001 ack 2002",
    );
}

#[test]
fn a_mark_is_echoed_until_it_is_answered() {
    // RFC 3168 §6.1.3: ECE on all ACKs, on data too, until CWR comes; a mark on the segment with CWR begins anew.
    open_and(
        &settings(Ecn::Request),
        "200  < . 1:1001 ack 1 ip ect0
         200  > . 1:1 ack 1001
         210  < . 1001:2001 ack 1 ip ce
         210  > .E 1:1 ack 2001
         220  < . 2001:3001 ack 1 ip ect0
         220  > .E 1:1 ack 3001
         230  ! push 1
         230  > .E 1:1001 ack 3001 ip ect0
         240  < .W 3001:4001 ack 1001 ip ect1
         240  > . 1001:1001 ack 4001
         250  < . 4001:5001 ack 1001 ip ce
         250  > .E 1001:1001 ack 5001
         260  < .W 5001:6001 ack 1001 ip ce
         260  > .E 1001:1001 ack 6001
         // Linux hears CWR on an ACK too, and does not answer that.
         270  < .W 6001:6001 ack 1001
         280  < . 6001:7001 ack 1001 ip ect0
         280  > . 1001:1001 ack 7001
         // A mark on what came before says nothing (Linux; RFC 3168 §6.1.5 for what is sent again).
         290  < . 6001:7001 ack 1001 ip ce
         290  > . 1001:1001 ack 7001 sack 6001:7001
         // One out of order counts.
         300  < . 8001:9001 ack 1001 ip ce
         300  > .E 1001:1001 ack 7001 sack 8001:9001",
    );
    // Who has not agreed hears no marks.
    play(
        &settings(Ecn::Off),
        "0    < SEW 0:0
         0    > S. 0:0 ack 1
         100  < . 1:1001 ack 1 ip ce
         100  > . 1:1 ack 1001",
    );
}

#[test]
fn marks_are_told_at_once() {
    // tcp_data_ecn_check and tcp_ecn_accept_cwr: the peer's window may be one packet. Others wait for a second, 40 ms or, after one that waited in
    // vain, 60.
    let settings = config::Tcp { delayed_ack_ns: Some(40_000_000), ..settings(Ecn::Request) };
    open_and(
        &settings,
        "200  < . 1:1001 ack 1 ip ect0
         240  > . 1:1 ack 1001
         300  < . 1001:2001 ack 1 ip ce
         300  > .E 1:1 ack 2001
         310  < . 2001:3001 ack 1 ip ce
         310  > .E 1:1 ack 3001
         320  < . 3001:4001 ack 1 ip ect0
         360  > .E 1:1 ack 4001
         400  < .W 4001:5001 ack 1 ip ect0
         400  > . 1:1 ack 5001
         410  < . 5001:6001 ack 1 ip ect0
         470  > . 1:1 ack 6001
         // One that cannot be marked was probably sent again.
         500  < . 6001:7001 ack 1
         500  > . 1:1 ack 7001",
    );
}

#[test]
fn a_mark_halves_the_window_over_a_round_trip_once() {
    // RFC 3168 §6.1.2: as for a loss, once a window of data, and CWR on the first new data. By PRR as Linux: from 10 to 5 while
    // ten are acknowledged, and the end is an ACK of what followed.
    open_and(
        &settings(Ecn::Request),
        "200  ! push 14
         200  > . 1:1001 ack 1 ip ect0
         200  > . 1001:2001 ack 1 ip ect0
         200  > . 2001:3001 ack 1 ip ect0
         200  > . 3001:4001 ack 1 ip ect0
         200  > . 4001:5001 ack 1 ip ect0
         200  > . 5001:6001 ack 1 ip ect0
         200  > . 6001:7001 ack 1 ip ect0
         200  > . 7001:8001 ack 1 ip ect0
         200  > . 8001:9001 ack 1 ip ect0
         200  > . 9001:10001 ack 1 ip ect0
         300  < .E 1:1 ack 1001
         300  > .W 10001:11001 ack 1 ip ect0
         300  = ssthresh 5
         300  = cwnd 10
         301  < .E 1:1 ack 2001
         301  = cwnd 9
         302  < .E 1:1 ack 3001
         302  > . 11001:12001 ack 1 ip ect0
         302  = ssthresh 5
         303  < .E 1:1 ack 4001
         304  < .E 1:1 ack 5001
         304  > . 12001:13001 ack 1 ip ect0
         305  < .E 1:1 ack 6001
         306  < .E 1:1 ack 7001
         306  > . 13001:14001 ack 1 ip ect0
         307  < .E 1:1 ack 8001
         308  < .E 1:1 ack 9001
         309  < .E 1:1 ack 10001
         309  = ssthresh 5
         309  = pipe 4
         400  < . 1:1 ack 11001
         400  = ssthresh 5
         401  < . 1:1 ack 14001",
    );
}

#[test]
fn nothing_in_flight_nothing_to_reduce() {
    // Linux hears an echo only when it acknowledges (or could acknowledge) something.
    open_and(
        &settings(Ecn::Request),
        "200  < .E 1:1 ack 1
         200  = cwnd 10
         300  ! push 1
         300  > . 1:1001 ack 1 ip ect0
         400  < .E 1:1 ack 1001
         400  = ssthresh 5
         500  ! push 1
         500  > .W 1001:2001 ack 1 ip ect0
         600  < . 1:1 ack 2001
         600  = cwnd 5",
    );
}

#[test]
fn losses_are_told_with_cwr_and_reduce_only_once() {
    // RFC 3168 §6.1.2: CWR after any reduction; a loss in the round trip of a mark is not a second.
    open_and(
        &settings(Ecn::Request),
        "200  ! push 11
         200  > . 1:1001 ack 1 ip ect0
         200  > . 1001:2001 ack 1 ip ect0
         200  > . 2001:3001 ack 1 ip ect0
         200  > . 3001:4001 ack 1 ip ect0
         200  > . 4001:5001 ack 1 ip ect0
         200  > . 5001:6001 ack 1 ip ect0
         200  > . 6001:7001 ack 1 ip ect0
         200  > . 7001:8001 ack 1 ip ect0
         200  > . 8001:9001 ack 1 ip ect0
         200  > . 9001:10001 ack 1 ip ect0
         300  < .E 1:1 ack 1001
         300  > .W 10001:11001 ack 1 ip ect0
         300  = ssthresh 5
         301  < .E 1:1 ack 1001 sack 2001:3001
         302  < .E 1:1 ack 1001 sack 2001:4001
         303  < .E 1:1 ack 1001 sack 2001:5001
         303  > . 1001:2001 ack 1 again
         303  = ssthresh 5
         400  < . 1:1 ack 11001
         400  = ssthresh 5
         // After a time-out, too.
         700  ! push 1
         700  > . 11001:12001 ack 1 ip ect0
         1700 > . 11001:12001 ack 1 again
         1800 < . 1:1 ack 12001
         1900 ! push 1
         1900 > .W 12001:13001 ack 1 ip ect0
         2000 < . 1:1 ack 13001",
    );
}

#[test]
fn what_was_marked_is_not_taken_back() {
    // Duplicates show that nothing was lost (RFC 2883): the window is as before, and CWR needless; unless an echo came
    // (tcp_fastretrans_alert).
    for (echo, ssthresh, cwr) in [("", "inf", "."), ("E", "4", ".W")] {
        open_and(
            &settings(Ecn::Request),
            &format!(
                "200  ! push 8
                 200  > . 1:1001 ack 1 ip ect0
                 200  > . 1001:2001 ack 1 ip ect0
                 200  > . 2001:3001 ack 1 ip ect0
                 200  > . 3001:4001 ack 1 ip ect0
                 200  > . 4001:5001 ack 1 ip ect0
                 200  > . 5001:6001 ack 1 ip ect0
                 200  > . 6001:7001 ack 1 ip ect0
                 200  > . 7001:8001 ack 1 ip ect0
                 250  ! cwnd 8
                 300  < . 1:1 ack 1 sack 1001:2001
                 301  < .{echo} 1:1 ack 1 sack 1001:4001
                 301  > . 1:1001 ack 1 again
                 400  < . 1:1 ack 8001 sack 1:1001
                 400  = ssthresh {ssthresh}
                 500  ! push 1
                 500  > {cwr} 8001:9001 ack 1 ip ect0
                 600  < . 1:1 ack 9001"
            ),
        );
    }
}

#[test]
fn without_proportional_rate_reduction_at_once() {
    let settings = config::Tcp { proportional_rate_reduction: false, ..settings(Ecn::Request) };
    open_and(
        &settings,
        "200  ! push 2
         200  > . 1:1001 ack 1 ip ect0
         200  > . 1001:2001 ack 1 ip ect0
         300  < .E 1:1 ack 1001
         300  = cwnd 5
         301  < .E 1:1 ack 2001
         301  = cwnd 5",
    );
}
