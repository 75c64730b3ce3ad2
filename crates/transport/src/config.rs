//! What can be set of an endpoint. The defaults are those of upstream Linux of today, and there are no others: the era "current" is
//! these, and other eras say what they did otherwise.

use crate::{SlowStart, congestion, path_manager, scheduler};
use parameters::Table;
use serde::{Deserialize, Serialize};

const MS: i64 = 1_000_000;
const S: i64 = 1_000 * MS;

/// Settings of an endpoint, for all its connections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Of every subflow.
    pub tcp: Tcp,
    /// Of connections.
    pub mptcp: Mptcp,
    /// Name of the congestion controller, one of [`crate::congestion::NAMES`].
    pub congestion_control: String,
    /// What is set of it.
    #[serde(default)]
    pub congestion_parameters: Table,
}

impl Config {
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

/// Settings of TCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tcp {
    /// Window scaling (RFC 7323 §2).
    pub window_scaling: bool,
    /// Timestamps (RFC 7323 §3).
    pub timestamps: bool,
    /// Most bytes of a segment that this end says it takes, and so most that it sends (RFC 9293 §3.7.1), options of TCP
    /// included; none: as packets of the interface have room for.
    pub mss_bytes: Option<u32>,
    /// Selective acknowledgements (RFC 2018); without them NewReno (RFC 6582).
    pub sack: bool,
    /// Explicit congestion notification (RFC 3168).
    #[serde(default)]
    pub ecn: Ecn,
    /// Longest that an ACK may wait; none: every segment is acknowledged at once (RFC 1122 §4.2.3.2).
    pub delayed_ack_ns: Option<i64>,
    /// ACKs that do not wait all the same at the start, after a pause and after a duplicate, for the peer's slow start. None
    /// waits while the window grows.
    pub quick_acks: u32,
    /// Whether ACKs for what comes out of order wait for each other, 1 ms at most, as Linux's do since 4.18. Not without
    /// `delayed_ack_ns`.
    pub ack_compression: bool,
    /// Appropriate byte counting (RFC 3465): the window grows by what is acknowledged; without it by a segment's worth for
    /// each ACK, however many segments it acknowledges (RFC 5681 §3.1).
    pub appropriate_byte_counting: bool,
    /// Proportional rate reduction (RFC 6937) in recovery; without it the window is halved at once.
    pub proportional_rate_reduction: bool,
    /// Loss detection by time (RFC 8985); without it by duplicate or selective ACKs (RFC 5681, RFC 6675).
    pub rack: bool,
    /// Without [`Tcp::rack`]: once a recovery, with nothing else to send, the last segment is sent again (RFC 6675 §4
    /// NextSeg rule 4), which Linux never did.
    pub rescue_retransmission: bool,
    /// Tail loss probes (RFC 8985 §7).
    pub tail_loss_probe: bool,
    /// Take back what a loss did to the window when an echoed timestamp (RFC 3522) or reported duplicates (RFC 2883, RFC 3708)
    /// show that there was none.
    pub undo: bool,
    /// After a time-out, see whether originals arrive before more is sent again (F-RTO, RFC 5682).
    pub f_rto: bool,
    /// Segments in the first window (RFC 6928).
    pub initial_window_packets: u32,
    /// Where slow start ends before anything is lost.
    #[serde(default)]
    pub slow_start: SlowStart,
    /// Slow start ends here; none: at the first loss.
    pub initial_ssthresh_packets: Option<u32>,
    /// Whether a destination's slow start threshold is kept when a subflow to it closes, for the next one.
    pub ssthresh_cache: bool,
    /// Least retransmission time-out. With [`Tcp::linux_timeout`] the least of its variance term.
    pub min_timeout_ns: i64,
    /// Most it backs off to.
    pub max_timeout_ns: i64,
    /// How often in a row it doubles at most; none: until it is the most that it may be.
    pub max_backoff: Option<u32>,
    /// Before a round-trip time is known.
    pub initial_timeout_ns: i64,
    /// `SRTT + max(min, 4 RTTVAR)` as Linux has it rather than `max(min, SRTT + 4 RTTVAR)` (RFC 6298).
    pub linux_timeout: bool,
    /// Whether a subflow's timers for what is lost end as late as Linux's do since 4.8, by up to an eighth and 8 ms, as its
    /// wheel has ticks of 4 ms and counts long times coarsely.
    pub timer_wheel: bool,
    /// How often a SYN is sent again; with [`Tcp::max_backoff`], for as long as that takes without it.
    pub syn_retries: u32,
    /// How often data is sent again by time-outs before the subflow is given up. With [`Tcp::max_backoff`], after as long
    /// as that takes without it.
    pub retries: u32,
    /// Whether a subflow that sent nothing for longer than its retransmission time-out begins with a smaller window: halved for
    /// each time-out that went by, down to the first window (RFC 5681 §4.1, RFC 2861 §3.1, Linux's tcp_cwnd_restart).
    pub slow_start_after_idle: bool,
    /// Spread segments over the round trip.
    pub pacing: bool,
    /// Idle time before the first keep-alive; none: never sent (RFC 9293 §3.8.4).
    pub keep_alive_idle_ns: Option<i64>,
    /// Between keep-alives without an answer.
    pub keep_alive_interval_ns: i64,
    /// Keep-alives without an answer before the subflow is given up.
    pub keep_alive_probes: u32,
    /// Bytes of the receive buffer at first, and always without [`Tcp::receive_buffer_tuning`]: memory, of which packets
    /// occupy more than their data (Linux's `tcp_rmem`).
    pub receive_buffer_bytes: u64,
    /// Most that tuning makes of it.
    pub max_receive_buffer_bytes: u64,
    /// Whether the receive buffer grows with the rate at which the application reads.
    pub receive_buffer_tuning: bool,
    /// What of the receive buffer is no window: half of it for 1, a quarter for 2, nothing for 31 (Linux's
    /// `tcp_adv_win_scale` before 6.6); none: what packets occupy besides data, as they come (Linux since).
    #[serde(default)]
    pub adv_win_scale: Option<u32>,
    /// Most bytes of a subflow's send buffer: memory, too (Linux's `tcp_wmem`).
    pub send_buffer_bytes: u64,
    /// Whether the send buffer grows with the congestion window, rather than being the most from the beginning.
    pub send_buffer_tuning: bool,
    /// How long a closed subflow waits for stray segments (RFC 9293 §3.6).
    pub time_wait_ns: i64,
    /// How long one whose peer never finishes waits for the FIN once nobody reads.
    pub fin_timeout_ns: i64,
}

/// Settings of MPTCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mptcp {
    /// Whether to offer and accept MPTCP; without it connections are plain TCP.
    pub enabled: bool,
    /// Version that is offered and accepted: 1 (RFC 8684) or 0 (RFC 6824). Who speaks another one is answered with TCP.
    pub version: u8,
    /// DSS checksums (RFC 8684 §3.3).
    pub checksum: bool,
    /// Name of the scheduler, one of [`crate::scheduler::NAMES`].
    pub scheduler: String,
    /// What is set of it.
    #[serde(default)]
    pub scheduler_parameters: Table,
    /// Send again on a free subflow what blocks the window of the connection on a slower one.
    pub opportunistic_retransmission: bool,
    /// Halve the window of the subflow that blocked it.
    pub penalisation: bool,
    /// When subflows may be joined.
    pub join: Join,
    /// The path manager.
    pub path_manager: path_manager::Settings,
    /// Data sequence numbers and DATA_ACKs of 8 bytes, as Linux sends them, rather than 4 where that is enough
    /// (RFC 8684 §3.3.1): those leave more room for selective acknowledgements.
    pub long_numbers: bool,
    /// When what a subflow does not deliver is given to others.
    pub reinjection: Reinjection,
    /// Periods of the connection's timer, or retransmission time-outs in a row, after which a subflow counts as failed and is
    /// used only when it answers again (Linux's `stale_loss_cnt`).
    pub stale_timeouts: u32,
    /// SYNs with MP_CAPABLE that may go unanswered before the SYN is sent without it.
    pub capable_retries: u32,
    /// Whose the receive buffer is.
    pub receive_buffer: ReceiveBuffer,
    /// How long a connection outlives its last subflow.
    pub close_timeout_ns: i64,
}

/// Whether subflows speak ECN: Linux's `tcp_ecn`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ecn {
    /// Not (0).
    Off,
    /// Where the peer asks for it (2).
    #[default]
    Accept,
    /// This end asks for it, too (1).
    Request,
}

/// When what a subflow was given, and does not deliver, is given to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reinjection {
    /// When the connection's data makes no progress for as long as its subflows' timers run: then a subflow with nothing on
    /// its way is given the oldest (upstream Linux).
    ConnectionTimer,
    /// At each retransmission time-out of the subflow (RFC 8684 §3.3.6; the out-of-tree kernels).
    SubflowTimeout,
}

/// Whose the receive buffer of a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReceiveBuffer {
    /// All subflows share it, and their windows are one, of the connection's data (RFC 8684 §3.3.5).
    Shared,
    /// Each subflow has one of its own, and its window is of its own bytes: what RFC 8684 §3.3.5 decided against.
    PerSubflow,
}

/// When subflows may be joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Join {
    /// Once the peer has shown that it has both keys (RFC 8684 §3.2).
    #[default]
    Specified,
    /// With the connection's first SYN.
    Simultaneous,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            tcp: Tcp::default(),
            mptcp: Mptcp::default(),
            // CONFIG_DEFAULT_TCP_CONG is "cubic" in net/ipv4/Kconfig.
            congestion_control: "cubic-linux".into(),
            congestion_parameters: Table::new(),
        }
    }
}

impl Default for Tcp {
    fn default() -> Tcp {
        Tcp {
            window_scaling: true,
            timestamps: true,
            mss_bytes: None,
            sack: true,
            ecn: Ecn::Accept,
            delayed_ack_ns: Some(40 * MS),
            quick_acks: 16,
            ack_compression: true,
            appropriate_byte_counting: true,
            proportional_rate_reduction: true,
            rack: true,
            rescue_retransmission: true,
            tail_loss_probe: true,
            undo: true,
            f_rto: true,
            initial_window_packets: 10,
            slow_start: SlowStart::Own,
            initial_ssthresh_packets: None,
            ssthresh_cache: false,
            min_timeout_ns: 200 * MS,
            max_timeout_ns: 120 * S,
            max_backoff: None,
            initial_timeout_ns: S,
            linux_timeout: true,
            timer_wheel: true,
            syn_retries: 6,
            retries: 15,
            slow_start_after_idle: true,
            pacing: false,
            keep_alive_idle_ns: None,
            keep_alive_interval_ns: 75 * S,
            keep_alive_probes: 9,
            receive_buffer_bytes: 131_072,
            max_receive_buffer_bytes: 6_291_456,
            receive_buffer_tuning: true,
            adv_win_scale: None,
            send_buffer_bytes: 4_194_304,
            send_buffer_tuning: true,
            time_wait_ns: 60 * S,
            fin_timeout_ns: 60 * S,
        }
    }
}

impl Default for Mptcp {
    fn default() -> Mptcp {
        Mptcp {
            enabled: true,
            version: 1,
            checksum: false,
            // mptcp_sched_default in net/mptcp/sched.c.
            scheduler: "linux".into(),
            scheduler_parameters: Table::new(),
            opportunistic_retransmission: false,
            penalisation: false,
            join: Join::Specified,
            path_manager: path_manager::Settings::default(),
            long_numbers: true,
            reinjection: Reinjection::ConnectionTimer,
            stale_timeouts: 4,
            capable_retries: 3,
            receive_buffer: ReceiveBuffer::Shared,
            close_timeout_ns: 60 * S,
        }
    }
}
