use crate::row::row;
use std::sync::Arc;
use wire::Direction;

row! {
    /// One row per data segment that arrived with new data, from when its data was in order.
    pub struct Reordering {
        /// Number of the connection.
        connection: u32,
        /// Number of the subflow that it arrived over.
        subflow: u32,
        /// Direction of the data.
        direction: Direction,
        /// Time of arrival, Unix time.
        at_ns: i64,
        /// Time of arrival, from the first packet of all captures.
        at_s: f64,
        /// First new byte, counted from the first byte of the connection.
        data_offset_bytes: u64,
        /// Number of new bytes.
        bytes: u32,
        /// Time from arrival until the data was in order at connection level.
        out_of_order_delay_ms: f64,
        /// Capture that holds the segment.
        capture: Arc<str>,
        /// Number of its packet in the capture, from 1.
        record: u64,
    }
}
