use crate::row::row;
use std::net::IpAddr;

row! {
    /// One row per connection: an MPTCP connection with all its subflows, a plain TCP connection, a QUIC connection with
    /// all its paths, or the UDP datagrams of one 5-tuple.
    pub struct Connection {
        /// Number of the connection, from 0. Connections are ordered by the time of their first packet, then by
        /// 4-tuple, those of TCP before those of UDP.
        connection: u32,
        /// Address of the client (who sent the first SYN, or datagram) on the first subflow.
        client_address: Option<IpAddr>,
        /// Port of the client on the first subflow. Empty where a file of another tool does not say it, as are other
        /// columns that captures always fill.
        #[empty(ELSEWHERE)]
        client_port: u16,
        /// Address of the server on the first subflow.
        server_address: Option<IpAddr>,
        /// Port of the server on the first subflow.
        #[empty(ELSEWHERE)]
        server_port: u16,
        /// `mptcp`, also if the connection fell back to TCP later, `tcp`, `quic`, or `udp`: any other datagrams of one
        /// 5-tuple. From files of other tools also `unknown`.
        protocol: &'static str,
        /// MPTCP version in use. Empty for plain TCP, and if the capture started after the connection.
        mptcp_version: Option<u8>,
        /// Token of the client: the hash of its key (RFC 8684 §3.2).
        client_token: Option<u32>,
        /// Token of the server: the hash of its key.
        server_token: Option<u32>,
        /// QUIC version in use: 1, 1798521807 for version 2, or another number. Empty for other protocols.
        quic_version: Option<u32>,
        /// Connection ID that the QUIC client gave itself, in hexadecimal; it may be of no bytes.
        client_connection_id: Option<String>,
        /// Connection ID that the QUIC server gave itself first.
        server_connection_id: Option<String>,
        /// Time of the first packet, Unix time.
        start_ns: i64,
        /// Time of the first packet, from the first packet of all captures.
        start_s: f64,
        /// Time from the first packet to the last. (`elapsed_s` in `transfers` is the time of the data.)
        duration_s: Option<f64>,
        /// Number of subflows, including failed ones. With QUIC, of paths.
        subflows: u32,
        /// How the connection began: `handshake`, or `midway` if the capture started later; `unknown` for UDP,
        /// and in files of other tools.
        began: &'static str,
        /// Why the connection fell back to plain TCP; empty if it did not.
        fallback: Option<&'static str>,
        /// How the connection ended: `closed` (both sides finished), `half-closed`, `fastclose`, `reset`, or `open` if
        /// the capture ended first; `unknown` for datagrams, which do not tell.
        ended: &'static str,
        /// Whether DSS checksums were in use.
        checksums: Option<bool>,
        /// End at which the packets were captured: `client`, `server` or `both`; empty if unknown.
        vantage: Option<&'static str>,
        /// Confidence in the vantage, 0.6 to 1: the share of evidence in the whole capture that supports it, by the
        /// rule of succession. n handshakes that all agree give (9n + 1)/(9n + 2).
        vantage_confidence: Option<f64>,
        /// Number of handshakes, acknowledgements, and packets with a direction recorded in the capture, that support
        /// it.
        vantage_samples: Option<u64>,
        /// Tool whose file says all this, such as `iperf3` or `qlog`; empty for captures and runs.
        source: Option<String>,
    }
}
