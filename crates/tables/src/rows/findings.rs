use crate::row::row;
use std::{borrow::Cow, sync::Arc};
use wire::Direction;

row! {
    /// One row per finding: what was wrong, why, and what it cost.
    pub struct Finding {
        /// Number of the connection.
        connection: u32,
        /// Number of the subflow that it is about; empty where it is about the connection.
        subflow: Option<u32>,
        /// Direction of the data that it held up; empty where it is about both.
        direction: Option<Direction>,
        /// What was found: see the page on findings.
        kind: Cow<'static, str>,
        /// When it began, from the first packet of all captures.
        from_s: f64,
        /// When it ended.
        to_s: f64,
        /// Time that the transfer lost by it; empty where nothing tells, as where even the best rate was limited by it. The costs of a transfer never add up to more than it lost.
        cost_s: Option<f64>,
        /// Throughput that the transfer would have had more without that time.
        cost_mbps: Option<f64>,
        /// How sure it is, 0 to 1: 0.9 where packets show the cause, 0.6 where they allow no other common one, or where the capture
        /// dropped some.
        confidence: f64,
        /// In plain words.
        message: Cow<'static, str>,
        /// The figures that it rests on, and the tables that hold them.
        evidence: String,
        /// What would help, in words or as a setting.
        remedy: Cow<'static, str>,
        /// Display filter of Wireshark that shows the packets.
        filter: String,
        /// Capture that holds the packet of the first event of it in the span (table `events`); empty where there is none.
        capture: Option<Arc<str>>,
        /// Number of that packet in the capture, from 1.
        record: Option<u64>,
    }
}
