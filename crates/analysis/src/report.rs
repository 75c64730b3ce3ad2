//! What is known of a finished connection, as rows.

use crate::timeline::Timeline;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;
use tables::Diagnostic;
use wire::Time;

/// What connections are ordered by: those of TCP come before those of datagrams.
pub(crate) type Order = (bool, Time, SocketAddr, SocketAddr);

/// A finished connection. Connection and subflow numbers are given at the very end.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) order: Option<Order>,
    pub(crate) connection: tables::Connection,
    pub(crate) transfers: [tables::Transfer; 2],
    pub(crate) subflows: Vec<tables::Subflow>,
    pub(crate) flows: Vec<[tables::Flow; 2]>,
    pub(crate) throughput: Vec<tables::Throughput>,
    pub(crate) distributions: Vec<tables::Distribution>,
    pub(crate) segments: Vec<tables::Segment>,
    pub(crate) rtt: Vec<tables::Rtt>,
    pub(crate) reordering: Vec<tables::Reordering>,
    pub(crate) responses: Vec<tables::Response>,
    pub(crate) window: Vec<tables::Window>,
    pub(crate) events: Vec<tables::Event>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) findings: Vec<tables::Finding>,
    /// What each end saw of an application whose messages have their time.
    pub(crate) served: crate::quality::Served,
    /// First SYN to the last acknowledgement of data, per direction.
    pub(crate) elapsed_nanos: [Option<i64>; 2],
    /// Bytes that the receiver's capture shows, per subflow and direction.
    pub(crate) arrived_bytes: Vec<[u64; 2]>,
    /// Per subflow: the capture and the packet that answered its SYN, a SYN/ACK or a reset.
    pub(crate) answers: Vec<Option<(Arc<str>, u64)>>,
    /// Per subflow: whether its SYN was answered from an older connection of the same ports.
    pub(crate) challenged: Vec<bool>,
    /// How far the server's clock is ahead of the client's, where that is more than its estimate errs; and which events are by it.
    pub(crate) server_ahead_nanos: i64,
    pub(crate) server_events: Range<usize>,
    /// What passed in short times, of each direction at its sender and at its receiver, where these were captured.
    pub(crate) senders: [Option<Box<Timeline>>; 2],
    pub(crate) receivers: [Option<Box<Timeline>>; 2],
}

impl Report {
    /// Says that throughput series are not written out.
    pub(crate) fn leave_out_throughput(&mut self, rows: u64) {
        self.diagnostics.push(Diagnostic {
            diagnostic: "throughput_left_out",
            count: Some(rows),
            message: "the throughput series would have too many bins; choose longer ones".into(),
            ..Diagnostic::default()
        });
    }

    /// Says that distributions are not written out.
    pub(crate) fn leave_out_distributions(&mut self) {
        self.diagnostics.push(Diagnostic {
            diagnostic: "distributions_left_out",
            count: Some(std::mem::take(&mut self.distributions).len() as u64),
            message: "the distributions of so many connections are not kept; their means and quantiles are".into(),
            ..Diagnostic::default()
        });
    }
}

/// Bytes in a time as Mbit/s.
pub(crate) fn mbps(bytes: u64, nanos: i64) -> Option<f64> {
    (nanos > 0).then(|| bytes as f64 * 8e3 / nanos as f64)
}
