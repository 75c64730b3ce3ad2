//! What can be seen of a connection at an instant.

use crate::scheduler::PathView;
use std::net::SocketAddr;

/// What can be seen of a connection, for the `state` table.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Whether it speaks MPTCP; a connection that fell back does not.
    pub mptcp: bool,
    /// Bytes written by the application and not yet acknowledged at connection level.
    pub unacknowledged_bytes: u64,
    /// The peer's window in bytes.
    pub peer_window_bytes: u64,
    /// Bytes that this end's receive buffer holds out of order.
    pub out_of_order_bytes: u64,
    /// The receive buffer.
    pub receive_buffer_bytes: u64,
    /// Bytes that came and were not the pattern they should have been.
    pub corrupt_bytes: u64,
    /// Every subflow.
    pub subflows: Vec<SubflowSnapshot>,
}

/// What can be seen of a subflow.
#[derive(Clone, Debug, PartialEq)]
pub struct SubflowSnapshot {
    /// Local end.
    pub local: SocketAddr,
    /// Remote end.
    pub remote: SocketAddr,
    /// What the scheduler sees; none unless it is established.
    pub path: Option<PathView>,
    /// Retransmission time-out with its back-off.
    pub timeout_ns: i64,
    /// Retransmission time-outs in a row.
    pub backoffs: u32,
    /// Segments that were sent again so far.
    pub retransmitted_packets: u64,
    /// Bytes that the scheduler gave it so far.
    pub scheduled_bytes: u64,
}
