use crate::row::row;
use std::borrow::Cow;

row! {
    /// One row per host and counter of its kernel. Runs with the kernel fill it.
    pub struct Counter {
        /// Whose kernel it was: `client` or `server`.
        host: Cow<'static, str>,
        /// Name, as `nstat` gives it: `MPTcpExt`, `TcpExt` or `Tcp`, and what is counted.
        counter: Cow<'static, str>,
        /// Value before the run.
        before: i64,
        /// Value after it.
        after: i64,
    }
}
