use crate::row::row;

row! {
    /// One row per sample of a subflow's state at its sender. Simulations and runs with the kernel have them. From the
    /// kernel, samples of a connection that equal both neighbours are left out: nothing changed between two equal
    /// samples. Files of other tools that log a sender's state have some of the columns.
    pub struct State {
        /// Number of the connection.
        connection: u32,
        /// Number of the subflow.
        subflow: u32,
        /// End whose state it is: `client` or `server`.
        host: &'static str,
        /// Time, Unix time.
        at_ns: i64,
        /// Time, from the first packet of all captures.
        at_s: f64,
        /// Congestion window. This column and those below are empty before the subflow is established.
        cwnd_packets: Option<u32>,
        /// Slow-start threshold; empty before the first loss, unless it was set.
        ssthresh_packets: Option<f64>,
        /// Smoothed round-trip time; empty before the first sample.
        srtt_ms: Option<f64>,
        /// Mean deviation of the round-trip time; empty before the first sample.
        rttvar_ms: Option<f64>,
        /// Retransmission time-out, including back-off.
        #[empty(ELSEWHERE)]
        timeout_ms: f64,
        /// Retransmission time-outs in a row.
        #[empty(ELSEWHERE)]
        backoffs: u32,
        /// Pacing rate of the subflow.
        pacing_mbps: Option<f64>,
        /// Packets in flight: sent, and neither acknowledged nor considered lost.
        in_flight_packets: Option<u32>,
        /// Bytes that the scheduler assigned to the subflow and that are not sent yet.
        queued_bytes: Option<u64>,
        /// Bytes that the scheduler has assigned to the subflow so far; empty for the kernel.
        scheduled_bytes: Option<u64>,
        /// Segments that the subflow has retransmitted so far, including SYN and FIN.
        #[empty(ELSEWHERE)]
        retransmitted_packets: u64,
        /// Whether it is a backup, used only if no other subflow is available.
        backup: Option<bool>,
        /// Whether it counts as failed (stale): unanswered time-outs in a row. Empty for the kernel.
        stale: Option<bool>,
        /// Bytes written to the connection and not acknowledged yet.
        unacknowledged_bytes: Option<u64>,
        /// Receive window of the peer, for the whole connection; from the kernel, only for plain TCP.
        peer_window_bytes: Option<u64>,
        /// Name of the congestion control. This column and those below come from the kernel only.
        congestion_control: Option<String>,
        /// State of the congestion control: `open`, `disorder`, `cwr`, `recovery` or `loss`.
        congestion_state: Option<String>,
        /// Recent minimum round-trip time.
        min_rtt_ms: Option<f64>,
        /// Latest delivery rate.
        delivery_mbps: Option<f64>,
        /// Whether the delivery rate was limited by the application.
        delivery_limited: Option<bool>,
        /// Packets that the peer holds out of order (SACKed).
        sacked_packets: Option<u32>,
        /// Packets considered lost and not acknowledged yet.
        lost_packets: Option<u32>,
        /// Bytes sent on the subflow so far, including retransmissions.
        sent_bytes: Option<u64>,
        /// Bytes retransmitted on the subflow so far.
        retransmitted_bytes: Option<u64>,
        /// Bytes acknowledged by the peer on the subflow so far.
        acknowledged_bytes: Option<u64>,
        /// Bytes received in order on the subflow so far.
        received_bytes: Option<u64>,
        /// Time so far during which the subflow had data in flight or waiting.
        busy_ms: Option<f64>,
        /// Part of that time during which the peer's window was full.
        window_limited_ms: Option<f64>,
        /// Part of that time during which the send buffer was too small, as Linux counts it (`tcpi_sndbuf_limited`): a
        /// writer waits for memory while nothing is queued. On MPTCP subflows, where the connection writes, the count
        /// may continue while the window is full and more data is queued, which a larger buffer would not change.
        buffer_limited_ms: Option<f64>,
        /// Bytes that the connection has sent on all subflows so far, including reinjections.
        connection_sent_bytes: Option<u64>,
        /// Bytes of the connection sent again so far, including reinjections.
        connection_retransmitted_bytes: Option<u64>,
        /// Bytes of the connection acknowledged so far.
        connection_acknowledged_bytes: Option<u64>,
        /// Bytes received by the connection so far.
        connection_received_bytes: Option<u64>,
        /// Whether the connection has fallen back to plain TCP.
        fallback: Option<bool>,
    }
}
