use std::net::IpAddr;

/// An interface of a host, at first down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Its addresses.
    pub addresses: Vec<IpAddr>,
    /// Most bytes of an IP packet.
    pub mtu_bytes: u32,
    pub(crate) up: bool,
}

impl Interface {
    /// One that is down.
    pub fn new(name: &str, addresses: Vec<IpAddr>, mtu_bytes: u32) -> Interface {
        Interface { name: name.into(), addresses, mtu_bytes, up: false }
    }

    /// Whether it is up.
    pub fn is_up(&self) -> bool {
        self.up
    }
}
