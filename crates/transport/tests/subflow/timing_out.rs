//! Time-outs, the timers that lead to them, and what is sent after one.

use crate::pair::MS;
use crate::repairing::open_and;
use crate::script::plain;
use transport::config;

#[test]
fn in_an_outage_at_the_times_of_the_formula() {
    // RFC 6298 §5.5, capped: after the first, retransmission n comes min(2ⁿ, 2^max) time-outs after the one before.
    for (max_backoff, times_ms) in [
        (Some(0), [1200, 2200, 3200, 4200, 5200, 6200]),
        (Some(1), [1200, 3200, 5200, 7200, 9200, 11_200]),
        (Some(3), [1200, 3200, 7200, 15_200, 23_200, 31_200]),
        (None, [1200, 3200, 7200, 15_200, 31_200, 63_200]),
    ] {
        let again = times_ms.map(|ms| format!("{ms} > . 1:1001 ack 1 again\n")).concat();
        open_and(
            &config::Tcp { max_backoff, ..plain() },
            &format!("200 ! push 1\n 200 > . 1:1001 ack 1\n{again} {} < . 1:1 ack 1001", times_ms[5] + 1),
        );
    }
}

#[test]
fn silence_is_borne_as_long_without_back_off() {
    // 2 retransmissions and their time-outs take 2 + 4 s from the first (RFC 9293 §3.8.3, R2).
    let settings = config::Tcp { max_backoff: Some(0), retries: 2, ..plain() };
    let again: String = (1..7).map(|s| format!("{}200 > . 1:1001 ack 1 again\n", s)).collect();
    open_and(&settings, &format!("200 ! push 1\n 200 > . 1:1001 ack 1\n{again} 7201 = state Closed"));
}

#[test]
fn by_time_out() {
    // RFC 6298 §5.4 to §5.6, RFC 5681 §3.1: the window is one segment, the time-out doubles, then slow start
    open_and(
        &plain(),
        "200  ! push 4
         200  > . 1:1001 ack 1
         200  > . 1001:2001 ack 1
         200  > . 2001:3001 ack 1
         200  > . 3001:4001 ack 1
         1200 > . 1:1001 ack 1 again
         1200 = cwnd 1
         1200 = ssthresh 5
         1200 = rto 2000
         3200 > . 1:1001 ack 1 again
         3200 = ssthresh 5
         3300 < . 1:1 ack 1001
         3300 > . 1001:2001 ack 1 again
         3300 > . 2001:3001 ack 1 again
         3300 = cwnd 2
         // Karn: an ACK of what was sent twice leaves the back-off.
         3300 = rto 4000
         3400 < . 1:1 ack 4001
         3400 = cwnd 5
         3400 ! push 1
         3400 > . 4001:5001 ack 1
         3500 < . 1:1 ack 5001
         3500 = rto 1000",
    );
}

#[test]
fn nobody_answers() {
    open_and(
        &config::Tcp { retries: 2, ..plain() },
        "200  ! push 1
         200  > . 1:1001 ack 1
         1200 > . 1:1001 ack 1 again
         3200 > . 1:1001 ack 1 again
         7201 = gone true",
    );
}

#[test]
fn timers_on_linuxs_wheel() {
    // kernel/time/timer.c, calc_wheel_index: 250 and 500 ticks in steps of 8, 1000 in steps of 64, one step later; scripts
    // begin at tick 250000
    open_and(
        &config::Tcp { timer_wheel: true, ..plain() },
        "200  ! push 1
         200  > . 1:1001 ack 1
         1216 > . 1:1001 ack 1 again
         3232 > . 1:1001 ack 1 again
         7360 > . 1:1001 ack 1 again
         7400 < . 1:1 ack 1001",
    );
    // 27 ms are 7 ticks and one more
    open_and(
        &config::Tcp { timer_wheel: true, rack: true, ..plain() },
        "200  ! push 3
         200  > . 1:1001 ack 1
         200  > . 1001:2001 ack 1
         200  > . 2001:3001 ack 1
         300  < . 1:1 ack 1 sack 2001:3001
         332  > . 1:1001 ack 1 again
         425  < . 1:1 ack 3001",
    );
}

#[test]
fn tail_loss_probe() {
    // RFC 8985 §7.2 to §7.4: two round trips, then the last segment; the ACK of later data shows that it was lost
    open_and(
        &config::Tcp { rack: true, tail_loss_probe: true, ..plain() },
        "200  ! push 2
         200  > . 1:1001 ack 1
         200  > . 1001:2001 ack 1
         402  > . 1001:2001 ack 1 again
         502  < . 1:1 ack 2001
         502  = cwnd 10
         502  ! push 1
         502  > . 2001:3001 ack 1
         602  < . 1:1 ack 3001
         602  = ssthresh 5
         602  = cwnd 5",
    );
    // The probe is new data where there is some.
    open_and(
        &config::Tcp { rack: true, tail_loss_probe: true, ..plain() },
        "200  ! cwnd 2
         200  ! push 3
         200  > . 1:1001 ack 1
         200  > . 1001:2001 ack 1
         402  > . 2001:3001 ack 1
         502  < . 1:1 ack 3001",
    );
}

#[test]
fn tail_loss_probes_can_be_off() {
    open_and(
        &config::Tcp { rack: true, ..plain() },
        "200  ! push 2
         200  > . 1:1001 ack 1
         200  > . 1001:2001 ack 1
         1200 > . 1:1001 ack 1 again
         1300 < . 1:1 ack 2001",
    );
}

#[test]
fn what_is_left_of_a_time_out_counts_from_the_first_segment() {
    // tcp_rearm_rto: another timer was waited for, that of a probe while one is out (tcp_send_loss_probe)
    open_and(
        &config::Tcp { rack: true, tail_loss_probe: true, ..plain() },
        "200  ! push 2
         200  > . 1:1001 ack 1
         200  > . 1001:2001 ack 1
         402  > . 1001:2001 ack 1 again
         450  < . 1:1 ack 1001
         1402 > . 1001:2001 ack 1 again
         1500 < . 1:1 ack 2001",
    );
    // And that of RACK, which had no cause in the end.
    open_and(
        &config::Tcp { rack: true, ..plain() },
        "200  ! push 4
         200  > . 1:1001 ack 1
         200  > . 1001:2001 ack 1
         200  > . 2001:3001 ack 1
         200  > . 3001:4001 ack 1
         300  < . 1:1 ack 1 sack 1001:2001
         310  < . 1:1 ack 2001
         1200 > . 2001:3001 ack 1 again
         1300 < . 1:1 ack 4001",
    );
}

#[test]
fn acks_of_what_was_sent_before_a_copy_restart_its_time_out() {
    // tcp_clean_rtx_queue, FLAG_SET_XMIT_TIMER: its own ACK comes after theirs
    open_and(
        &config::Tcp { rack: true, ..plain() },
        "200  ! push 6
         200  > . 1:1001 ack 1
         200  > . 1001:2001 ack 1
         200  > . 2001:3001 ack 1
         200  > . 3001:4001 ack 1
         200  > . 4001:5001 ack 1
         200  > . 5001:6001 ack 1
         300  < . 1:1 ack 1 sack 1001:5001
         300  > . 1:1001 ack 1 again
         350  < . 1:1 ack 1 sack 1001:6001
         1350 > . 1:1001 ack 1 again
         1400 < . 1:1 ack 6001",
    );
}

#[test]
fn linux_time_out() {
    // The variance term is 200 ms at least, not the whole.
    open_and(
        &config::Tcp { linux_timeout: true, min_timeout_ns: 200 * MS, ..plain() },
        "200  ! push 1
         200  > . 1:1001 ack 1
         500  > . 1:1001 ack 1 again
         600  < . 1:1 ack 1001",
    );
}

#[test]
fn a_time_out_spares_what_was_just_sent() {
    // tcp_timeout_mark_lost: RACK says that it may still arrive
    open_and(
        &config::Tcp { rack: true, ..plain() },
        "200  ! push 1
         200  > . 1:1001 ack 1
         300  < . 1:1 ack 1001
         300  ! push 1
         300  > . 1001:2001 ack 1
         1290 ! push 1
         1290 > . 2001:3001 ack 1
         1300 > . 1001:2001 ack 1 again
         1300 = cwnd 2
         1300 = pipe 2
         1390 < . 1:1 ack 1001 sack 2001:3001
         1400 < . 1:1 ack 3001",
    );
}

#[test]
fn a_repair_of_a_time_out_that_goes_wrong_begins_anew() {
    // tcp_fastretrans_alert, FLAG_LOST_RETRANS: a copy is lost after a time-out, which is another loss
    open_and(
        &config::Tcp { rack: true, ..plain() },
        "200  ! push 4
         200  > . 1:1001 ack 1
         200  > . 1001:2001 ack 1
         200  > . 2001:3001 ack 1
         200  > . 3001:4001 ack 1
         1200 > . 1:1001 ack 1 again
         1200 = ssthresh 5
         1300 < . 1:1 ack 1001
         1300 > . 1001:2001 ack 1 again
         1300 > . 2001:3001 ack 1 again
         1400 < . 1:1 ack 1001 sack 2001:3001
         1400 > . 1001:2001 ack 1 again
         1400 = ssthresh 2
         1500 < . 1:1 ack 4001",
    );
}
