use crate::row::row;
use std::{borrow::Cow, net::IpAddr};

row! {
    /// One row per event that a kernel told its path managers, and per decision of a guard. Of the former, runs with the kernel have rows.
    pub struct Signal {
        /// Number of the connection; empty where none of that token was captured.
        connection: Option<u32>,
        /// Number of the subflow, where the event is about one that was captured.
        subflow: Option<u32>,
        /// Whose kernel it was: `client` or `server`.
        host: Cow<'static, str>,
        /// Time at which it was heard of, Unix time.
        at_ns: i64,
        /// Time, from the first packet of all captures.
        at_s: f64,
        /// What happened: `created`, `established`, `closed` (the connection), `announced`, `removed` (an address of the peer), `subflow-established`, `subflow-closed`, `subflow-priority`, `listener-created`, `listener-closed`, or `other` and its number; of the path of an address the guard found `guard-suspect`, `guard-cleared`, `guard-suspended`, `guard-resumed`.
        signal: Cow<'static, str>,
        /// Token by which the host knows the connection.
        token: Option<u32>,
        /// Address identifier of the host's own address.
        local_address_id: Option<u8>,
        /// Address identifier of the peer's address.
        remote_address_id: Option<u8>,
        /// Address of the host.
        local_address: Option<IpAddr>,
        /// Its port.
        local_port: Option<u16>,
        /// Address of the peer.
        remote_address: Option<IpAddr>,
        /// Its port.
        remote_port: Option<u16>,
        /// Whether the subflow is to be used only when no other is.
        backup: Option<bool>,
        /// What ended the subflow, in words.
        error: Option<Cow<'static, str>>,
        /// Reason code of MP_TCPRST (RFC 8684 §3.6), in words.
        reset_reason: Option<Cow<'static, str>>,
        /// What a guard decided on, in words.
        evidence: Option<Cow<'static, str>>,
    }
}
