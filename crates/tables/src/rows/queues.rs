use crate::row::row;
use std::sync::Arc;
use wire::Direction;

row! {
    /// One row per sample of a queue on a link. Only simulations have them.
    pub struct Queue {
        /// Name of the link.
        link: Arc<str>,
        /// `up`: client to server, `down`: server to client.
        direction: Direction,
        /// Element with the queue: its index on the link, from 0, and its name, as in `0:rate`.
        element: Arc<str>,
        /// Time, Unix time.
        at_ns: i64,
        /// Time, from the first packet of all captures.
        at_s: f64,
        /// Bytes waiting, not counting the packet being sent.
        queued_bytes: u64,
        /// Packets waiting, not counting the one being sent.
        queued_packets: u64,
        /// Queueing delay of the last packet that left.
        queue_delay_ms: f64,
        /// Packets marked instead of dropped so far (ECN, RFC 3168).
        marked_packets: u64,
    }
}
