use std::io;
use std::path::PathBuf;

/// What the machine refused, or a scenario cannot be.
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
    /// A namespace could not be made or entered.
    #[error("cannot {attempt}: {source}")]
    Namespace {
        /// What was tried.
        attempt: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// A thread could not be started.
    #[error("cannot start a thread: {0}")]
    Thread(io::Error),
    /// A record could not be written.
    #[error("{}: cannot write it: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The scenario cannot be run.
    #[error(transparent)]
    Scenario(#[from] scenario::Error),
    /// A port does not belong to the scenario, or one that it needs is missing.
    #[error("port {port}: {fault}")]
    Port {
        /// Which: host and name.
        port: String,
        /// What.
        fault: &'static str,
    },
    /// It was started before.
    #[error("the emulator has ended")]
    Ended,
    /// A fault of ours: a thread panicked.
    #[error("a fault of mptcplab, please report it: {thread}: {said}")]
    Panic {
        /// Which.
        thread: String,
        /// What it said.
        said: String,
    },
}
