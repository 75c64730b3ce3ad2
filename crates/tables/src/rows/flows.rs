use crate::row::row;
use wire::Direction;

row! {
    /// One row per subflow and direction.
    pub struct Flow {
        /// Number of the connection.
        connection: u32,
        /// Number of the subflow.
        subflow: u32,
        /// `up`: client to server, `down`: server to client.
        direction: Direction,
        /// Payload bytes with distinct subflow sequence numbers: retransmissions on this subflow count once.
        #[metric(Metric::new(12, "bytes", Neither).only(&[Page]))]
        bytes: u64,
        /// Bytes of the connection that arrived first over this subflow; empty if the captures cannot tell for more
        /// than 1 % of them.
        #[metric(Metric::new(11, "delivered data", Neither).only(&[Document]))]
        delivered_bytes: Option<u64>,
        /// Share of the connection's delivered bytes that arrived first over this subflow, 0 to 1: `delivered_bytes` /
        /// `bytes` of the transfer.
        #[metric(Metric::new(10, "share", Neither).part().only(&[Page, Compare, Document]))]
        share: Option<f64>,
        /// All packets of the direction, with or without data.
        #[empty(ELSEWHERE)]
        packets: u64,
        /// Packets with data. Segments merged by offloads count as the packets that they were made of.
        #[metric(Metric::new(51, "data packets", Neither).only(&[Document]))]
        #[empty(ELSEWHERE)]
        data_packets: u64,
        /// Payload bytes, every retransmission included.
        #[empty(ELSEWHERE)]
        data_bytes: u64,
        /// Data packets with bytes that this subflow had already sent. Measured at the data sender; empty elsewhere.
        #[metric(Metric::new(60, "retransmitted packets", Less).brief("resent").only(&[Page]))]
        retransmitted_packets: Option<u64>,
        /// Bytes in them that had already been sent.
        retransmitted_bytes: Option<u64>,
        /// Retransmitted data packets / data packets.
        #[metric(Metric::new(50, "loss rate", Less).brief("loss").pooled("retransmitted_packets", "data_packets").outside_analysis())]
        loss_rate_percent: Option<f64>,
        /// Data packets whose bytes had all passed the capture point before, at either end. This column and some below
        /// are empty without a capture.
        duplicate_packets: Option<u64>,
        /// Data packets that filled a gap: their bytes had not been seen before and are below the highest seen.
        gap_filled_packets: Option<u64>,
        /// Bytes sent here that had already been sent by another subflow, or by this one under other sequence numbers.
        #[metric(Metric::new(80, "reinjected data", Less).brief("reinjected").only(&[Page]))]
        reinjected_bytes: Option<u64>,
        /// Zero-window probes.
        zero_window_probe_packets: Option<u64>,
        /// Keep-alives.
        keep_alive_packets: Option<u64>,
        /// Segments larger than the MSS, merged by offloads of the capturing host.
        merged_segments: Option<u64>,
        /// Data packets that arrived with an ECN mark (CE, RFC 3168). Measured at the data receiver; empty elsewhere.
        #[metric(Metric::new(70, "marked packets", Less).brief("marked").only(&[Page]))]
        marked_packets: Option<u64>,
        /// Round-trip time samples of data (not of the handshake). Measured at the data sender; empty elsewhere.
        #[metric(Metric::new(35, "RTT samples", Neither).brief("samples").only(&[Page]))]
        rtt_samples: Option<u64>,
        /// Mean.
        #[metric(Metric::new(30, "RTT", Less).of("rtt_samples").only(&[Page, Compare, Document]))]
        rtt_ms_mean: Option<f64>,
        /// Standard deviation.
        rtt_ms_sigma: Option<f64>,
        /// Minimum.
        #[metric(Metric::new(31, "RTT", Less).only(&[Page]))]
        rtt_ms_min: Option<f64>,
        /// Median.
        #[metric(Metric::new(32, "RTT", Less).only(&[Page, Document]))]
        rtt_ms_median: Option<f64>,
        /// 90th percentile.
        rtt_ms_p90: Option<f64>,
        /// 95th percentile.
        #[metric(Metric::new(33, "RTT", Less).only(&[Page, Compare, Document]))]
        rtt_ms_p95: Option<f64>,
        /// 99th percentile.
        #[metric(Metric::new(34, "RTT", Less).only(&[Page, Document]))]
        rtt_ms_p99: Option<f64>,
        /// Maximum.
        rtt_ms_max: Option<f64>,
        /// Packet-delay variation: 95th − 5th percentile of the round-trip time.
        rtt_ms_spread: Option<f64>,
        /// Packet-delay variation: the estimator of RFC 3550 §6.4.1 over successive round-trip times, after the last of
        /// them.
        rtt_jitter_ms: Option<f64>,
        /// Median one-way delay. Needs captures of both ends; corrected by the clock offset given in `diagnostics`.
        #[metric(Metric::new(90, "one-way delay", Less).brief("one-way").only(&[Page]))]
        one_way_delay_ms_median: Option<f64>,
        /// 95th percentile of the one-way delay.
        one_way_delay_ms_p95: Option<f64>,
        /// Packets sent at one end that did not arrive at the other. Needs captures of both ends, or a tool that tells.
        lost_packets: Option<u64>,
        /// Datagrams that arrived after one that was sent later (RFC 4737 §3). Needs captures of both ends; empty for TCP.
        reordered_packets: Option<u64>,
        /// Bytes delivered here / the connection's elapsed time.
        #[metric(Metric::new(20, "throughput", More).brief("").only(&[Page, Compare, Document]))]
        throughput_mbps: Option<f64>,
        /// Bytes delivered here / the subflow's own time, from its first to its last data; empty if that time is less
        /// than 10 ms.
        active_throughput_mbps: Option<f64>,
        /// Mean of the throughput series (without its start and smoothed, if requested).
        throughput_mbps_mean: Option<f64>,
        /// Standard deviation of the same series.
        throughput_mbps_sigma: Option<f64>,
        /// Coefficient of variation: sigma / mean of the same series.
        coefficient_of_variation: Option<f64>,
        /// Bytes in flight (sent and not yet acknowledged), mean over the data packets. Measured at the data sender;
        /// empty elsewhere.
        in_flight_bytes_mean: Option<f64>,
        /// Bytes in flight, maximum.
        in_flight_bytes_max: Option<u64>,
        /// Smallest receive window announced to this direction's sender after the handshake.
        window_bytes_min: Option<u64>,
        /// Largest receive window announced to it.
        window_bytes_max: Option<u64>,
        /// Longest time without new data on this subflow, between its first and last data.
        longest_gap_ms: Option<f64>,
    }
}
