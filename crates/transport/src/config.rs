//! What can be set of an endpoint. The defaults are those of upstream Linux of today, and there are no others: the era "current" is
//! these, and other eras say what they did otherwise.

use crate::{SlowStart, congestion, path_manager, scheduler};
use parameters::{Settable, Setting, Table, choices, settings};

const MS: i64 = 1_000_000;
const S: i64 = 1_000 * MS;

settings! {
    /// Settings of an endpoint, for all its connections.
    pub struct Config {
        /// Of every subflow.
        tcp: Tcp = Tcp::default(),
        /// Of connections.
        mptcp: Mptcp = Mptcp::default(),
        /// Congestion control of the subflows.
        // CONFIG_DEFAULT_TCP_CONG is "cubic" in net/ipv4/Kconfig.
        congestion_control: String = "cubic-linux".into(),
        /// Parameters of that congestion control. Plain TCP uses it without them.
        congestion_parameters: Table = Table::new(),
    }
}

settings! {
    /// Settings of MPTCP.
    pub struct Mptcp {
        /// Whether MPTCP is used. If not, the transfer is plain TCP over the first path.
        enabled: bool = true,
        /// Packet scheduler: which subflow sends next.
        // mptcp_sched_default in net/mptcp/sched.c.
        scheduler: String = "linux".into(),
        /// Parameters of that scheduler.
        scheduler_parameters: Table = Table::new(),
        /// Which subflows there are, and how many.
        path_manager: path_manager::Settings = path_manager::Settings::default(),
        /// When the client joins further subflows: `"specified"`, as RFC 8684 does, once the server has shown that it
        /// has both keys; or `"simultaneous"`, together with the connection's first SYN, as in some published
        /// measurements. The latter needs a server that can wait for the keys. Any other server resets the join's SYN;
        /// after a second the path manager `full-mesh` joins again, as specified, but Linux's does not. If a middlebox
        /// strips options only on part of the exchange, a connection with simultaneous joins may fail, because it can
        /// no longer fall back to TCP.
        join: Join = Join::Specified,
        /// Version of MPTCP: 1 (RFC 8684), or 0 (RFC 6824) as in the out-of-tree kernels of multipath-tcp.org, with
        /// keys in the SYN, SHA-1, and addresses announced without HMAC and echo.
        version: u8 = 1; most 1,
        /// Whether DSS checksums are used (RFC 8684 §3.3).
        checksum: bool = false,
        /// Opportunistic retransmission: send again, on a subflow with room, the data on a slower subflow that blocks
        /// the connection's window. If `scheduler` is set, the default is on for `"lowest-rtt"`, `"blest"` and `"ecf"`,
        /// whose kernel does so.
        opportunistic_retransmission: bool = false,
        /// Penalisation: halve the window of the subflow that blocked the connection's window. The default follows the
        /// same rule.
        penalisation: bool = false,
        /// Whether data sequence numbers and DATA_ACKs always have 8 bytes, even where 4 would be enough.
        // RFC 8684 §3.3.1: short ones leave more room for selective acknowledgements.
        long_numbers: bool = true,
        /// When data that a subflow does not deliver is reinjected on others: `"connection-timer"`, when the
        /// connection's data makes no progress for a period of its timer, as in today's Linux; or `"subflow-timeout"`,
        /// at each retransmission time-out of the subflow, as in the out-of-tree kernels.
        // RFC 8684 §3.3.6.
        reinjection: Reinjection = Reinjection::ConnectionTimer,
        /// Periods of the connection's timer without an answer, or with `"subflow-timeout"` retransmission time-outs in
        /// a row, after which a subflow gets no more data until it answers again.
        // stale_loss_cnt.
        stale_timeouts: u32 = 4; least 1,
        /// Unanswered SYNs with MP_CAPABLE after which the client sends a SYN without it.
        capable_retries: u32 = 3,
        /// Whether all subflows share one receive buffer (RFC 8684 §3.3.5), or each has a buffer and a window of its
        /// own. With `"per-subflow"` a connection may stall for good when a path fails.
        receive_buffer: ReceiveBuffer = ReceiveBuffer::Shared,
        /// How long a connection without subflows is kept.
        close_timeout_ns: i64 = 60 * S,
    }
}

settings! {
    /// Settings of TCP.
    pub struct Tcp {
        /// Whether window scaling is used (RFC 7323 §2).
        window_scaling: bool = true,
        /// Whether timestamps are used (RFC 7323 §3).
        timestamps: bool = true,
        /// Maximum segment size in bytes, TCP options included. `"off"`: it follows from the `mtu` of the path.
        // What this end says it takes, and so the most that it sends (RFC 9293 §3.7.1).
        mss_bytes: Option<u32> = None; least 88; most 65_495,
        /// Whether selective acknowledgements are used (RFC 2018). Without them recovery is NewReno's (RFC 6582).
        sack: bool = true,
        /// Explicit congestion notification (RFC 3168), with the meanings of Linux's `tcp_ecn`: `"request"` (1) asks
        /// for it; `"accept"` (2) uses it if the peer asks; `"off"` (0). Queues with `ecn` mark packets of subflows
        /// that use it instead of dropping them.
        ecn: Ecn = Ecn::Accept,
        /// How long an ACK waits for a second segment. As in Linux it waits longer if segments arrive farther apart than half of
        /// that, and after an ACK that waited in vain: at most a round-trip time, or this if it is longer, and never
        /// longer than 196 ms. `"off"`: every segment is acknowledged at once.
        // None: every segment is acknowledged at once (RFC 1122 §4.2.3.2).
        delayed_ack_ns: Option<i64> = Some(40 * MS),
        /// Number of ACKs sent without delay at the start, after a pause and after a duplicate, to help the peer's slow
        /// start. As in Linux, no ACK is delayed while the receive window grows.
        quick_acks: u32 = 16,
        /// Whether ACKs for out-of-order data are compressed after the first three: an ACK waits for a twentieth of the
        /// round-trip time, at most 1 ms, as in Linux since 4.18.
        // Not without `delayed_ack_ns`.
        ack_compression: bool = true,
        /// Whether the congestion window grows by the bytes that ACKs acknowledge (RFC 3465). Otherwise it grows by a
        /// segment per ACK, as in Linux before 3.13, which is half as fast if ACKs are delayed. CUBIC compensates for
        /// that after slow start.
        // RFC 5681 §3.1.
        appropriate_byte_counting: bool = true,
        /// Whether recovery uses proportional rate reduction (RFC 6937).
        proportional_rate_reduction: bool = true,
        /// RACK, loss detection by time (RFC 8985); as in Linux it waits 2 ms longer. Without it, losses are detected
        /// by duplicate or selective ACKs.
        rack: bool = true,
        /// Without `rack`: once per recovery, if there is nothing else to send, the last segment is retransmitted (RFC
        /// 6675 §4, NextSeg rule 4). Linux never did this.
        rescue_retransmission: bool = true,
        /// Whether tail loss probes are sent (RFC 8985 §7).
        tail_loss_probe: bool = true,
        /// Whether a window reduction is undone if timestamps (RFC 3522) or duplicates reported by the peer (RFC 2883)
        /// show that nothing was lost.
        // Reported duplicates also by RFC 3708.
        undo: bool = true,
        /// F-RTO (RFC 5682): after a time-out, check whether the original segments arrive before more is retransmitted.
        f_rto: bool = true,
        /// Initial congestion window (RFC 6928).
        initial_window_packets: u32 = 10; least 1,
        /// Where slow start ends before the first loss: `"standard"`, nowhere; `"hystart"`, where ACKs show that a
        /// queue builds up, as in Linux; `"hystart++"`, as in RFC 9406; `"own"`, as the congestion control defines it.
        slow_start: SlowStart = SlowStart::Own,
        /// Initial slow-start threshold. `"off"`: slow start ends at the first loss.
        initial_ssthresh_packets: Option<u32> = None,
        /// Whether the slow-start threshold is cached for each destination when a subflow closes, and used for the next
        /// subflow to it, as Linux did before 5.6 and still does with `tcp_no_ssthresh_metrics_save = 0`.
        /// Set `initial_ssthresh` to start with such a value.
        ssthresh_cache: bool = false,
        /// Minimum retransmission time-out. With `linux_timeout`, the minimum of its variance term.
        min_timeout_ns: i64 = 200 * MS,
        /// Maximum retransmission time-out after back-off.
        max_timeout_ns: i64 = 120 * S; above 0,
        /// Most times that the time-out doubles in a row; 0: never. `"off"`: it doubles until it reaches `max_timeout`.
        max_backoff: Option<u32> = None,
        /// Retransmission time-out before a round-trip time is known.
        initial_timeout_ns: i64 = S; above 0,
        /// Whether the retransmission time-out is computed as in Linux; otherwise as in RFC 6298.
        // `SRTT + max(min, 4 RTTVAR)` rather than `max(min, SRTT + 4 RTTVAR)`.
        linux_timeout: bool = true,
        /// Whether a subflow's timers, for retransmissions and delayed ACKs, fire as late as Linux's do since 4.8: its
        /// timer wheel has ticks of 4 ms, and long times are rounded up to coarser steps.
        timer_wheel: bool = true,
        /// Retransmissions of a SYN before the subflow is given up. If `max_backoff` is set, it is given up no sooner
        /// than it would be without.
        syn_retries: u32 = 6,
        /// Time-outs in a row after which a subflow is given up. If `max_backoff` is set, it is given up no sooner than
        /// it would be without.
        retries: u32 = 15,
        /// Whether the congestion window is reduced when it was not used, as in Linux. If a subflow sent nothing for
        /// longer than its time-out, the window is halved for each time-out that passed, down to the initial window
        /// (RFC 5681 §4.1). If for a time-out it neither filled its window nor received an ACK of data, the window shrinks
        /// half-way to what it used.
        /// BBR ignores this.
        // RFC 2861 §3.1, tcp_cwnd_restart, tcp_cwnd_application_limited.
        slow_start_after_idle: bool = true,
        /// Whether the last of several segments that Linux hands to the network card as one carries PSH, as since 5.4:
        /// its receiver may acknowledge an odd segment before the delay ends.
        gso_push: bool = true,
        /// Whether segments are paced over the round-trip time.
        pacing: bool = false,
        /// Idle time before the first keep-alive. `"off"`: none is sent.
        // None: never sent (RFC 9293 §3.8.4).
        keep_alive_idle_ns: Option<i64> = None; above 0,
        /// Time between unanswered keep-alives.
        keep_alive_interval_ns: i64 = 75 * S; above 0,
        /// Unanswered keep-alives after which a subflow is given up.
        keep_alive_probes: u32 = 9,
        /// Initial receive buffer; without `receive_buffer_tuning` it stays this large. It counts memory, as Linux's
        /// `tcp_rmem`. Packets occupy more memory than their data, so the window is about 61 % of it, and half of it
        /// before the first segment arrives.
        receive_buffer_bytes: u64 = 131_072; above 0,
        /// Largest receive buffer that tuning may reach.
        max_receive_buffer_bytes: u64 = 6_291_456; above 0,
        /// Whether the receive buffer grows with the rate at which the application reads.
        receive_buffer_tuning: bool = true,
        /// Share of the receive buffer that is never offered as window: half of it for 1, a quarter for 2, nothing for
        /// 31 (`tcp_adv_win_scale` of Linux before 6.6). `"off"`: the memory overhead of packets, as in Linux since
        /// then.
        adv_win_scale: Option<u32> = None; least 1; most 31,
        /// Maximum send buffer of a subflow in memory (Linux's `tcp_wmem`). It limits how far an application can write
        /// ahead of what is acknowledged.
        send_buffer_bytes: u64 = 4_194_304; above 0,
        /// Whether the send buffer grows with the congestion window, to twice its size. Otherwise it has its maximum
        /// size from the beginning.
        send_buffer_tuning: bool = true,
        /// Whether the send buffer also grows as data leaves, as since Linux 5.18. Otherwise it grows with ACKs only.
        // tcp_event_new_data_sent calls tcp_check_space.
        send_buffer_grows_early: bool = true,
        /// How long a closed subflow waits for stray segments (TIME-WAIT, RFC 9293 §3.6).
        time_wait_ns: i64 = 60 * S,
        /// How long a subflow that the application has closed waits for the peer's FIN (FIN-WAIT-2).
        fin_timeout_ns: i64 = 60 * S,
    }
}

choices! {
    /// When subflows may be joined.
    pub enum Join {
        /// Once the peer has shown that it has both keys (RFC 8684 §3.2).
        Specified = "specified",
        /// With the connection's first SYN.
        Simultaneous = "simultaneous",
    }
}

choices! {
    /// When what a subflow was given, and does not deliver, is given to others.
    pub enum Reinjection {
        /// When the connection's data makes no progress for as long as its subflows' timers run: then a subflow with nothing on
        /// its way is given the oldest (upstream Linux).
        ConnectionTimer = "connection-timer",
        /// At each retransmission time-out of the subflow (RFC 8684 §3.3.6; the out-of-tree kernels).
        SubflowTimeout = "subflow-timeout",
    }
}

choices! {
    /// Whose the receive buffer of a connection is.
    pub enum ReceiveBuffer {
        /// All subflows share it, and their windows are one, of the connection's data (RFC 8684 §3.3.5).
        Shared = "shared",
        /// Each subflow has one of its own, and its window is of its own bytes: what RFC 8684 §3.3.5 decided against.
        PerSubflow = "per-subflow",
    }
}

choices! {
    /// Whether subflows speak ECN: Linux's `tcp_ecn`.
    pub enum Ecn {
        /// Not (0).
        Off = "off",
        /// Where the peer asks for it (2).
        Accept = "accept",
        /// This end asks for it, too (1).
        Request = "request",
    }
}

impl Config {
    /// What scenarios can set in `[mptcp]` and in `[tcp]`, in the order in which they have it.
    pub fn sections() -> [(&'static str, Vec<Setting>); 2] {
        let (tcp, mut mptcp): (Vec<_>, Vec<_>) =
            Config::settings(Setting::default()).into_iter().partition(|one| one.at.starts_with("/tcp/"));
        // Controllers stand with the other policies, behind whether there is MPTCP at all.
        mptcp.sort_by_key(|one| match one.name {
            "enabled" => 0,
            "congestion_control" | "congestion_parameters" => 1,
            _ => 2,
        });
        [("mptcp", mptcp), ("tcp", tcp)]
    }

    /// Names the scheduler, with what its kernel does beside it.
    pub fn schedule(&mut self, name: &str) {
        let mends = scheduler::mends_buffer(name);
        let mptcp = &mut self.mptcp;
        mptcp.scheduler = name.into();
        (mptcp.opportunistic_retransmission, mptcp.penalisation) = (mends, mends);
    }

    /// Whether there are the policies that it names, with what is set of them.
    ///
    /// # Errors
    /// The first that there is not, or that cannot be so.
    pub fn check(&self) -> Result<(), parameters::Error> {
        congestion::build(&self.congestion_control, &self.congestion_parameters)?;
        scheduler::build(&self.mptcp.scheduler, &self.mptcp.scheduler_parameters)?;
        path_manager::build(&self.mptcp.path_manager)?;
        Ok(())
    }
}
