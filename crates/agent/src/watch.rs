//! The guard beside the kernel's path manager: what it sees of subflows, and what it makes of endpoints.

use crate::endpoints::{Endpoint, Endpoints};
use crate::pings::Pings;
use crate::subflows::Subflows;
use guard::{Decision, Guard, Order, Seen, Settings, Verdict};
use std::collections::HashMap;
use std::io::Result;
use std::net::IpAddr;
use wire::Time;

/// How often endpoints are asked for: others change them, too.
const LOOK_NS: i64 = 250_000_000;

/// What the guard decided of an address.
pub struct Told {
    /// The address.
    pub address: IpAddr,
    /// What, on what evidence.
    pub decision: Decision,
}

/// Watches the paths of this host.
pub struct Watch {
    guard: Guard,
    endpoints: Endpoints,
    subflows: Subflows,
    paths: Vec<Path>,
    /// Bytes of each subflow when it was seen last, acknowledged and received.
    known: HashMap<u64, (u64, u64)>,
    remotes: Vec<IpAddr>,
    observes: bool,
    looked: Option<Time>,
}

struct Path {
    endpoint: Endpoint,
    /// None while the host does not have its address.
    pings: Option<Pings>,
    /// Whether its endpoint is there.
    is_there: bool,
    /// Whether we took it away.
    is_ours: bool,
    acked_bytes: u64,
    received_bytes: u64,
}

impl Watch {
    /// Watches and acts; or only tells if it `observes`.
    ///
    /// # Errors
    /// The kernel has no MPTCP, or a right is missing.
    pub fn new(settings: Settings, observes: bool) -> Result<Watch> {
        Ok(Watch {
            guard: Guard::new(settings),
            endpoints: Endpoints::new()?,
            subflows: Subflows::new()?,
            paths: Vec::new(),
            known: HashMap::new(),
            remotes: Vec::new(),
            observes,
            looked: None,
        })
    }

    /// Whether there is anything to watch: a connection, or a path that has to come back.
    pub fn is_busy(&self) -> bool {
        !self.known.is_empty() || self.paths.iter().any(|path| path.is_ours)
    }

    /// Looks and acts; gives what was decided.
    ///
    /// # Errors
    /// Netlink fails.
    pub fn step(&mut self, now: Time) -> Result<Vec<Told>> {
        if self.looked.is_none_or(|looked| now - looked >= LOOK_NS) {
            self.looked = Some(now);
            self.look(now)?;
        }
        let mut orders = Vec::new();
        for (place, path) in self.paths.iter_mut().enumerate() {
            let Some(pings) = &path.pings else { continue };
            match pings.answers() {
                Ok(numbers) => {
                    numbers.into_iter().for_each(|number| self.guard.answered(now, place, number, &mut orders));
                }
                Err(_) => path.pings = None,
            }
        }
        self.see(now, &mut orders)?;
        self.guard.tick(now, &mut orders);
        let mut told = Vec::new();
        for order in orders {
            match order {
                Order::Probe { path, number, about } => {
                    if self.probe(path, number) {
                        self.guard.sent(now, path, number, about);
                    }
                }
                Order::Decided { path, decision } => {
                    self.act(path, decision.verdict)?;
                    told.push(Told { address: self.paths[path].endpoint.address, decision });
                }
            }
        }
        Ok(told)
    }

    /// What has become of endpoints and addresses.
    fn look(&mut self, now: Time) -> Result<()> {
        let found: Vec<_> = self.endpoints.list()?.into_iter().filter(Endpoint::is_path).collect();
        for endpoint in &found {
            match self.paths.iter().position(|path| path.endpoint.address == endpoint.address) {
                None => {
                    self.guard.add(now);
                    self.paths.push(Path {
                        endpoint: *endpoint,
                        pings: Pings::new(endpoint.address).ok(),
                        is_there: true,
                        is_ours: false,
                        acked_bytes: 0,
                        received_bytes: 0,
                    });
                }
                Some(place) => {
                    let path = &mut self.paths[place];
                    path.endpoint = *endpoint;
                    if !path.is_there || path.is_ours {
                        // Somebody brought it again, perhaps while we had taken it away.
                        (path.is_there, path.is_ours) = (true, false);
                        self.guard.up(now, place);
                    }
                }
            }
        }
        for place in 0..self.paths.len() {
            let path = &mut self.paths[place];
            let address = path.endpoint.address;
            // An address that can be bound is the host's.
            let bound = Pings::new(address).ok();
            let has_address = bound.is_some();
            path.pings = path.pings.take().filter(|_| has_address).or(bound);
            let is_listed = found.iter().any(|endpoint| endpoint.address == address);
            if path.is_ours && !has_address {
                // Whoever took the address away brings the endpoint with it again.
                path.is_ours = false;
            }
            if path.is_there && !path.is_ours && !is_listed {
                path.is_there = false;
                self.guard.down(place);
            }
        }
        Ok(())
    }

    /// What subflows carry now.
    fn see(&mut self, now: Time, orders: &mut Vec<Order>) -> Result<()> {
        let mut seen = vec![Seen::default(); self.paths.len()];
        let subflows = self.subflows.list()?;
        for subflow in &subflows {
            let Some(place) = self.paths.iter().position(|path| path.endpoint.address == subflow.local) else {
                continue;
            };
            let bytes = (subflow.acked_bytes, subflow.received_bytes);
            let before = self.known.insert(subflow.cookie, bytes).unwrap_or(bytes);
            let path = &mut self.paths[place];
            path.acked_bytes += bytes.0.saturating_sub(before.0);
            path.received_bytes += bytes.1.saturating_sub(before.1);
            let one = Seen {
                carries: true,
                acked_bytes: 0,
                received_bytes: 0,
                outstanding: subflow.unacked > 0,
                srtt_ns: (subflow.rtt_us > 0).then(|| i64::from(subflow.rtt_us) * 1000),
                rttvar_ns: i64::from(subflow.rttvar_us) * 1000,
            };
            seen[place] = seen[place].with(&one);
            if !self.remotes.contains(&subflow.remote) {
                self.remotes.insert(0, subflow.remote);
                self.remotes.truncate(8);
            }
        }
        self.known.retain(|cookie, _| subflows.iter().any(|subflow| subflow.cookie == *cookie));
        for (place, (path, one)) in self.paths.iter().zip(seen).enumerate() {
            let sums = Seen { acked_bytes: path.acked_bytes, received_bytes: path.received_bytes, ..one };
            self.guard.seen(now, place, sums, orders);
        }
        Ok(())
    }

    fn probe(&self, place: usize, number: u16) -> bool {
        let path = &self.paths[place];
        let remote = self.remotes.iter().find(|remote| remote.is_ipv4() == path.endpoint.address.is_ipv4());
        if let (Some(pings), Some(&remote)) = (&path.pings, remote) {
            pings.send(remote, number);
            return true;
        }
        false
    }

    fn act(&mut self, place: usize, verdict: Verdict) -> Result<()> {
        let path = &mut self.paths[place];
        if self.observes {
            return Ok(());
        }
        match verdict {
            Verdict::Suspended => {
                self.endpoints.delete(&path.endpoint)?;
                path.is_ours = true;
            }
            Verdict::Resumed if path.is_ours => {
                self.endpoints.add(&path.endpoint)?;
                path.is_ours = false;
            }
            _ => {}
        }
        Ok(())
    }

    /// Brings back what was taken away.
    ///
    /// # Errors
    /// The first that could not be brought.
    pub fn restore(&mut self) -> Result<()> {
        let mut outcome = Ok(());
        for path in self.paths.iter_mut().filter(|path| path.is_ours) {
            path.is_ours = false;
            outcome = outcome.and(self.endpoints.add(&path.endpoint));
        }
        outcome
    }
}
