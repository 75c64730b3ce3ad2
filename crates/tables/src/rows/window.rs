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
        /// Bytes in flight on the subflow after the packet (sent and not yet acknowledged). Measured at the data
        /// sender; empty elsewhere.
        in_flight_bytes: Option<u64>,
        /// Receive window last announced by the data receiver; empty before the first announcement.
        window_bytes: Option<u64>,
        /// Capture that holds the packet.
        capture: Arc<str>,
        /// Number of the packet in the capture, from 1.
        record: u64,
    }
}
