use crate::row::row;
use std::{borrow::Cow, net::IpAddr};

row! {
    /// One row per event that a kernel reported to path managers, and per decision of a guard or a policy. Only runs with the
    /// kernel have events of kernels.
    pub struct Signal {
        /// Number of the connection; empty if no connection with that token was captured.
        connection: Option<u32>,
        /// Number of the subflow, if the event is about a captured one.
        subflow: Option<u32>,
        /// Host whose kernel reported it: `client` or `server`.
        host: Cow<'static, str>,
        /// Time at which the event was received, Unix time.
        at_ns: i64,
        /// Time, from the first packet of all captures.
        at_s: f64,
        /// What happened: `created`, `established`, `closed` (the connection); `announced`, `removed` (an address of
        /// the peer); `subflow-established`, `subflow-closed`, `subflow-priority`; `listener-created`,
        /// `listener-closed`; `other` and a number; or a decision of the guard about the path of an address:
        /// `guard-suspect`, `guard-cleared`, `guard-suspended`, `guard-resumed`; or of a policy: `path-opened`,
        /// `path-closed`, `path-backup`, `path-spent`.
        signal: Cow<'static, str>,
        /// Token of the connection at this host.
        token: Option<u32>,
        /// Address identifier of the host's address.
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
        /// Whether the subflow is a backup.
        backup: Option<bool>,
        /// Why the subflow ended, in words.
        error: Option<Cow<'static, str>>,
        /// Reason code of MP_TCPRST (RFC 8684 §3.6), in words.
        reset_reason: Option<Cow<'static, str>>,
        /// Reason of a guard's or a policy's decision, in words.
        evidence: Option<Cow<'static, str>>,
    }
}
