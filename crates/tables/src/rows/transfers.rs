use crate::row::row;
use wire::Direction;

row! {
    /// One row per connection and direction.
    pub struct Transfer {
        /// Number of the connection.
        connection: u32,
        /// `up`: client to server, `down`: server to client.
        direction: Direction,
        /// Bytes delivered in order to the application.
        #[metric(Metric::new(20, "delivered data", More).brief("bytes").only(&[Runs, Page, Compare, Document]))]
        bytes: u64,
        /// Time from the first SYN of the connection to the last acknowledgement of this direction's data.
        #[metric(Metric::new(30, "transfer time", Less).brief("time").logarithmic().outside_analysis())]
        elapsed_s: Option<f64>,
        /// Bytes delivered / elapsed time.
        #[metric(Metric::new(10, "throughput", More).brief("").logarithmic().outside_analysis())]
        throughput_mbps: Option<f64>,
        /// Mean of the throughput series (without its start and smoothed, if requested).
        throughput_mbps_mean: Option<f64>,
        /// Standard deviation of the same series.
        throughput_mbps_sigma: Option<f64>,
        /// Coefficient of variation: sigma / mean of the same series.
        #[metric(Metric::new(90, "coefficient of variation", Less).brief("CV").only(&[Page, Compare, Document, Campaign]))]
        coefficient_of_variation: Option<f64>,
        /// Bytes sent again under new subflow sequence numbers, on any subflow.
        #[metric(Metric::new(80, "reinjected data", Less).brief("reinjected").only(&[Compare, Document, Campaign]))]
        reinjected_bytes: Option<u64>,
        /// Data packets that carried reinjected bytes.
        reinjected_packets: Option<u64>,
        /// Round-trip time samples of all subflows. Measured at the data sender; empty elsewhere.
        rtt_samples: Option<u64>,
        /// Mean over all samples of all subflows.
        #[metric(Metric::new(40, "RTT", Less).of("rtt_samples").logarithmic().outside_analysis())]
        rtt_ms_mean: Option<f64>,
        /// Standard deviation over the same.
        rtt_ms_sigma: Option<f64>,
        /// Median over the same.
        #[metric(Metric::new(41, "RTT", Less).logarithmic().only(&[Document]))]
        rtt_ms_median: Option<f64>,
        /// 95th percentile over the same.
        #[metric(Metric::new(42, "RTT", Less).logarithmic().only(&[Compare, Document, Seeds, Campaign]))]
        rtt_ms_p95: Option<f64>,
        /// 99th percentile over the same.
        #[metric(Metric::new(43, "RTT", Less).logarithmic().only(&[Document]))]
        rtt_ms_p99: Option<f64>,
        /// Data segments with an out-of-order delay. Measured at the data receiver; empty elsewhere.
        reordering_segments: Option<u64>,
        /// Data segments that waited for earlier data.
        out_of_order_segments: Option<u64>,
        /// Out-of-order delay: time from the arrival of a segment until its data is in order at connection level; 0 for
        /// segments that arrive in order. Mean.
        #[metric(Metric::new(60, "out-of-order delay", Less).brief("out-of-order").of("reordering_segments").only(&[Compare, Document, Seeds, Campaign, Overview]))]
        out_of_order_delay_ms_mean: Option<f64>,
        /// Standard deviation.
        out_of_order_delay_ms_sigma: Option<f64>,
        /// Median.
        out_of_order_delay_ms_median: Option<f64>,
        /// 90th percentile.
        out_of_order_delay_ms_p90: Option<f64>,
        /// 95th percentile.
        #[metric(Metric::new(61, "out-of-order delay", Less).brief("out-of-order").only(&[Compare, Document, Seeds, Campaign]))]
        out_of_order_delay_ms_p95: Option<f64>,
        /// 99th percentile.
        #[metric(Metric::new(62, "out-of-order delay", Less).brief("out-of-order").only(&[Document]))]
        out_of_order_delay_ms_p99: Option<f64>,
        /// Maximum.
        out_of_order_delay_ms_max: Option<f64>,
        /// Requests of the client that were answered in this direction (`down`). Measured at the client; empty
        /// elsewhere.
        responses: Option<u64>,
        /// Response time: from when the first data of a request is sent until the last data of the response is in
        /// order. Mean.
        #[metric(Metric::new(70, "response time", Less).brief("response").logarithmic().outside_analysis())]
        response_time_ms_mean: Option<f64>,
        /// Median.
        #[metric(Metric::new(71, "response time", Less).brief("response").logarithmic().only(&[Document]))]
        response_time_ms_median: Option<f64>,
        /// 95th percentile.
        #[metric(Metric::new(72, "response time", Less).brief("response").logarithmic().only(&[Compare, Document, Seeds, Campaign]))]
        response_time_ms_p95: Option<f64>,
        /// Maximum.
        response_time_ms_max: Option<f64>,
        /// Time after which a message or response counts as late, from the scenario; empty if the scenario has none.
        deadline_ms: Option<f64>,
        /// Share of the messages, or of the responses, that came after the deadline or never.
        #[metric(Metric::new(73, "late share", Less).brief("late").part().outside_analysis())]
        late_share: Option<f64>,
        /// Messages that the application had to write, if it writes at regular intervals. Measured from both ends.
        messages: Option<u64>,
        /// Message delay: from when a message was due to be written until all of it was in order at the receiver. Mean.
        #[metric(Metric::new(74, "message delay", Less).brief("message").logarithmic().only(&[Page, Compare, Document, Seeds, Campaign]))]
        message_delay_ms_mean: Option<f64>,
        /// Median.
        message_delay_ms_median: Option<f64>,
        /// 95th percentile.
        #[metric(Metric::new(75, "message delay", Less).brief("message").logarithmic().only(&[Page, Compare, Document, Seeds, Campaign]))]
        message_delay_ms_p95: Option<f64>,
        /// 99th percentile.
        message_delay_ms_p99: Option<f64>,
        /// Maximum.
        message_delay_ms_max: Option<f64>,
        /// Transmission rating R of a call whose frames are the messages, played out at the deadline (E-model, ITU-T
        /// G.107); at most 93.2.
        r_factor: Option<f64>,
        /// Mean opinion score of that call, from 1 to 4.5 (ITU-T G.107 Annex B).
        #[metric(Metric::new(76, "opinion of the call (MOS)", More).brief("MOS").outside_analysis())]
        mos: Option<f64>,
        /// Video segments received. Measured at the player; empty elsewhere.
        video_segments: Option<u64>,
        /// Time from the first packet of the connection until playback started.
        #[metric(Metric::new(77, "start-up delay", Less).brief("start-up").logarithmic().outside_analysis())]
        startup_ms: Option<f64>,
        /// Number of stalls: how often playback stopped because the buffer was empty.
        #[metric(Metric::new(78, "stalls", Less).outside_analysis())]
        stalls: Option<u64>,
        /// Total duration of the stalls.
        #[metric(Metric::new(79, "time stalled", Less).brief("stalled").outside_analysis())]
        stall_s: Option<f64>,
        /// Bitrate of the received video segments. Mean.
        #[metric(Metric::new(85, "video bitrate", More).brief("bitrate").outside_analysis())]
        video_mbps_mean: Option<f64>,
        /// How often the bitrate changed from one segment to the next.
        #[metric(Metric::new(86, "bitrate switches", Less).brief("switches").only(&[Page, Compare, Document, Seeds, Campaign]))]
        bitrate_switches: Option<u64>,
        /// Longest time between the first and the last data in which no new data was in order: at the receiver, by
        /// arrivals; elsewhere, by acknowledgements. Times in which the application had nothing to send count, too.
        #[metric(Metric::new(100, "longest gap", Less).only(&[Page, Compare, Document, Campaign]))]
        longest_gap_ms: Option<f64>,
        /// Start of the longest gap, from the first packet of all captures.
        longest_gap_start_s: Option<f64>,
        /// Number of gaps of 1 s or longer.
        gaps: Option<u32>,
    }
}
