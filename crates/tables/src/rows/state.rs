use crate::row::row;

row! {
    /// One row per sample of a subflow: what its sender knows. Simulations and runs with the kernel fill it. The kernel's samples of a
    /// connection are missing where those before and after them say the same: between two that are equal nothing changed.
    pub struct State {
        /// Number of the connection.
        connection: u32,
        /// Number of the subflow.
        subflow: u32,
        /// Whose knowledge it is: `client` or `server`.
        host: &'static str,
        /// Time, Unix time.
        at_ns: i64,
        /// Time, from the first packet of all captures.
        at_s: f64,
        /// Congestion window; empty, as what follows, before the subflow is established.
        cwnd_packets: Option<u32>,
        /// Slow start ends here; empty before the first loss, unless it was set.
        ssthresh_packets: Option<f64>,
        /// Smoothed round-trip time; empty before the first sample.
        srtt_ms: Option<f64>,
        /// Mean deviation of the round-trip time; empty before the first sample.
        rttvar_ms: Option<f64>,
        /// Retransmission time-out, with its back-off.
        timeout_ms: f64,
        /// Retransmission time-outs in a row.
        backoffs: u32,
        /// Rate at which the subflow could send.
        pacing_mbps: Option<f64>,
        /// Packets sent and neither acknowledged nor taken for lost.
        in_flight_packets: Option<u32>,
        /// Bytes that the scheduler gave the subflow and that are not sent yet.
        queued_bytes: Option<u64>,
        /// Bytes that the scheduler gave the subflow so far; the kernel does not say.
        scheduled_bytes: Option<u64>,
        /// Segments that the subflow sent again so far, SYN and FIN among them.
        retransmitted_packets: u64,
        /// Whether it is to be used only when no other subflow is.
        backup: Option<bool>,
        /// Whether it counts as failed: time-outs in a row without an answer. The kernel does not say.
        stale: Option<bool>,
        /// Bytes of the connection that were written and are not acknowledged yet.
        unacknowledged_bytes: Option<u64>,
        /// Window of the peer, for the whole connection; the kernel says it of plain TCP only.
        peer_window_bytes: Option<u64>,
        /// Name of the congestion controller; this and what follows only the kernel says.
        congestion_control: Option<String>,
        /// What the controller reacts to: `open`, `disorder`, `cwr`, `recovery` or `loss`.
        congestion_state: Option<String>,
        /// Least round-trip time of late.
        min_rtt_ms: Option<f64>,
        /// Rate at which data was delivered last.
        delivery_mbps: Option<f64>,
        /// Whether that was as little because there was no more to send.
        delivery_limited: Option<bool>,
        /// Packets that the peer holds out of order.
        sacked_packets: Option<u32>,
        /// Packets that are taken for lost and not acknowledged yet.
        lost_packets: Option<u32>,
        /// Bytes that the subflow sent so far, again too.
        sent_bytes: Option<u64>,
        /// Bytes that it sent again so far.
        retransmitted_bytes: Option<u64>,
        /// Bytes that the peer acknowledged on it so far.
        acknowledged_bytes: Option<u64>,
        /// Bytes that came in order on it so far.
        received_bytes: Option<u64>,
        /// Time so far with data in flight or waiting.
        busy_ms: Option<f64>,
        /// Of that, time when the peer's window was full.
        window_limited_ms: Option<f64>,
        /// Of that, time when the send buffer was too small, as Linux counts it (`tcpi_sndbuf_limited`): from when a writer waits for
        /// memory and nothing is queued. On subflows of MPTCP, where the connection writes, it may count on while the window is full and
        /// more is queued, which a larger buffer does not change.
        buffer_limited_ms: Option<f64>,
        /// Bytes that the connection sent over all subflows so far, those sent again on another one too.
        connection_sent_bytes: Option<u64>,
        /// Bytes of the connection that were sent again so far, on another subflow too.
        connection_retransmitted_bytes: Option<u64>,
        /// Bytes of the connection that were acknowledged so far.
        connection_acknowledged_bytes: Option<u64>,
        /// Bytes of the connection that came so far.
        connection_received_bytes: Option<u64>,
        /// Whether the connection goes on as plain TCP.
        fallback: Option<bool>,
    }
}
