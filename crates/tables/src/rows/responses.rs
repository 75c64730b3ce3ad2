use crate::row::row;
use std::sync::Arc;

row! {
    /// One row per request that was answered: what the client sent until data came, and what came until it sent again.
    pub struct Response {
        /// Number of the connection.
        connection: u32,
        /// Time at which the request's first data left the client, Unix time.
        at_ns: i64,
        /// The same, from the first packet of all captures.
        at_s: f64,
        /// Bytes that the client sent.
        request_bytes: u64,
        /// Bytes that came in order in answer.
        response_bytes: u64,
        /// The request's first data until the response's first was in order.
        first_data_ms: f64,
        /// The request's first data until the response's last was in order.
        response_time_ms: f64,
        /// Capture that holds the first segment of the request.
        capture: Arc<str>,
        /// Number of its packet in the capture, from 1.
        record: u64,
    }
}
