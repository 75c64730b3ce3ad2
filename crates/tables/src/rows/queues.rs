use crate::row::row;
use std::sync::Arc;
use wire::Direction;

row! {
    /// One row per sample of a queue on the way. Simulations fill it.
    pub struct Queue {
        /// Name of the link.
        link: Arc<str>,
        /// `up`: client to server, `down`: server to client.
        direction: Direction,
        /// The element that queues: its index on the link, from 0, and its name, as `0:rate`.
        element: Arc<str>,
        /// Time, Unix time.
        at_ns: i64,
        /// Time, from the first packet of all captures.
        at_s: f64,
        /// Bytes that wait, without the packet that is being sent.
        queued_bytes: u64,
        /// Packets that wait, without the one that is being sent.
        queued_packets: u64,
        /// How long the packet that left the queue last had waited in it.
        queue_delay_ms: f64,
        /// Packets so far that it marked rather than dropped (ECN, RFC 3168).
        marked_packets: u64,
    }
}
