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
        /// First SYN of the connection to the last acknowledgement of this direction's data.
        #[metric(Metric::new(30, "transfer time", Less).brief("time").logarithmic().outside_analysis())]
        elapsed_s: Option<f64>,
        /// Bytes delivered / elapsed time.
        #[metric(Metric::new(10, "throughput", More).brief("").logarithmic().outside_analysis())]
        throughput_mbps: Option<f64>,
        /// Mean of the throughput series (start dropped and smoothed as asked).
        throughput_mbps_mean: Option<f64>,
        /// Standard deviation of the same series.
        throughput_mbps_sigma: Option<f64>,
        /// Coefficient of variation: sigma / mean of the same series.
        #[metric(Metric::new(90, "coefficient of variation", Less).brief("CV").only(&[Page, Compare, Document, Campaign]))]
        coefficient_of_variation: Option<f64>,
        /// Bytes sent again under new subflow sequence numbers, on whichever subflow.
        #[metric(Metric::new(80, "reinjected data", Less).brief("reinjected").only(&[Compare, Document, Campaign]))]
        reinjected_bytes: Option<u64>,
        /// Data packets that carried such bytes.
        reinjected_packets: Option<u64>,
        /// Round-trip time samples of all subflows; taken at the sender of the data, empty elsewhere.
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
        /// Data segments counted for the out-of-order delay; taken at the receiver of the data, empty elsewhere.
        reordering_segments: Option<u64>,
        /// Data segments that had to wait for earlier data.
        out_of_order_segments: Option<u64>,
        /// Out-of-order delay: a segment's arrival until its data is in order at connection level; in order counts as 0. Mean.
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
        /// Requests of the client that were answered in this direction (`down`); taken at the client, empty elsewhere.
        responses: Option<u64>,
        /// Response time: the first data of a request leaving until the last of its response is in order. Mean.
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
        /// After so long a message or an answer is late, as the scenario says; empty where it says nothing.
        deadline_ms: Option<f64>,
        /// Part of the messages, or of the answers, that came later than the deadline or never.
        #[metric(Metric::new(73, "late share", Less).brief("late").part().outside_analysis())]
        late_share: Option<f64>,
        /// Messages that the application was to write, where it writes them at even times; taken from both ends.
        messages: Option<u64>,
        /// Delay of messages: from when each was to be written until all of it was in order at the receiver. Mean.
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
        /// Transmission rating R of a call whose frames are the messages, heard at the deadline (E-model, ITU-T G.107): 93.2 at best.
        r_factor: Option<f64>,
        /// What listeners think of that call, from 1 to 4.5 (mean opinion score, ITU-T G.107 Annex B).
        #[metric(Metric::new(76, "opinion of the call (MOS)", More).brief("MOS").outside_analysis())]
        mos: Option<f64>,
        /// Segments of a video that came; taken at the player, empty elsewhere.
        video_segments: Option<u64>,
        /// From the first packet of the connection until the video began to play.
        #[metric(Metric::new(77, "start-up delay", Less).brief("start-up").logarithmic().outside_analysis())]
        startup_ms: Option<f64>,
        /// How often the video stood still for want of data after it had begun.
        #[metric(Metric::new(78, "stalls", Less).outside_analysis())]
        stalls: Option<u64>,
        /// How long, all together.
        #[metric(Metric::new(79, "time stalled", Less).brief("stalled").outside_analysis())]
        stall_s: Option<f64>,
        /// Bitrate of the video's segments. Mean.
        #[metric(Metric::new(85, "video bitrate", More).brief("bitrate").outside_analysis())]
        video_mbps_mean: Option<f64>,
        /// How often a segment had another bitrate than the one before.
        #[metric(Metric::new(86, "bitrate switches", Less).brief("switches").only(&[Page, Compare, Document, Seeds, Campaign]))]
        bitrate_switches: Option<u64>,
        /// Longest time in which nothing new was in order, between the first and the last data: at the receiver as it came, elsewhere
        /// as it was acknowledged. Times in which the application had nothing to send count.
        #[metric(Metric::new(100, "longest gap", Less).only(&[Page, Compare, Document, Campaign]))]
        longest_gap_ms: Option<f64>,
        /// When the longest gap began, from the first packet of all captures.
        longest_gap_start_s: Option<f64>,
        /// Such times of 1 s and longer.
        gaps: Option<u32>,
    }
}
