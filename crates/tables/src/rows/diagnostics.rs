use crate::row::row;
use std::{borrow::Cow, sync::Arc};

row! {
    /// One row per remark that limits trust in the numbers.
    pub struct Diagnostic {
        /// Number of the connection; empty for remarks about a capture.
        connection: Option<u32>,
        /// Number of the subflow; empty for remarks about a connection or a capture.
        subflow: Option<u32>,
        /// Capture, if the remark is about one.
        capture: Option<Arc<str>>,
        /// Code of the diagnostic: see the page on diagnostics.
        diagnostic: &'static str,
        /// How often it occurred, or how many packets or bytes it concerns.
        count: Option<u64>,
        /// Explanation, and what to do about it.
        message: Cow<'static, str>,
    }
}
