use crate::row::row;
use std::sync::Arc;

row! {
    /// One row per request that was answered. A request is what the client sends until data arrives; its response is
    /// what arrives until the client sends again.
    pub struct Response {
        /// Number of the connection.
        connection: u32,
        /// Time at which the request's first data was sent by the client, Unix time.
        at_ns: i64,
        /// The same, from the first packet of all captures.
        at_s: f64,
        /// Bytes of the request.
        request_bytes: u64,
        /// Bytes of the response that arrived in order.
        response_bytes: u64,
        /// Time from the request's first data to the first data of the response in order; with QUIC, when the application
        /// was given them.
        first_data_ms: f64,
        /// Time from the request's first data to the last data of the response in order.
        response_time_ms: f64,
        /// Capture that holds the first segment of the request; empty with QUIC.
        capture: Option<Arc<str>>,
        /// Number of its packet in the capture, from 1.
        record: Option<u64>,
    }
}
