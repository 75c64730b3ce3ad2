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

/// What is in flight in 80 packets' window, and an idle time of `idle_ms` after which ten segments want to go.
fn after_idle(settings: &config::Tcp, idle_ms: u32, then: &str) {
    open_and(
        settings,
        &format!(
            "200  ! cwnd 80
             200  ! ssthresh 7
             200  ! push 1
             200  > . 1:1001 ack 1
             300  < . 1:1 ack 1001
             300  = rto 1000
             {at}  ! push 1
             {at}  > . 1001:2001 ack 1
             {then}",
            at = 200 + idle_ms,
        ),
    );
}

#[test]
fn a_window_begins_anew_after_idle_time() {
    // RFC 5681 §4.1: not before a time-out has gone by; tcp_cwnd_restart: half of it for each, and slow start up to 3/4.
    after_idle(&plain(), 1000, "1200 = cwnd 80\n 1200 = ssthresh 7");
    after_idle(&plain(), 1001, "1201 = cwnd 40\n 1201 = ssthresh 60");
    after_idle(&plain(), 2500, "2700 = cwnd 20\n 2700 = ssthresh 60");
    // Not below the first window.
    after_idle(&plain(), 60_000, "60200 = cwnd 10\n 60200 = ssthresh 60");
    let off = config::Tcp { slow_start_after_idle: false, ..plain() };
    after_idle(&off, 60_000, "60200 = cwnd 80\n 60200 = ssthresh 7");
}

#[test]
fn the_rate_of_a_scheduler_is_that_of_the_last_ack() {
    // tcp_update_pacing_rate: 1.2 windows a round trip of 100 ms, when an ACK came; a smaller window after idle time is no news.
    after_idle(&plain(), 2500, "2700 = cwnd 20\n 2700 = rate 960000");
}

#[test]
fn a_window_below_the_first_stays_after_idle_time() {
    open_and(
        &plain(),
        "200   ! cwnd 5
         200   ! push 1
         200   > . 1:1001 ack 1
         300   < . 1:1 ack 1001
         60000 ! push 1
         60000 > . 1001:2001 ack 1
         60000 = cwnd 5
         60000 = ssthresh inf",
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
