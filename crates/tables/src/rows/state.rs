use crate::row::row;

row! {
    /// One row per sample of a subflow: what its sender knows. Simulations fill it.
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
        /// Bytes that the scheduler gave the subflow so far.
        scheduled_bytes: u64,
        /// Segments that the subflow sent again so far, SYN and FIN among them.
        retransmitted_packets: u64,
        /// Whether it is to be used only when no other subflow is.
        backup: Option<bool>,
        /// Whether it counts as failed: time-outs in a row without an answer.
        stale: Option<bool>,
        /// Bytes of the connection that were written and are not acknowledged yet.
        unacknowledged_bytes: u64,
        /// Window of the peer, for the whole connection.
        peer_window_bytes: u64,
    }
}
