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
        /// `mptcp`, also where the connection fell back later, or `tcp`.
        protocol: &'static str,
        /// Version of MPTCP in use; empty for plain TCP, and where the capture began later than the connection.
        mptcp_version: Option<u8>,
        /// Token of the client: the hash of its key (RFC 8684 §3.2).
        client_token: Option<u32>,
        /// Token of the server: the hash of its key.
        server_token: Option<u32>,
        /// Time of the first packet, Unix time.
        start_ns: i64,
        /// Time of the first packet, from the first packet of all captures.
        start_s: f64,
        /// First packet to the last one; `elapsed_s` of the transfers is the time of the data.
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
        /// How sure the vantage is, 0.6 to 1: share of the evidence in the whole capture that agrees, by the rule of succession: n handshakes that all agree give (9n + 1)/(9n + 2).
        vantage_confidence: Option<f64>,
        /// How many handshakes, acknowledgements, or packets of which the capture says which way they went, say so.
        vantage_samples: Option<u64>,
    }
}
