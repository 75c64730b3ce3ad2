//! What the guard needs of the host: Linux is one, a test's fake another.

use crate::endpoints::Endpoint;
use crate::subflows::Subflow;
use std::io::Result;
use std::net::{IpAddr, SocketAddr};

/// An address of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The address.
    pub address: IpAddr,
    /// Its interface: index and name.
    pub index: u32,
    /// Its name.
    pub interface: String,
    /// Whether the interface is up, and has a carrier.
    pub is_running: bool,
}

/// How somebody is asked for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// An echo request of ICMP.
    Ping,
    /// A handshake of TCP with the port of a connection: answered by SYN/ACK or RST also where ICMP is dropped.
    Handshake,
}

/// The host.
pub trait Kernel {
    /// All endpoints.
    fn endpoints(&mut self) -> Result<Vec<Endpoint>>;
    /// How many subflows a connection may have beside its first.
    fn limit(&mut self) -> Result<u32>;
    /// Takes one away: its subflows end here, and REMOVE_ADDR tells peers.
    fn delete(&mut self, endpoint: &Endpoint) -> Result<()>;
    /// Brings one: subflows are opened from it.
    fn add(&mut self, endpoint: &Endpoint) -> Result<()>;
    /// Makes one a backup, or none any more, by its flags: MP_PRIO tells peers.
    fn set_flags(&mut self, endpoint: &Endpoint) -> Result<()>;
    /// Established subflows from these addresses, of everybody's connections.
    fn subflows(&mut self, from: &[IpAddr]) -> Result<Vec<Subflow>>;
    /// What has become of some of them; none: it has ended.
    fn again(&mut self, which: &[Subflow], into: &mut Vec<Option<Subflow>>) -> Result<()>;
    /// Whether there is a connection, be it one without a subflow.
    fn has_connection(&mut self) -> Result<bool>;
    /// Addresses of the host.
    fn addresses(&mut self) -> Result<Vec<Address>>;
    /// What the radios of interfaces hear, in dBm; none of those of which nobody knows.
    fn signals(&mut self) -> Vec<(String, i32)>;
    /// Whether connections, links or addresses have come or gone, or may have, since this was asked.
    fn has_changed(&mut self) -> bool;
    /// Sends a probe from an address over its interface.
    fn probe(&mut self, from: &Address, to: SocketAddr, means: Means, number: u16) -> Result<()>;
    /// Probes that were answered since: from where, and which.
    fn answers(&mut self) -> Vec<(IpAddr, u16)>;
}
