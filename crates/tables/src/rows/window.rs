use crate::row::row;
use std::sync::Arc;
use wire::Direction;

row! {
    /// One row per packet that changed the data in flight or the window.
    pub struct Window {
        /// Number of the connection.
        connection: u32,
        /// Number of the subflow.
        subflow: u32,
        /// Direction of the data.
        direction: Direction,
        /// Time, Unix time.
        at_ns: i64,
        /// Time, from the first packet of all captures.
        at_s: f64,
        /// Bytes sent and not yet acknowledged on the subflow, after the packet; at the sender of the data, empty elsewhere.
        in_flight_bytes: Option<u64>,
        /// Receive window that the receiver of the data announced last; empty before it did.
        window_bytes: Option<u64>,
        /// Capture that holds the packet.
        capture: Arc<str>,
        /// Number of the packet in the capture, from 1.
        record: u64,
    }
}
