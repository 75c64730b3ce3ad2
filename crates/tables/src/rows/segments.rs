use crate::row::row;
use std::sync::Arc;
use wire::Direction;

row! {
    /// One row per packet with data, as it passed the sender of the data; where no capture was taken there, as it passed another place.
    pub struct Segment {
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
        /// First byte, counted from the connection's first byte; empty where no mapping tells. Below 0 where the capture began later than the connection and earlier data came after later data.
        data_offset_bytes: Option<i64>,
        /// First byte, counted from the subflow's first byte; where its SYN is not in the capture, from the first byte that is.
        subflow_offset_bytes: i64,
        /// Payload.
        bytes: u32,
        /// `new`; `retransmission`: some of its bytes had passed on this subflow before; `reinjection`: some had passed only under other sequence numbers, mostly on another subflow; `probe`: one byte into a closed window. Empty for what fills a gap elsewhere than at the sender: it came late, or the first copy was lost before the capture.
        kind: Option<&'static str>,
        /// Of the payload, bytes that had passed on this subflow before (a probe's do not count).
        retransmitted_bytes: u32,
        /// Of the payload, bytes under new subflow sequence numbers that had passed under others.
        reinjected_bytes: u32,
        /// Capture that holds the packet.
        capture: Arc<str>,
        /// Number of the packet in the capture, from 1.
        record: u64,
    }
}
