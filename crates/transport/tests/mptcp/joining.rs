//! MP_JOIN (RFC 8684 §3.2) and backups (§3.3.8).

use crate::script::{CLIENT, SERVER, TWO, mesh, plain, play};
use transport::path_manager::LocalEndpoint;

/// Addresses of the client's paths.
const WIFI: [u8; 4] = [10, 0, 0, 2];
const LTE: [u8; 4] = [10, 0, 1, 2];

#[test]
fn a_client_joins() {
    // RFC 8684 §3.2: only the fourth packet lets it send. Here the third is lost.
    play(
        &mesh(),
        &format!(
            "{CLIENT}
             20  ! up lte
             20  > lte S 0:0 join(1)
             30  < lte S. 0:0 ack 1 join(0)
             30  > lte . 1:1 ack 1 join
             30  ! write 100
             30  > wifi . 1:101 ack 1 dss(1 1 100, ack 1)
             1030 > wifi . 1:101 ack 1 dss(1 1 100, ack 1)
             1030 > lte . 1:1 ack 1 join
             1040 < lte . 1:1 ack 1 dss(ack 1)
             // What the other could not deliver meanwhile goes here with the next period.
             1230 > lte . 1:101 ack 1 dss(1 1 100, ack 1)
             1230 = subflows 2"
        ),
    );
}

#[test]
fn a_join_that_is_never_confirmed_is_given_up() {
    let mut config = mesh();
    config.tcp.syn_retries = 1;
    play(
        &config,
        &format!(
            "{CLIENT}
             20   ! up lte
             20   > lte S 0:0 join(1)
             30   < lte S. 0:0 ack 1 join(0)
             30   > lte . 1:1 ack 1 join
             1030 > lte . 1:1 ack 1 join
             3030 > lte R. 1:1 ack 1
             // And tried anew, from another port.
             4030 > lte S 0:0 join(1)"
        ),
    );
}

#[test]
fn an_answer_without_mp_join_refuses_the_subflow_and_nothing_else() {
    // RFC 8684 §3.2: whoever answered does not know the connection, which goes on as it was.
    play(
        &mesh(),
        &format!(
            "{CLIENT}
             20  ! up lte
             20  > lte S 0:0 join(1)
             30  < lte S. 0:0 ack 1
             30  > lte R. 1:1 ack 1 tcprst(1)
             40  ! write 100
             40  > wifi . 1:101 ack 1 dss(1 1 100, ack 1)
             50  < wifi . 1:1 ack 101 dss(ack 101)
             50  = subflows 1"
        ),
    );
}

#[test]
fn a_server_is_joined() {
    play(
        &plain(),
        &format!(
            "{SERVER}
             20  < lte S 0:0 join(1)
             20  > lte S. 0:0 ack 1 join(0)
             // The third packet is lost: nothing is sent here, and data that overtakes it comes again.
             25  ! write 100
             25  > wifi . 1:101 ack 1 dss(1 1 100, ack 1)
             30  < lte . 1:101 ack 1 dss4(1 1 100, ack 1)
             40  < lte . 1:1 ack 1 join
             40  > lte . 1:1 ack 1 dss(ack 1)
             // The fourth was lost.
             45  < lte . 1:1 ack 1 join
             45  > lte . 1:1 ack 1 dss(ack 1)
             50  < lte . 1:101 ack 1 dss(1 1 100, ack 101)
             50  > lte . 1:1 ack 101 dss(ack 101)
             50  = read 100
             50  = waiting 0
             50  = subflows 2"
        ),
    );
    // The SYN/ACK is lost.
    play(
        &plain(),
        &format!(
            "{SERVER}
             20   < lte S 0:0 join(1)
             20   > lte S. 0:0 ack 1 join(0)
             1020 > lte S. 0:0 ack 1 join(0)"
        ),
    );
}

#[test]
fn a_wrong_hmac_is_refused() {
    // RFC 8684 §3.2: a reset with the reason "MPTCP-specific error".
    play(
        &mesh(),
        &format!(
            "{CLIENT}
             20  ! up lte
             20  > lte S 0:0 join(1)
             30  < lte S. 0:0 ack 1 join(0 wrong)
             30  > lte R. 1:1 ack 1 tcprst(1)
             30  = subflows 1"
        ),
    );
    for third in ["join(wrong)", ""] {
        play(
            &plain(),
            &format!(
                "{SERVER}
                 20  < lte S 0:0 join(1)
                 20  > lte S. 0:0 ack 1 join(0)
                 30  < lte . 1:1 ack 1 {third}
                 30  > lte R. 1:1 ack 1 tcprst(1)
                 30  = subflows 1"
            ),
        );
    }
    // Stripped from the SYN/ACK.
    play(
        &mesh(),
        &format!(
            "{CLIENT}
             20  ! up lte
             20  > lte S 0:0 join(1)
             30  < lte S. 0:0 ack 1
             30  > lte R. 1:1 ack 1 tcprst(1)"
        ),
    );
}

#[test]
fn upstream_linux_takes_no_join_once_an_end_has_finished() {
    // net/mptcp/subflow.c, subflow_syn_recv_sock with mptcp_can_accept_new_subflow: captures of Linux 6.18 show the reset.
    let mut config = plain();
    config.mptcp.path_manager.name = "linux".into();
    for (config, third) in
        [(&config, "> lte R. 1:1 ack 1 tcprst(3)"), (&plain(), "> lte . 1:1 ack 1 dss(fin 101, ack 1)")]
    {
        play(
            config,
            &format!(
                "{SERVER}
                 20  < lte S 0:0 join(1)
                 20  > lte S. 0:0 ack 1 join(0)
                 25  ! write 100
                 25  > wifi . 1:101 ack 1 dss(1 1 100, ack 1)
                 25  ! finish
                 25  > wifi . 101:101 ack 1 dss(fin 101, ack 1)
                 30  < lte . 1:1 ack 1 join
                 30  {third}"
            ),
        );
    }
}

#[test]
fn tokens_of_nobody_and_joins_too_many_are_refused() {
    let unknown = "20  < lte S 0:0 join(1 wrong)
                   20  > lte R. 0:0 ack 1 tcprst(1)";
    play(&plain(), &format!("{SERVER}{unknown}"));
    let mut config = plain();
    config.mptcp.path_manager.max_subflows = 1;
    play(
        &config,
        &format!(
            "{SERVER}
             20  < lte S 0:0 join(1)
             20  > lte S. 0:0 ack 1 join(0)
             20  < dsl S 0:0 join(2)
             20  > dsl R. 0:0 ack 1 tcprst(1)"
        ),
    );
}

#[test]
fn a_refused_join_is_tried_again_later() {
    play(
        &mesh(),
        &format!(
            "{CLIENT}
             20   ! up lte
             20   > lte S 0:0 join(1)
             30   < lte R. 0:0 ack 1 tcprst(1)
             30   = subflows 1
             1030 > lte S 0:0 join(1)"
        ),
    );
}

#[test]
fn where_the_connection_began_may_be_closed_to_joins() {
    // RFC 8684 §3.1, flag C.
    play(
        &mesh(),
        "0   ! connect
         0   > wifi S 0:0 capable
         10  < wifi S. 0:0 ack 1 capable(C)
         10  > wifi . 1:1 ack 1 capable
         20  < wifi . 1:1 ack 1 dss(ack 1)
         20  ! up lte
         20  = subflows 1
         30  < wifi . 1:1 ack 1 dss(ack 1) add_addr(1 10.9.1.1)
         30  > wifi . 1:1 ack 1 add_addr(1 10.9.1.1 echo)
         30  > wifi/2 S 0:0 join(0)
         30  > lte/2 S 0:0 join(1)",
    );
}

/// [`mesh`], the address being a backup.
fn with_backup(address: [u8; 4]) -> transport::Config {
    let mut config = mesh();
    let endpoint = LocalEndpoint {
        address: address.into(),
        subflow: true,
        signal: false,
        backup: true,
        fullmesh: false,
        budget_bytes: None,
        cost_per_mb: 0.0,
    };
    config.mptcp.path_manager.endpoints = vec![endpoint];
    config
}

#[test]
fn a_backup_carries_nothing_while_another_works() {
    // RFC 8684 §3.3.8.
    play(
        &with_backup(LTE),
        &format!(
            "{CLIENT}
             20   ! up lte
             20   > lte S 0:0 join(1 backup)
             40   < lte S. 0:0 ack 1 join(0)
             40   > lte . 1:1 ack 1 join
             60   < lte . 1:1 ack 1 dss(ack 1)
             60   ! write 1000
             60   > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
             // The other is silent for two periods of the connection's timer (mptcp_subflow_get_retrans).
             460  > lte . 1:1001 ack 1 dss(1 1 1000, ack 1)
             480  < lte . 1:1 ack 1001 dss(ack 1001)
             // It comes back, and has all again.
             490  < wifi . 1:1 ack 1001 dss(ack 1001)
             490  ! write 1000
             490  > wifi . 1001:2001 ack 1 dss(1001 1001 1000, ack 1)"
        ),
    );
    // It breaks: the backup takes over.
    play(
        &with_backup(LTE),
        &format!(
            "{CLIENT}
             20   ! up lte
             20   > lte S 0:0 join(1 backup)
             40   < lte S. 0:0 ack 1 join(0)
             40   > lte . 1:1 ack 1 join
             60   < lte . 1:1 ack 1 dss(ack 1)
             60   ! write 1000
             60   > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
             70   < wifi R. 1:1 ack 1
             70   > lte . 1:1001 ack 1 dss(1 1 1000, ack 1)"
        ),
    );
}

#[test]
fn the_peer_says_what_is_a_backup() {
    play(
        &mesh(),
        &format!(
            "{TWO}
             60  < wifi . 1:1 ack 1 dss(ack 1) prio(backup)
             60  ! write 1000
             60  > lte . 1:1001 ack 1 dss(1 1 1000, ack 1)
             80  < lte . 1:1 ack 1001 dss(ack 1001)
             90  < wifi . 1:1 ack 1 dss(ack 1001) prio(regular)
             90  ! write 1000
             90  > wifi . 1:1001 ack 1 dss(1001 1 1000, ack 1)"
        ),
    );
}

#[test]
fn the_initial_subflow_becomes_a_backup_by_mp_prio() {
    let config = with_backup(WIFI);
    play(
        &config,
        "0   ! connect
         0   > wifi S 0:0 capable
         10  < wifi S. 0:0 ack 1 capable
         10  > wifi . 1:1 ack 1 capable
         20  < wifi . 1:1 ack 1 dss(ack 1)
         20  > wifi . 1:1 ack 1 dss(ack 1) prio(backup)",
    );
}

#[test]
fn keep_alives_on_a_joined_subflow() {
    // RFC 9293 §3.8.4, with a DATA_ACK. One that is not answered is given up, and the other carries on.
    let mut config = mesh();
    config.tcp.keep_alive_idle_ns = Some(10_000_000_000);
    config.tcp.keep_alive_interval_ns = 1_000_000_000;
    config.tcp.keep_alive_probes = 2;
    play(
        &config,
        &format!(
            "{TWO}
             10020 > wifi . 0:0 ack 1 dss(ack 1)
             10030 < wifi . 1:1 ack 1 dss(ack 1)
             10060 > lte . 0:0 ack 1 dss(ack 1)
             11060 > lte . 0:0 ack 1 dss(ack 1)
             12059 = subflows 2
             12061 = subflows 1"
        ),
    );
}

#[test]
fn the_third_packet_of_a_join_tells_the_window_of_its_subflow_in_upstream_linux() {
    // Linux tells the connection's beside a DATA_ACK only (net/mptcp/options.c, mptcp_write_options): six captures of 6.18 have 64256 there, while
    // the first subflow announced 85376 to 128896.
    for (scheduler, window) in [("linux", 58_960), ("lowest-rtt", 59_860)] {
        let mut config = mesh();
        config.mptcp.scheduler = scheduler.into();
        play(
            &config,
            &format!(
                "{CLIENT}
                 20  ! up lte
                 20  > lte S 0:0 join(1)
                 30  < wifi . 1:1001 ack 1 dss(1001 1 1000, ack 1)
                 30  > wifi . 1:1 ack 1001 dss(ack 1) win(59860)
                 40  < lte S. 0:0 ack 1 join(0)
                 40  > lte . 1:1 ack 1 join win({window})"
            ),
        );
    }
}

#[test]
fn the_first_data_of_a_joined_subflow_lets_its_window_be_what_it_told() {
    // net/ipv4/tcp.c, tcp_set_window_clamp. In a capture of Linux 6.18 a subflow that joined with a window of 64256 tells the connection's, 1561344,
    // when the other path goes, and 1567232 after two segments of data: two segments of 1448 bytes more for each.
    let mut config = mesh();
    config.mptcp.scheduler = "linux".into();
    config.tcp.window_scaling = true;
    config.tcp.adv_win_scale = None;
    config.tcp.receive_buffer_bytes = 131_072;
    config.tcp.receive_buffer_tuning = true;
    let burst: String = (0..160)
        .map(|n| {
            let (at, first, after) = (100 + 20 * (n / 20), 1 + 1400 * n, 1401 + 1400 * n);
            format!(
                "{at} < wifi . {first}:{after} ack 1 dss({first} {first} 1400, ack 1)
                 {at} > wifi . 1:1 ack {after} dss(ack {after})\n"
            )
        })
        .collect();
    play(
        &config,
        &format!(
            "0   ! connect
             0   > wifi S 0:0 capable
             10  < wifi S. 0:0 ack 1 capable scale(0)
             10  > wifi . 1:1 ack 1 capable
             20  < wifi . 1:1 ack 1 dss(ack 1)
             20  ! up lte
             20  > lte S 0:0 join(1)
             40  < lte S. 0:0 ack 1 join(0) scale(0)
             40  > lte . 1:1 ack 1 join win(502)
             60  < lte . 1:1 ack 1 dss(ack 1)
             {burst}
             400 < lte . 0:0 ack 1 dss(ack 1)
             400 > lte . 1:1 ack 1 dss(ack 224001) win(3187)
             410 < lte . 1:1401 ack 1 dss(224001 1 1400, ack 1)
             410 > lte . 1:1 ack 1401 dss(ack 225401) win(3210)
             411 < lte . 1401:2801 ack 1 dss(225401 1401 1400, ack 1)
             411 > lte . 1:1 ack 2801 dss(ack 226801) win(3233)"
        ),
    );
}
