use crate::row::row;
use std::{borrow::Cow, sync::Arc};

row! {
    /// One row per remark about what limits trust in the figures.
    pub struct Diagnostic {
        /// Number of the connection; empty for a remark about a capture.
        connection: Option<u32>,
        /// Number of the subflow; empty for a remark about the connection or a capture.
        subflow: Option<u32>,
        /// Capture, where it is about one.
        capture: Option<Arc<str>>,
        /// What it is about: see the list of diagnostics in the reference.
        diagnostic: &'static str,
        /// How often, or how many packets or bytes.
        count: Option<u64>,
        /// In words, with what to do about it.
        message: Cow<'static, str>,
    }
}
