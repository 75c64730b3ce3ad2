use crate::row::row;
use std::borrow::Cow;

row! {
    /// One row per probe of a path: what stands between two hosts. No analysis has rows; `mptcplab probe` does.
    pub struct Probe {
        /// The interface or the address of this host that was probed; empty: the default route.
        path: Option<String>,
        /// What was tried: see the page on probes.
        probe: Cow<'static, str>,
        /// `clear`, `altered`, `blocked`, or `unknown`: the evidence is one-sided.
        verdict: Cow<'static, str>,
        /// What was sent.
        sent: String,
        /// What arrived of it.
        arrived: String,
        /// What the verdict rests on.
        evidence: String,
        /// Time at which the verdict was reached, Unix time.
        at_ns: i64,
    }
}
