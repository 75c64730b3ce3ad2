use crate::row::row;
use std::borrow::Cow;

row! {
    /// One row per host and counter of its kernel. Only runs with the kernel have them.
    pub struct Counter {
        /// Host whose kernel reported it: `client` or `server`.
        host: Cow<'static, str>,
        /// Name of the counter as `nstat` prints it, with the prefix `MPTcpExt`, `TcpExt` or `Tcp`.
        counter: Cow<'static, str>,
        /// Value before the run.
        before: i64,
        /// Value after the run.
        after: i64,
    }
}
