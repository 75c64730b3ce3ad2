use crate::row::row;
use std::net::IpAddr;

row! {
    /// One row per subflow. A plain TCP connection has one; a QUIC connection has one per path, UDP one per 5-tuple.
    pub struct Subflow {
        /// Number of the connection.
        connection: u32,
        /// Number of the subflow in its connection, from 0. Subflows are ordered by the time of their first packet,
        /// then by 4-tuple.
        subflow: u32,
        /// Name of the path: the client's interface, if the capture names it.
        path: Option<String>,
        /// Address of the connection's client.
        client_address: Option<IpAddr>,
        /// Its port.
        #[empty(ELSEWHERE)]
        client_port: u16,
        /// Address of the connection's server.
        server_address: Option<IpAddr>,
        /// Its port.
        #[empty(ELSEWHERE)]
        server_port: u16,
        /// `initial` (MP_CAPABLE), `join` (MP_JOIN), `tcp`, `udp`, `quic` (a path), or `unknown` if its handshake was not
        /// captured.
        kind: &'static str,
        /// Side that opened it: `client` or `server` of the connection.
        opened_by: Option<&'static str>,
        /// Address identifier of the client in MP_JOIN.
        client_address_id: Option<u8>,
        /// Address identifier of the server in MP_JOIN.
        server_address_id: Option<u8>,
        /// Time of the first packet, from the first packet of all captures.
        start_s: f64,
        /// Time from the first packet of the connection to the end of this subflow's handshake.
        #[metric(Metric::new(110, "joined after", Less).brief("joined").only(&[Page, Compare, Document]))]
        join_time_ms: Option<f64>,
        /// How the handshake ended: `established`; `refused` (reset); `unanswered`; `unfinished` (the third packet, or
        /// the confirmation of a join, is missing); `pending` (a join less than 1 s before the end of the connection or
        /// capture); `unseen`; or `stray`: there was no handshake, only packets from addresses that the other side did
        /// not know and reset.
        handshake: &'static str,
        /// Why a join failed or is pending, or why the subflow is plain TCP, in words.
        handshake_remark: Option<&'static str>,
        /// Time from SYN to SYN/ACK at the end that opened the subflow, or from SYN/ACK to ACK at the other end. Empty
        /// if the first of the two was sent more than once.
        #[metric(Metric::new(100, "handshake RTT", Less).only(&[Page, Compare, Document]))]
        handshake_rtt_ms: Option<f64>,
        /// Whether the HMACs of the join were correct; empty if the keys or HMACs were not captured.
        hmac_valid: Option<bool>,
        /// Whether it was marked as a backup, in the handshake or later by MP_PRIO.
        backup: bool,
        /// Maximum segment size that the client announced.
        client_mss_bytes: Option<u16>,
        /// Maximum segment size that the server announced.
        server_mss_bytes: Option<u16>,
        /// Window scale shift of the client.
        client_window_scale: Option<u8>,
        /// Window scale shift of the server.
        server_window_scale: Option<u8>,
        /// Whether both sides negotiated ECN (RFC 3168); empty if the SYN or the SYN/ACK was not captured.
        ecn: Option<bool>,
        /// How the subflow ended: `fin` (both directions), `half-closed`, `reset`, `open`, or `unknown` (datagrams).
        ended: &'static str,
        /// Reason code of MP_TCPRST (RFC 8684 §3.6), in words.
        reset_reason: Option<&'static str>,
        /// Time of the last packet, from the first packet of all captures.
        end_s: f64,
    }
}
