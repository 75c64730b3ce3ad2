use crate::row::row;
use std::net::IpAddr;

row! {
    /// One row per subflow (for plain TCP: the connection's only one).
    pub struct Subflow {
        /// Number of the connection.
        connection: u32,
        /// Number of the subflow in its connection, from 0, ordered by its first packet's time and 4-tuple.
        subflow: u32,
        /// Name of the path: the client's interface where the capture names it.
        path: Option<String>,
        /// Address of the connection's client.
        client_address: Option<IpAddr>,
        /// Its port.
        client_port: u16,
        /// Address of the connection's server.
        server_address: Option<IpAddr>,
        /// Its port.
        server_port: u16,
        /// `initial` (MP_CAPABLE), `join` (MP_JOIN), `tcp`, or `unknown` where its handshake is not in the capture.
        kind: &'static str,
        /// Which side asked for it: `client` or `server` of the connection.
        opened_by: Option<&'static str>,
        /// Address identifier that the client's side gave in MP_JOIN.
        client_address_id: Option<u8>,
        /// Address identifier that the server's side gave in MP_JOIN.
        server_address_id: Option<u8>,
        /// Time of the first packet, from the first packet of all captures.
        start_s: f64,
        /// First packet of the connection to the handshake's end on this subflow.
        #[metric(Metric::new(110, "joined after", Less).brief("joined").only(&[Page, Compare, Document]))]
        join_time_ms: Option<f64>,
        /// How the handshake ended: `established`, `refused` (reset), `unanswered`, `unfinished` (the third packet, or of a join its
        /// confirmation, did not come), `pending` (a join that was less than 1 s old when the connection or the capture ended), `unseen`, or
        /// `stray`: none, packets under addresses that the other side did not know and reset.
        handshake: &'static str,
        /// Why a join failed or is pending, or a subflow is plain TCP, in words.
        handshake_remark: Option<&'static str>,
        /// SYN to SYN/ACK at the opener's end, SYN/ACK to ACK at the other; no sample if the first was sent twice.
        #[metric(Metric::new(100, "handshake RTT", Less).only(&[Page, Compare, Document]))]
        handshake_rtt_ms: Option<f64>,
        /// Whether the HMACs of the join were right; empty where keys or HMACs were not seen.
        hmac_valid: Option<bool>,
        /// Asked to be used as backup only, at the handshake or later by MP_PRIO.
        backup: bool,
        /// Maximum segment size that the client announced.
        client_mss_bytes: Option<u16>,
        /// Maximum segment size that the server announced.
        server_mss_bytes: Option<u16>,
        /// Window scale shift of the client.
        client_window_scale: Option<u8>,
        /// Window scale shift of the server.
        server_window_scale: Option<u8>,
        /// Whether both sides agreed on ECN (RFC 3168) in SYN and SYN/ACK; empty where either was not seen.
        ecn: Option<bool>,
        /// How it ended: `fin` (both directions), `half-closed`, `reset`, or `open`.
        ended: &'static str,
        /// Reason code of MP_TCPRST (RFC 8684 §3.6), in words.
        reset_reason: Option<&'static str>,
        /// Time of the last packet, from the first packet of all captures.
        end_s: f64,
    }
}
