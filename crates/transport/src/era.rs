//! Sets of defaults: what hosts of a time were like.

use crate::config::{Config, Mptcp, ReceiveBuffer, Reinjection, Tcp};
use crate::path_manager;

const S: i64 = 1_000_000_000;

/// Every era and what it is, in a line.
pub const ERAS: &[(&str, &str)] = &[
    ("2012", "the MPTCP kernel 0.8x on Linux 3.0, as in the measurements over cellular networks of 2012 and 2013"),
    (DEFAULT, "upstream Linux of today, with its scheduler, its path manager's limits and its CUBIC; the default"),
];

/// The era of what is not said: [`Config::default`].
pub const DEFAULT: &str = "current";

/// The settings of an era.
pub fn config(name: &str) -> Option<Config> {
    match name {
        "2012" => Some(year_2012()),
        DEFAULT => Some(Config::default()),
        _ => None,
    }
}

/// Chen, Towsley and others drove through Massachusetts with it (UM-CS-2012-022: "the multi-path TCP Kernel
/// implementation under Ubuntu Linux 11.10", which has Linux 3.0).
fn year_2012() -> Config {
    let tcp = Tcp {
        // MPTCP_MSS in include/net/mptcp.h. There it was all payload, here options of TCP are part of it.
        mss_bytes: Some(1400),
        // sysctl_tcp_nometrics_save is 0 in net/ipv4/tcp_input.c; UM-CS-2012-022 §IV-A found what that does.
        ssthresh_cache: true,
        // sysctl_tcp_abc is 0 in net/ipv4/tcp_input.c: tcp_slow_start and tcp_cong_avoid_ai count ACKs. What they
        // acknowledge counts since Linux 3.13 in slow start, since 4.0 after it.
        appropriate_byte_counting: false,
        // RACK came with Linux 4.4, tail loss probes with 3.10, proportional rate reduction with 3.2. Before it Linux
        // halved the rate over a round trip, which is not modelled: the window is halved at once. Nor is FACK, which Linux
        // had until 4.15 (sysctl_tcp_fack is 1): until it had seen reordering, tcp_mark_head_lost counted the holes below the
        // highest segment reported, too. Losses in a row are found here a few ACKs later, as RFC 6675 has it.
        rack: false,
        // tcp_xmit_retransmit_queue in net/ipv4/tcp_output.c has NextSeg's rule 3, where tcp_can_forward_retransmit finds
        // nothing new to send, and no rule 4.
        rescue_retransmission: false,
        tail_loss_probe: false,
        // sysctl_tcp_frto is 2 in net/ipv4/tcp_input.c, but what it finds is answered by half the rate all the same
        // (tcp_frto_response), which is not modelled; Linux takes the window back since 3.10.
        f_rto: false,
        proportional_rate_reduction: false,
        // Came with Linux 5.4 (__tcp_transmit_skb).
        gso_push: false,
        // Came with Linux 5.18 (tcp_event_new_data_sent).
        send_buffer_grows_early: false,
        // Came with the queueing discipline fq, in Linux 3.12.
        pacing: false,
        // TCP_INIT_CWND since Linux 2.6.39 (net-next 442b9635c569).
        initial_window_packets: 10,
        // TCP_TIMEOUT_INIT; 1 s since Linux 3.1, with RFC 6298.
        initial_timeout_ns: 3 * S,
        // TCP_SYN_RETRIES; 6 since Linux 3.7.
        syn_retries: 5,
        // TCP_RTO_MIN and TCP_RTO_MAX are as they have always been, and so is tcp_set_rto.
        min_timeout_ns: S / 5,
        max_timeout_ns: 120 * S,
        linux_timeout: true,
        // Came with Linux 4.18 (net-next 5d9f4262b7ea).
        ack_compression: false,
        // The wheel before Linux 4.8 was exact to a tick.
        timer_wheel: false,
        // tcp_rmem[1], and what tcp_init makes tcp_rmem[2] with 2 GB of memory: UM-CS-2012-022 §IV-A. Linux counts its
        // own overhead in it: a quarter never shows in the window (sysctl_tcp_adv_win_scale was 2 before 3.2).
        receive_buffer_bytes: 87_380,
        max_receive_buffer_bytes: 880_000,
        receive_buffer_tuning: true,
        adv_win_scale: Some(2),
        ..Tcp::default()
    };
    let mptcp = Mptcp {
        // sysctl_mptcp_checksum is 1 in net/mptcp/mptcp_ctrl.c.
        checksum: true,
        // get_available_subflow in net/mptcp/mptcp_output.c: the least srtt.
        scheduler: "lowest-rtt".into(),
        // mptcp_rcv_buf_optimization; sysctl_mptcp_rbuf_retr and sysctl_mptcp_rbuf_penal are 1.
        opportunistic_retransmission: true,
        penalisation: true,
        // net/mptcp/mptcp_pm.c joins all pairs of addresses, of which each end has 8 at most.
        path_manager: path_manager::Settings {
            name: "full-mesh".into(),
            max_subflows: 63,
            max_add_addr_accepted: 8,
            ..path_manager::Settings::default()
        },
        // MPTCP_SUB_LEN_SEQ and MPTCP_SUB_LEN_ACK: numbers of 4 bytes.
        long_numbers: false,
        // mptcp_reinject_data, which tcp_enter_loss calls (mptcp_retransmit_queue). That the connection's own timer sends the
        // oldest segment again after twice the longest time-out (mptcp_retransmit_timer, mptcp_set_rto) is not modelled.
        reinjection: Reinjection::SubflowTimeout,
        // mptcp_is_available: not before what timed out is acknowledged.
        stale_timeouts: 1,
        // MPTCP_SYN_RETRIES is 3: tcp_write_timeout leaves the option out once that many were sent again.
        capable_retries: 4,
        // "The Linux kernel maintains a connection-level receive buffer (over all sockets) as a shared resource"
        // (UM-CS-2012-022 §IV-A).
        receive_buffer: ReceiveBuffer::Shared,
        ..Mptcp::default()
    };
    // mptcp_coupled, "the enhanced coupled increase" (UM-CS-2012-022 §II).
    Config { tcp, mptcp, congestion_control: "lia".into(), ..Config::default() }
}
