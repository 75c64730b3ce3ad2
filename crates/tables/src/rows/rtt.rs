use crate::row::row;
use std::sync::Arc;
use wire::Direction;

row! {
    /// One row per round-trip time sample: a data segment and the first acknowledgement of exactly its end.
    /// From files of other tools: what the tool takes for one.
    pub struct Rtt {
        /// Number of the connection.
        connection: u32,
        /// Number of the subflow.
        subflow: u32,
        /// Direction of the data.
        direction: Direction,
        /// Time of the acknowledgement, Unix time.
        at_ns: i64,
        /// Time of the acknowledgement, from the first packet of all captures.
        at_s: f64,
        /// Round-trip time.
        rtt_ms: f64,
        /// Capture that holds the acknowledgement.
        capture: Arc<str>,
        /// Number of its packet in the capture, from 1.
        record: u64,
    }
}
