use std::io;

/// What the machine refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A device could not be used.
    #[error("{device}: cannot {attempt}: {source}")]
    Device {
        /// Its name.
        device: String,
        /// What was tried.
        attempt: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// Waiting for packets failed.
    #[error("cannot wait for packets: {0}")]
    Wait(io::Error),
}
