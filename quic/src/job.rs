//! What the program is asked to do: its only argument, as JSON.

use serde::Deserialize;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// The job of one end.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// TCP to the application: the client listens there, the server connects.
    pub application: SocketAddr,
    /// Where the server is: it listens there, the client connects.
    pub server: SocketAddr,
    /// The client's paths, the first to be used first. The server has none: it takes what comes.
    #[serde(default)]
    pub paths: Vec<Local>,
    /// `cubic`, `reno` or `bbr`.
    pub congestion_control: Congestion,
    /// Bytes that may wait to be read by the application.
    pub receive_window: u32,
    /// Bytes that may wait to be acknowledged.
    pub send_window: u64,
    /// The period of the samples; 0 for none.
    #[serde(default)]
    sample_ns: u64,
    /// The file of the samples: rows of mptcplab's table `state`.
    pub samples: Option<PathBuf>,
}

/// An address of the client, and whether its path is only used if there is no other.
#[derive(Deserialize, Clone, Copy)]
#[serde(deny_unknown_fields)]
pub struct Local {
    pub address: IpAddr,
    #[serde(default)]
    pub backup: bool,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub enum Congestion {
    Cubic,
    Reno,
    Bbr,
}

impl Congestion {
    pub fn name(self) -> &'static str {
        match self {
            Congestion::Cubic => "cubic",
            Congestion::Reno => "reno",
            Congestion::Bbr => "bbr",
        }
    }
}

impl Job {
    /// Reads it, strictly.
    pub fn read(text: &str) -> Result<Job, String> {
        serde_json::from_str(text).map_err(|error| format!("the job: {error}"))
    }

    pub fn is_client(&self) -> bool {
        !self.paths.is_empty()
    }

    pub fn period(&self) -> Option<Duration> {
        (self.sample_ns > 0).then(|| Duration::from_nanos(self.sample_ns))
    }
}
