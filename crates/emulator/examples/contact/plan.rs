//! What is to be done.

use serde::Deserialize;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

/// A transfer of `bytes` each way.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    pub interfaces: Vec<Interface>,
    /// The endpoint's settings where they are not the usual ones.
    pub config: serde_json::Value,
    /// Opens the connection.
    pub open: Option<Open>,
    /// Waits for it at this port.
    pub listen: Option<u16>,
    pub bytes: u64,
    pub close: Close,
    /// An interface that goes when half of the bytes are there.
    pub detach: Option<u32>,
    /// Both ends' packets are written there.
    pub capture: PathBuf,
    pub seconds: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interface {
    pub name: String,
    pub addresses: Vec<IpAddr>,
    pub devices: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Open {
    pub local: IpAddr,
    pub remote: SocketAddr,
}

/// When this end closes.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Close {
    /// When all is written.
    First,
    /// When the peer has closed.
    Second,
    /// At once, when half of the bytes are there.
    Abort,
}
