//! How losses are found and repaired.

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
    // RFC 5681 §3.2, RFC 3042, RFC 6582 §3.2: limited transmit, fast retransmit, a partial ACK, a full one
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
         301  < . 1:1 ack 1
         301  > . 7001:8001 ack 1
         302  < . 1:1 ack 1
         302  > . 1:1001 ack 1 again
         302  = ssthresh 3
         302  = pipe 5
         303  < . 1:1 ack 1
         304  < . 1:1 ack 1
         305  < . 1:1 ack 1
         305  > . 8001:9001 ack 1
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
fn pacing() {
    // Twice the window over the round trip: one of 10 segments every 5 ms
    open_and(
        &config::Tcp { pacing: true, ..plain() },
        "200  ! push 3
         200  > . 1:1001 ack 1
         205  > . 1001:2001 ack 1
         210  > . 2001:3001 ack 1
         310  < . 1:1 ack 3001",
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
