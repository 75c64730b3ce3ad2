use crate::row::row;
use std::borrow::Cow;

row! {
    /// One row per test of a path for middleboxes between two hosts. `mptcplab probe` writes them; analyses have none.
    pub struct Probe {
        /// Interface or address of this host that was probed; empty for the default route.
        path: Option<String>,
        /// What was tested: see the page on probes.
        probe: Cow<'static, str>,
        /// `clear`, `altered`, `blocked`, or `unknown` if there is evidence from one side only.
        verdict: Cow<'static, str>,
        /// What was sent.
        sent: String,
        /// What arrived.
        arrived: String,
        /// Evidence for the verdict.
        evidence: String,
        /// Time at which the verdict was reached, Unix time.
        at_ns: i64,
    }
}
