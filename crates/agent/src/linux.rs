//! Linux, by netlink, inet_diag and sockets.

use crate::addresses::Addresses;
use crate::endpoints::{Endpoint, Endpoints};
use crate::kernel::{Address, Kernel, Means};
use crate::netlink::Hearing;
use crate::probes::Probes;
use crate::signals;
use crate::subflows::{Subflow, Subflows};
use std::io::Result;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

/// The kernel of this host, or of this namespace.
pub struct Linux {
    endpoints: Endpoints,
    subflows: Subflows,
    addresses: Addresses,
    probes: Probes,
    events: Vec<Hearing>,
    /// Whether it tells of subflows.
    tells: bool,
    signals: Option<PathBuf>,
}

impl Linux {
    /// Opens what is needed of it. What radios hear stands in the file `signals`; without one, of Wi-Fi, in the kernel's own.
    ///
    /// # Errors
    /// It has no MPTCP, or a right is missing.
    pub fn new(signals: Option<PathBuf>) -> Result<Linux> {
        let mut endpoints = Endpoints::new()?;
        // Without the right to, nothing is seen of other programs' connections either.
        endpoints.may_change()?;
        let of_subflows = endpoints.events();
        let tells = of_subflows.is_some();
        let events = of_subflows.into_iter().chain(Addresses::events().ok()).collect();
        Ok(Linux {
            endpoints,
            subflows: Subflows::new()?,
            addresses: Addresses::new()?,
            probes: Probes::default(),
            events,
            tells,
            signals,
        })
    }
}

impl Kernel for Linux {
    fn endpoints(&mut self) -> Result<Vec<Endpoint>> {
        self.endpoints.list()
    }

    fn limit(&mut self) -> Result<u32> {
        self.endpoints.limit()
    }

    fn delete(&mut self, endpoint: &Endpoint) -> Result<()> {
        self.endpoints.delete(endpoint)
    }

    fn add(&mut self, endpoint: &Endpoint) -> Result<()> {
        self.endpoints.add(endpoint)
    }

    fn set_flags(&mut self, endpoint: &Endpoint) -> Result<()> {
        self.endpoints.set_flags(endpoint)
    }

    fn subflows(&mut self, from: &[IpAddr]) -> Result<Vec<Subflow>> {
        self.subflows.list(from)
    }

    fn again(&mut self, which: &[Subflow], into: &mut Vec<Option<Subflow>>) -> Result<()> {
        self.subflows.again(which, into)
    }

    fn has_connection(&mut self) -> Result<bool> {
        self.subflows.has_connection()
    }

    fn addresses(&mut self) -> Result<Vec<Address>> {
        self.addresses.list()
    }

    fn signals(&mut self) -> Vec<(String, i32)> {
        signals::read(self.signals.as_deref())
    }

    fn has_changed(&mut self) -> bool {
        // All are emptied.
        self.events.iter().fold(!self.tells, |changed, events| events.heard() | changed)
    }

    fn probe(&mut self, from: &Address, to: SocketAddr, means: Means, number: u16) -> Result<()> {
        self.probes.send(from, to, means, number)
    }

    fn answers(&mut self) -> Vec<(IpAddr, u16)> {
        self.probes.answers()
    }
}
