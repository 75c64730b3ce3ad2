//! What is sent again over another subflow, and which subflows get nothing (RFC 8684 §3.3.6).

use crate::script::{CLIENT, SERVER, TWO, mesh, plain, play};
use transport::config::Reinjection;

/// A client with two subflows whose peer's window is full, and which has more to send.
const FULL: &str = "0    ! connect
    0    > wifi S 0:0 capable
    10   < wifi S. 0:0 ack 1 capable win(2000)
    10   > wifi . 1:1 ack 1 capable
    20   < wifi . 1:1 ack 1 dss(ack 1) win(2000)
    20   ! up lte
    20   > lte S 0:0 join(1)
    40   < lte S. 0:0 ack 1 join(0) win(2000)
    40   > lte . 1:1 ack 1 join
    60   < lte . 1:1 ack 1 dss(ack 1) win(2000)
    60   ! write 3000
    60   > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
    60   > wifi . 1001:2001 ack 1 dss(1001 1001 1000, ack 1)";

#[test]
fn what_only_the_subflow_acknowledges_is_sent_again() {
    // RFC 8684 §3.3.2: only a DATA_ACK frees data.
    play(
        &plain(),
        &format!(
            "{SERVER}
             20   ! write 500
             20   > wifi . 1:501 ack 1 dss(1 1 500, ack 1)
             30   < wifi . 1:1 ack 501 dss(ack 1)
             30   = waiting 500
             1030 > wifi . 501:1001 ack 1 dss(1 501 500, ack 1)
             1040 < wifi . 1:1 ack 1001 dss(ack 501)
             1040 = waiting 0"
        ),
    );
}

#[test]
fn opportunistic_retransmission_and_penalisation() {
    // The window is full, its first bytes are on the slower subflow (Raiciu et al., NSDI 2012, §4.2).
    let mut config = mesh();
    config.mptcp.opportunistic_retransmission = true;
    play(
        &config,
        "0    ! connect
         0    > wifi S 0:0 capable
         400  < wifi S. 0:0 ack 1 capable win(1000)
         400  > wifi . 1:1 ack 1 capable
         800  < wifi . 1:1 ack 1 dss(ack 1) win(1000)
         800  ! write 2000
         800  > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
         800  ! up lte
         800  > lte S 0:0 join(1)
         810  < lte S. 0:0 ack 1 join(0) win(1000)
         810  > lte . 1:1 ack 1 join
         820  < lte . 1:1 ack 1 dss(ack 1) win(1000)
         820  > lte . 1:1001 ack 1 dss(1 1 1000, ack 1)
         830  < lte . 1:1 ack 1001 dss(ack 1001) win(1000)
         830  > lte . 1001:2001 ack 1 dss(1001 1001 1000, ack 1)",
    );
    // Room for less than a segment makes no difference.
    play(
        &config,
        "0    ! connect
         0    > wifi S 0:0 capable
         400  < wifi S. 0:0 ack 1 capable win(1500)
         400  > wifi . 1:1 ack 1 capable
         800  < wifi . 1:1 ack 1 dss(ack 1) win(1500)
         800  ! write 3000
         800  > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
         800  ! up lte
         800  > lte S 0:0 join(1)
         810  < lte S. 0:0 ack 1 join(0) win(1500)
         810  > lte . 1:1 ack 1 join
         820  < lte . 1:1 ack 1 dss(ack 1) win(1500)
         820  > lte . 1:1001 ack 1 dss(1 1 1000, ack 1)",
    );
}

#[test]
fn reinjection_after_a_time_out() {
    // RFC 8684 §3.3.6; not where there is nothing else.
    let mut config = mesh();
    config.mptcp.reinjection = Reinjection::SubflowTimeout;
    play(
        &config,
        &format!(
            "{TWO}
             60   ! write 1000
             60   > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
             1060 > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
             1060 > lte . 1:1001 ack 1 dss(1 1 1000, ack 1)
             1080 < lte . 1:1 ack 1001 dss(ack 1001)
             1080 = waiting 0
             // The subflow's own stream has a hole still.
             3060 > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)"
        ),
    );
    play(
        &plain(),
        &format!(
            "{CLIENT}
             20   ! write 1000
             20   > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
             1020 > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
             3020 > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)"
        ),
    );
}

#[test]
fn the_connections_timer_gives_the_oldest_to_an_idle_subflow() {
    // net/mptcp/protocol.c, __mptcp_retrans: 200 ms where no subflow waits for an answer as data is given out, and again
    // after each period; whatever TCP's own timer does.
    play(
        &mesh(),
        &format!(
            "{TWO}
             60   ! write 1000
             60   > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
             260  > lte . 1:1001 ack 1 dss(1 1 1000, ack 1)
             // lte is idle no more, and waited for as long as wifi.
             1060 > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
             1080 < wifi . 1:1 ack 1001 dss(ack 1001)
             1080 = waiting 0"
        ),
    );
    // Progress begins the period anew; there is none while the peer has all.
    play(
        &mesh(),
        &format!(
            "{TWO}
             60   ! write 1000
             60   > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
             200  ! write 1000
             200  > wifi . 1001:2001 ack 1 dss(1001 1001 1000, ack 1)
             210  < wifi . 1:1 ack 1001 dss(ack 1001)
             // The longest that a subflow waits, as it was when data was last given out: 1060 - 200.
             1070 > lte . 1:1001 ack 1 dss(1001 1 1000, ack 1)
             1080 < lte . 1:1 ack 1001 dss(ack 2001)
             1210 > wifi . 1001:2001 ack 1 dss(1001 1001 1000, ack 1)"
        ),
    );
}

#[test]
fn acknowledgements_do_not_change_the_period_while_the_window_is_full() {
    // net/mptcp/options.c, ack_update_msk: a subflow is looked for only where the peer has room.
    play(
        &mesh(),
        &format!(
            "{FULL}
         200  < lte . 1:1 ack 1 dss(ack 1) win(2000)
         260  > lte . 1:1001 ack 1 dss(1 1 1000, ack 1)
         260  > lte . 1001:2001 ack 1 dss(1001 1001 1000, ack 1)
         300  < lte . 1:1 ack 2001 dss(ack 1) win(2000)
         1060 > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
         1260 > lte . 2001:3001 ack 1 dss(1 2001 1000, ack 1)
         1260 > lte . 3001:4001 ack 1 dss(1001 3001 1000, ack 1)"
        ),
    );
}

#[test]
fn a_period_that_is_over_changes_the_next_but_one() {
    // net/mptcp/protocol.c, __mptcp_retrans: the timer is set, and then all that waits is tried again, which takes its time anew.
    play(
        &mesh(),
        &format!(
            "{FULL}
         260  > lte . 1:1001 ack 1 dss(1 1 1000, ack 1)
         260  > lte . 1001:2001 ack 1 dss(1001 1001 1000, ack 1)
         1060 > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
         1260 > lte . 1:1001 ack 1 dss(1 1 1000, ack 1)
         2300 < lte . 1:1 ack 2001 dss(ack 1) win(2000)
         2460 > lte . 2001:3001 ack 1 dss(1 2001 1000, ack 1)
         2460 > lte . 3001:4001 ack 1 dss(1001 3001 1000, ack 1)"
        ),
    );
}

#[test]
fn messages_that_left_one_by_one_come_again_together() {
    // Linux 6.18: a call whose Wi-Fi goes silent is resent over LTE in segments of 1424 and 1296 bytes, which a mapping of 17
    // messages of 160 holds (mptcp_sendmsg_frag). Its timer alone resends the oldest message (mptcp_pending_tail).
    let mut config = mesh();
    config.mptcp.scheduler = "linux".into();
    play(
        &config,
        &format!(
            "{TWO}
             60   ! write 100
             60   > wifi . 1:101 ack 1 dss(1 1 100, ack 1)
             70   ! write 100
             70   > lte . 1:101 ack 1 dss(101 1 100, ack 1)
             80   < lte . 1:1 ack 101 dss(ack 1)
             80   ! write 100
             80   > lte . 101:201 ack 1 dss(201 101 100, ack 1)
             90   < lte . 1:1 ack 201 dss(ack 1)
             260  > lte . 201:301 ack 1 dss(1 201 100, ack 1)
             270  < lte . 1:1 ack 301 dss(ack 1)
             280  < wifi R. 1:1 ack 1
             280  > lte . 301:601 ack 1 dss(1 301 300, ack 1)"
        ),
    );
}

#[test]
fn a_subflow_that_answers_nothing_for_five_periods_gets_nothing_until_it_does() {
    // net/mptcp/pm_kernel.c, mptcp_pm_nl_subflow_chk_stale, with stale_loss_cnt = 4.
    let write = |at: u32, offset: u32| {
        let (next, lte, period) = (offset + 1000, offset, at + 200);
        format!(
            "{at} ! write 1000
             {at} > wifi . {offset}:{next} ack 1 dss({offset} {offset} 1000, ack 1)
             {period} > lte . {lte}:{next} ack 1 dss({offset} {lte} 1000, ack 1)
             {period} < lte . 1:1 ack {next} dss(ack {next})
             "
        )
    };
    let mut config = mesh();
    config.tcp.min_timeout_ns = 30_000_000_000;
    play(
        &config,
        &format!(
            "{TWO}
             {}{}{}{}{}
             1400 ! write 1000
             1400 > lte . 5001:6001 ack 1 dss(5001 5001 1000, ack 1)
             1410 < lte . 1:1 ack 6001 dss(ack 6001)
             1420 < wifi . 1:1 ack 5001 dss(ack 6001)
             1430 < lte R. 1:1 ack 6001
             1430 ! write 1000
             1430 > wifi . 5001:6001 ack 1 dss(6001 5001 1000, ack 1)",
            write(60, 1),
            write(300, 1001),
            write(540, 2001),
            write(780, 3001),
            write(1020, 4001),
        ),
    );
}

#[test]
fn a_stale_subflow_gets_nothing_until_it_answers() {
    let mut config = mesh();
    (config.mptcp.reinjection, config.mptcp.stale_timeouts) = (Reinjection::SubflowTimeout, 1);
    play(
        &config,
        &format!(
            "{TWO}
             60   ! write 1000
             60   > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
             1060 > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
             1060 > lte . 1:1001 ack 1 dss(1 1 1000, ack 1)
             1080 < lte . 1:1 ack 1001 dss(ack 1001)
             1080 ! write 1000
             1080 > lte . 1001:2001 ack 1 dss(1001 1001 1000, ack 1)
             1100 < lte . 1:1 ack 2001 dss(ack 2001)
             1200 < wifi . 1:1 ack 1001 dss(ack 2001)
             1200 ! write 1000
             1200 > wifi . 1001:2001 ack 1 dss(2001 1001 1000, ack 1)"
        ),
    );
}
