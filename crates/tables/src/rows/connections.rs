use crate::row::row;
use std::net::IpAddr;

row! {
    /// One row per connection: an MPTCP connection with all its subflows, or a plain TCP connection.
    pub struct Connection {
        /// Number of the connection, from 0, ordered by its first packet's time and 4-tuple.
        connection: u32,
        /// Address of the client (who sent the first SYN) on the first subflow.
        client_address: Option<IpAddr>,
        /// Port of the client on the first subflow.
        client_port: u16,
        /// Address of the server on the first subflow.
        server_address: Option<IpAddr>,
        /// Port of the server on the first subflow.
        server_port: u16,
        /// Version of MPTCP in use, also where the connection fell back later; empty for plain TCP.
        mptcp_version: Option<u8>,
        /// Token of the client: the hash of its key (RFC 8684 §3.2).
        client_token: Option<u32>,
        /// Token of the server: the hash of its key.
        server_token: Option<u32>,
        /// Time of the first packet, Unix time.
        start_ns: i64,
        /// Time of the first packet, from the first packet of all captures.
        start_s: f64,
        /// First SYN to the last acknowledgement of data in either direction (DATA_ACK; plain TCP: ACK).
        duration_s: Option<f64>,
        /// Subflows, also those that never got through.
        subflows: u32,
        /// How it began: `handshake`, or `midway` where the capture started later.
        began: &'static str,
        /// Why it went on as plain TCP; empty where it did not.
        fallback: Option<&'static str>,
        /// How it ended: `closed` (both sides finished), `half-closed`, `fastclose`, `reset`, or `open` where the capture ended first.
        ended: &'static str,
        /// Whether DSS checksums were in use.
        checksums: Option<bool>,
        /// End at which the packets were captured: `client`, `server`, `both`; empty where it cannot be told.
        vantage: Option<&'static str>,
        /// How sure the vantage is, 0.5 (a guess) to 1: share of the handshakes' round-trip time on the side that the vantage says.
        vantage_confidence: Option<f64>,
    }
}
