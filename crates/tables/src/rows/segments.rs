use crate::row::row;
use std::sync::Arc;
use wire::Direction;

row! {
    /// One row per packet with data, as seen at the data sender, or elsewhere if there is no capture from there.
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
        /// First byte, counted from the first byte of the connection; empty if no mapping is known. Negative for data
        /// before the first byte captured, if the capture started after the connection.
        data_offset_bytes: Option<i64>,
        /// First byte, counted from the first byte of the subflow, or from the first byte captured if its SYN was not.
        subflow_offset_bytes: i64,
        /// Payload bytes.
        bytes: u32,
        /// `new`; `retransmission`: some of its bytes had passed on this subflow before; `reinjection`: some had passed
        /// only under other sequence numbers, mostly on another subflow; `probe`: one byte into a closed window. Empty
        /// for a packet that fills a gap, except at the sender: it may be late, or the first copy was lost before the
        /// capture point.
        kind: Option<&'static str>,
        /// Payload bytes that had already passed on this subflow (not counting those of probes).
        retransmitted_bytes: u32,
        /// Payload bytes under new subflow sequence numbers that had already passed under others.
        reinjected_bytes: u32,
        /// Capture that holds the packet.
        capture: Arc<str>,
        /// Number of the packet in the capture, from 1.
        record: u64,
    }
}
