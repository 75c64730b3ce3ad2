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
        /// How fast each subflow may send.
        // CONFIG_DEFAULT_TCP_CONG is "cubic" in net/ipv4/Kconfig.
        congestion_control: String = "cubic-linux".into(),
        /// What is set of that congestion control; plain TCP has it as it is without.
        congestion_parameters: Table = Table::new(),
    }
}

settings! {
    /// Settings of MPTCP.
    pub struct Mptcp {
        /// Whether MPTCP is used; without it the transfer is plain TCP over the first path.
        enabled: bool = true,
        /// Which subflow sends next.
        // mptcp_sched_default in net/mptcp/sched.c.
        scheduler: String = "linux".into(),
        /// What is set of that scheduler.
        scheduler_parameters: Table = Table::new(),
        /// Which subflows there are, and how many.
        path_manager: path_manager::Settings = path_manager::Settings::default(),
        /// When the client joins further subflows: once the server has shown that it has both keys, as RFC 8684
        /// specifies, or `"simultaneous"`, with the connection's first SYN, as some measurements did. That takes a
        /// server which can wait for the key; any other resets the SYN, and the path manager `full-mesh` joins again a
        /// second later, as specified, where Linux's does not. Where options are stripped half-way, such a connection
        /// may fail: it can fall back to TCP no more.
        join: Join = Join::Specified,
        /// Version of MPTCP: 1 (RFC 8684), or 0 (RFC 6824) as the out-of-tree kernels of multipath-tcp.org speak it:
        /// keys in the SYN, SHA-1, addresses announced without HMAC and echo.
        version: u8 = 1; most 1,
        /// DSS checksums (RFC 8684 §3.3).
        checksum: bool = false,
        /// Send again on a free subflow what blocks the connection's window on a slower one. Where `scheduler` is
        /// named, it is on for those whose kernel does so: `"lowest-rtt"`, `"blest"` and `"ecf"`.
        opportunistic_retransmission: bool = false,
        /// Halve the window of the subflow that blocked it; on likewise.
        penalisation: bool = false,
        /// Data sequence numbers and DATA_ACKs of 8 bytes rather than 4 where that is enough.
        // RFC 8684 §3.3.1: short ones leave more room for selective acknowledgements.
        long_numbers: bool = true,
        /// When what a subflow does not deliver is given to others: when the connection's data makes no progress for a
        /// period of its timer, as in Linux of today, or at each retransmission time-out of the subflow, as in the
        /// out-of-tree kernels.
        // RFC 8684 §3.3.6.
        reinjection: Reinjection = Reinjection::ConnectionTimer,
        /// Periods of the connection's timer, or time-outs in a row, after which a subflow is used only once it answers
        /// again.
        // stale_loss_cnt.
        stale_timeouts: u32 = 4; least 1,
        /// SYNs with MP_CAPABLE without an answer before one is sent without it.
        capable_retries: u32 = 3,
        /// Whether subflows share one receive buffer (RFC 8684 §3.3.5), or each has one of its own and a window of its
        /// own bytes; a connection may then stand still when a path fails.
        receive_buffer: ReceiveBuffer = ReceiveBuffer::Shared,
        /// How long a connection outlives its last subflow.
        close_timeout_ns: i64 = 60 * S,
    }
}

settings! {
    /// Settings of TCP.
    pub struct Tcp {
        /// Window scaling (RFC 7323 §2).
        window_scaling: bool = true,
        /// Timestamps (RFC 7323 §3).
        timestamps: bool = true,
        /// Most bytes of a segment, options of TCP included; `"off"`: as the paths' `mtu` has it.
        // What this end says it takes, and so the most that it sends (RFC 9293 §3.7.1).
        mss_bytes: Option<u32> = None; least 88; most 65_495,
        /// Selective acknowledgements (RFC 2018); without them NewReno (RFC 6582).
        sack: bool = true,
        /// Explicit congestion notification (RFC 3168), as Linux's `tcp_ecn`: `"request"` (1), which asks for it;
        /// `"accept"` (2), which answers who asks; `"off"` (0). Queues with `ecn` mark packets of such subflows rather
        /// than drop them.
        ecn: Ecn = Ecn::Accept,
        /// Longest that an ACK may wait.
        // None: every segment is acknowledged at once (RFC 1122 §4.2.3.2).
        delayed_ack_ns: Option<i64> = Some(40 * MS),
        /// ACKs that do not wait all the same at the start, after a pause and after a duplicate, for the peer's slow
        /// start. As in Linux none waits while the receive window grows.
        quick_acks: u32 = 16,
        /// Whether ACKs for what comes out of order wait for each other once there were three: a twentieth of the
        /// round-trip time and 1 ms at most, as Linux's do since 4.18.
        // Not without `delayed_ack_ns`.
        ack_compression: bool = true,
        /// Whether the window grows by what ACKs acknowledge (RFC 3465) rather than by a segment an ACK, as in Linux
        /// before 3.13: half as fast where ACKs are delayed. CUBIC makes up for it after slow start.
        // RFC 5681 §3.1.
        appropriate_byte_counting: bool = true,
        /// Proportional rate reduction (RFC 6937) in recovery.
        proportional_rate_reduction: bool = true,
        /// Loss detection by time (RFC 8985), which waits 2 ms longer, as Linux does; without it by duplicate or
        /// selective ACKs.
        rack: bool = true,
        /// Without `rack`: once a recovery, with nothing else to send, the last segment is sent again (RFC 6675 §4,
        /// NextSeg rule 4). Linux never did.
        rescue_retransmission: bool = true,
        /// Tail loss probes (RFC 8985 §7).
        tail_loss_probe: bool = true,
        /// Take back what a loss did to the window when timestamps (RFC 3522) or duplicates that the peer reports (RFC
        /// 2883) show that there was none.
        // Reported duplicates also by RFC 3708.
        undo: bool = true,
        /// F-RTO (RFC 5682): after a time-out see whether originals arrive before more is sent again.
        f_rto: bool = true,
        /// First window (RFC 6928).
        initial_window_packets: u32 = 10; least 1,
        /// Where slow start ends before a loss: with `"standard"` nowhere, with `"hystart"` where ACKs show a queue, as
        /// in Linux, with `"hystart++"` as RFC 9406 has it, with `"own"` as the congestion control does.
        slow_start: SlowStart = SlowStart::Own,
        /// Where slow start ends; `"off"`: at the first loss.
        initial_ssthresh_packets: Option<u32> = None,
        /// Whether where slow start ended is kept for each destination when a subflow to it closes, and is where that
        /// of the next one ends, as Linux did before 5.6 and does with `tcp_no_ssthresh_metrics_save = 0`.
        /// `initial_ssthresh` begins with one.
        ssthresh_cache: bool = false,
        /// Least retransmission time-out; with `linux_timeout` the least of its variance term.
        min_timeout_ns: i64 = 200 * MS,
        /// Most it backs off to.
        max_timeout_ns: i64 = 120 * S; above 0,
        /// How often in a row the time-out doubles at most, 0: never; `"off"`: until it is `max_timeout`.
        max_backoff: Option<u32> = None,
        /// Time-out before a round-trip time is known.
        initial_timeout_ns: i64 = S; above 0,
        /// Time-out as in Linux rather than as in RFC 6298.
        // `SRTT + max(min, 4 RTTVAR)` rather than `max(min, SRTT + 4 RTTVAR)`.
        linux_timeout: bool = true,
        /// Whether a subflow's timers for what is lost end as late as Linux's do since 4.8: its wheel has ticks of 4 ms
        /// and counts long times coarsely.
        timer_wheel: bool = true,
        /// How often a SYN is sent again; with `max_backoff`, for as long as that takes without.
        syn_retries: u32 = 6,
        /// How often time-outs send data again before a subflow is given up; with `max_backoff`, it is after as long as
        /// that would take without.
        retries: u32 = 15,
        /// Whether a subflow that sent nothing for longer than its time-out begins with a smaller window, halved for
        /// each time-out that went by, down to the first one (RFC 5681 §4.1), and one that did not fill its window for a
        /// time-out comes down halfway to what it used, as in Linux. BBR does not.
        // RFC 2861 §3.1, tcp_cwnd_restart, tcp_cwnd_application_limited.
        slow_start_after_idle: bool = true,
        /// Spread segments over the round trip.
        pacing: bool = false,
        /// Idle time before the first keep-alive.
        // None: never sent (RFC 9293 §3.8.4).
        keep_alive_idle_ns: Option<i64> = None; above 0,
        /// Between keep-alives without an answer.
        keep_alive_interval_ns: i64 = 75 * S; above 0,
        /// Keep-alives without an answer before a subflow is given up.
        keep_alive_probes: u32 = 9,
        /// The receive buffer at first, and always without `receive_buffer_tuning`. It is memory, as Linux's
        /// `tcp_rmem`: packets occupy more of it than their data, so the window is about 61 % of it, and half before
        /// the first segment came.
        receive_buffer_bytes: u64 = 131_072; above 0,
        /// Most that tuning makes of it.
        max_receive_buffer_bytes: u64 = 6_291_456; above 0,
        /// Whether the receive buffer grows with the rate at which the application reads.
        receive_buffer_tuning: bool = true,
        /// What of the receive buffer is never window: half of it for 1, a quarter for 2, nothing for 31
        /// (`tcp_adv_win_scale` of Linux before 6.6); `"off"`: what packets occupy besides their data, as in Linux
        /// since.
        adv_win_scale: Option<u32> = None; least 1; most 31,
        /// Most memory of a subflow's send buffer (Linux's `tcp_wmem`), which bounds what an application may write
        /// ahead of what is acknowledged.
        send_buffer_bytes: u64 = 4_194_304; above 0,
        /// Whether the send buffer grows with the congestion window, to two of it, rather than being the most from the
        /// beginning.
        send_buffer_tuning: bool = true,
        /// How long a closed subflow waits for stray segments (RFC 9293 §3.6).
        time_wait_ns: i64 = 60 * S,
        /// How long a subflow that nobody reads any more waits for the peer's FIN.
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
