use crate::row::row;
use std::{borrow::Cow, sync::Arc};
use wire::Direction;

row! {
    /// One row per finding: what went wrong, why, and what it cost.
    pub struct Finding {
        /// Number of the connection.
        connection: u32,
        /// Number of the subflow; empty for findings about the connection.
        subflow: Option<u32>,
        /// Direction of the data that was held up; empty for both.
        direction: Option<Direction>,
        /// What was found: see the page on findings.
        kind: Cow<'static, str>,
        /// When it began, from the first packet of all captures.
        from_s: f64,
        /// When it ended.
        to_s: f64,
        /// Time that the transfer lost because of it; empty if unknown, for example if it limited even the best rate.
        /// The costs of all findings of a transfer add up to at most the time that it lost.
        cost_s: Option<f64>,
        /// Whether it lost more, and the captures do not show how much: a path was away before it had shown its rate.
        cost_is_minimum: bool,
        /// Additional throughput of the transfer without that loss of time.
        cost_mbps: Option<f64>,
        /// Confidence, 0 to 1: 0.9 if packets show the cause; 0.6 if they only rule out other common causes, or if the
        /// capture missed some.
        confidence: f64,
        /// The finding in plain words.
        message: Cow<'static, str>,
        /// What supports it, in words and numbers.
        evidence: String,
        /// What would help, in words or as a setting.
        remedy: Cow<'static, str>,
        /// Whether no host can do anything about it: no setting is a remedy.
        beyond_hosts: bool,
        /// Display filter of Wireshark that shows the packets.
        filter: String,
        /// Capture with the first packet that shows it; empty if no single packet does.
        capture: Option<Arc<str>>,
        /// Number of that packet in the capture, from 1.
        record: Option<u64>,
    }
}
