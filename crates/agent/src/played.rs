//! A kernel that is played: it fails, loses answers, and others change what it has.

use crate::endpoints::Endpoint;
use crate::kernel::{Address, Kernel, Means};
use crate::subflows::Subflow;
use std::cell::RefCell;
use std::io::{Error, ErrorKind, Result};
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

pub const WIFI: &str = "10.0.1.2";
pub const LTE: &str = "10.0.2.2";

/// What the played host has, and how it fails.
#[derive(Default)]
pub struct Host {
    pub endpoints: Vec<Endpoint>,
    pub addresses: Vec<Address>,
    /// From where, whether it carries data now, and bytes so far.
    pub subflows: Vec<(IpAddr, bool, u64)>,
    pub has_connection: bool,
    /// Which addresses are answered, and whether pings are.
    pub answering: Vec<IpAddr>,
    pub drops_pings: bool,
    pub answers: Vec<(IpAddr, u16)>,
    pub probes: Vec<(IpAddr, Means)>,
    pub timeouts: u32,
    /// Of the connections of subflows; of others, of the first.
    pub tokens: Vec<u32>,
    pub refuses_delete: bool,
    pub refuses_add: bool,
    pub is_silent: bool,
    pub signals: Vec<(String, i32)>,
    /// Of subflows beside the first.
    pub limit: u32,
    /// How often all subflows were listed, and how many were asked for one by one.
    pub lists: usize,
    pub asked: usize,
}

impl Host {
    /// The same when those of another path are gone.
    fn cookie(&self, at: usize) -> u64 {
        let local = self.subflows[at].0;
        let before = self.subflows[..at].iter().filter(|one| one.0 == local).count() as u64;
        before + u64::from(local == ip(LTE)) * 1000
    }

    /// It has carried more since it was looked at, if it does now.
    fn subflow(&mut self, at: usize) -> Subflow {
        let (cookie, timeouts) = (self.cookie(at), self.timeouts);
        let token = self.tokens.get(at).copied().unwrap_or(1);
        let (local, carries, received_bytes) = &mut self.subflows[at];
        *received_bytes += if *carries { 1000 } else { 0 };
        Subflow {
            socket: (2, [0; 48]),
            cookie,
            token,
            local: *local,
            remote: "192.0.2.1:8080".parse().unwrap(),
            unacked: 0,
            acked_bytes: 0,
            received_bytes: *received_bytes,
            out_of_order: 0,
            acked_ms: 0,
            received_ms: 0,
            rtt_us: 30_000,
            rttvar_us: 5000,
            timeouts,
        }
    }
}

#[derive(Clone, Default)]
pub struct Played(pub Rc<RefCell<Host>>);

pub fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

pub fn refused<T>() -> Result<T> {
    Err(Error::from_raw_os_error(105))
}

impl Kernel for Played {
    fn endpoints(&mut self) -> Result<Vec<Endpoint>> {
        let host = self.0.borrow();
        if host.is_silent { refused() } else { Ok(host.endpoints.clone()) }
    }

    fn limit(&mut self) -> Result<u32> {
        Ok(self.0.borrow().limit)
    }

    fn delete(&mut self, endpoint: &Endpoint) -> Result<()> {
        let mut host = self.0.borrow_mut();
        if host.refuses_delete {
            return refused();
        }
        let before = host.endpoints.len();
        host.endpoints.retain(|one| one.address != endpoint.address);
        host.subflows.retain(|one| one.0 != endpoint.address);
        if host.endpoints.len() == before { Err(ErrorKind::InvalidInput.into()) } else { Ok(()) }
    }

    fn add(&mut self, endpoint: &Endpoint) -> Result<()> {
        let mut host = self.0.borrow_mut();
        if host.refuses_add {
            return refused();
        }
        if host.endpoints.iter().any(|one| one.address == endpoint.address) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        host.endpoints.push(*endpoint);
        Ok(())
    }

    fn set_flags(&mut self, endpoint: &Endpoint) -> Result<()> {
        let mut host = self.0.borrow_mut();
        let found = host.endpoints.iter_mut().find(|one| one.address == endpoint.address);
        found.ok_or(ErrorKind::InvalidInput)?.flags = endpoint.flags;
        Ok(())
    }

    fn subflows(&mut self, from: &[IpAddr]) -> Result<Vec<Subflow>> {
        let mut host = self.0.borrow_mut();
        if host.is_silent {
            return refused();
        }
        host.lists += 1;
        let shown: Vec<_> = (0..host.subflows.len()).filter(|&at| from.contains(&host.subflows[at].0)).collect();
        Ok(shown.into_iter().map(|at| host.subflow(at)).collect())
    }

    fn again(&mut self, which: &[Subflow], into: &mut Vec<Option<Subflow>>) -> Result<()> {
        let mut host = self.0.borrow_mut();
        if host.is_silent {
            return refused();
        }
        host.asked += which.len();
        into.clear();
        for subflow in which {
            let at = (0..host.subflows.len()).find(|&at| host.cookie(at) == subflow.cookie);
            into.push(at.map(|at| host.subflow(at)));
        }
        Ok(())
    }

    fn has_connection(&mut self) -> Result<bool> {
        Ok(self.0.borrow().has_connection)
    }

    fn addresses(&mut self) -> Result<Vec<Address>> {
        Ok(self.0.borrow().addresses.clone())
    }

    fn signals(&mut self) -> Vec<(String, i32)> {
        self.0.borrow().signals.clone()
    }

    fn has_changed(&mut self) -> bool {
        false
    }

    fn probe(&mut self, from: &Address, _: SocketAddr, means: Means, number: u16) -> Result<()> {
        let mut host = self.0.borrow_mut();
        host.probes.push((from.address, means));
        if host.answering.contains(&from.address) && !(host.drops_pings && means == Means::Ping) {
            host.answers.push((from.address, number));
        }
        Ok(())
    }

    fn answers(&mut self) -> Vec<(IpAddr, u16)> {
        std::mem::take(&mut self.0.borrow_mut().answers)
    }
}

pub fn endpoint(id: u8, address: &str) -> Endpoint {
    Endpoint { id, address: ip(address), flags: 2, interface: u32::from(id) }
}

pub fn address(index: u32, address: &str) -> Address {
    Address { address: ip(address), index, interface: format!("if{}", &address[5..6]), is_running: true }
}

/// Two paths that answer, of which the first carries data.
pub fn host() -> Played {
    Played(Rc::new(RefCell::new(Host {
        endpoints: vec![endpoint(1, WIFI), endpoint(2, LTE)],
        addresses: vec![address(1, WIFI), address(2, LTE)],
        subflows: vec![(ip(WIFI), true, 0), (ip(LTE), false, 0)],
        has_connection: true,
        answering: vec![ip(WIFI), ip(LTE)],
        limit: 2,
        ..Host::default()
    })))
}
