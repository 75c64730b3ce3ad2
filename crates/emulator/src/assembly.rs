//! From a scenario and devices to link threads.

use crate::device::Device;
use crate::link_thread::{HostStatus, LinkThread, LocalHost, Pace, Port, PortMap, Stop, Wait, Watch};
use crate::port_name::{Host, PortName};
use crate::recorder::{Feed, Recorder, Recording, Site};
use crate::{Clock, Error};
use network::{Entry, Network, cross_hosts};
use scenario::{Scenario, form};
use std::sync::Arc;
use wire::Time;

/// Every path has a port at either end but at those of hosts of ours, cross traffic too, and there is no other.
pub(crate) fn check<'a>(
    scenario: &Scenario,
    port_names: impl Iterator<Item = &'a PortName> + Clone,
    ours: &Ours,
) -> Result<(), Error> {
    let paths = scenario.paths.iter().map(|path| (path.name.as_str(), [Host::Client, Host::Server]));
    let crosses = scenario.cross_traffic.iter().map(|traffic| (traffic.name(), [Host::Neighbour, Host::Peer]));
    let needed = paths.chain(crosses).flat_map(|(name, hosts)| hosts.map(|host| PortName { host, name: name.into() }));
    let needed: Vec<PortName> = needed.filter(|port_name| ours.of(port_name.host).is_none()).collect();
    let fault = |port_name: &PortName, fault| Err(Error::Port { port: port_name.to_string(), fault });
    for port_name in &needed {
        match port_names.clone().filter(|given| *given == port_name).count() {
            1 => {}
            0 => return fault(port_name, "has no device"),
            _ => return fault(port_name, "has more than one device"),
        }
    }
    match port_names.clone().find(|port_name| !needed.contains(port_name)) {
        Some(port_name) => fault(port_name, "is not in the scenario"),
        None => Ok(()),
    }
}

/// Hosts of ours: the client, the server, or neither.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ours(Vec<(Host, HostStatus)>);

impl Ours {
    /// Those of the list.
    pub fn new(hosts: &[Host]) -> Result<Ours, Error> {
        let mut ours = Vec::new();
        for &host in hosts {
            let fault = match host {
                Host::Neighbour | Host::Peer => "is always the kernel's",
                _ if !ours.is_empty() => "cannot be ours beside another: two such hosts are for the simulation",
                _ => {
                    ours.push((host, HostStatus::default()));
                    continue;
                }
            };
            return Err(Error::Port { port: host.name().into(), fault });
        }
        Ok(Ours(ours))
    }

    /// What a host of ours has come to, if it is one.
    pub fn of(&self, host: Host) -> Option<&HostStatus> {
        self.0.iter().find(|(known, _)| *known == host).map(|(_, status)| status)
    }

    /// All of them.
    pub fn all(&self) -> &[(Host, HostStatus)] {
        &self.0
    }

    fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// Where their packets are seen.
    fn port_names(&self, scenario: &Scenario) -> impl Iterator<Item = PortName> {
        let of = |host: Host| scenario.paths.iter().map(move |path| PortName { host, name: path.name.as_str().into() });
        self.0.iter().flat_map(move |(host, _)| of(*host))
    }
}

/// Link threads by name, ready to run, and what records what they see.
pub(crate) fn assemble(
    scenario: &Scenario,
    devices: Vec<(PortName, Device)>,
    ours: &Ours,
    recording: &Recording,
    (clock, start): (Clock, Time),
    stop: &Stop,
) -> Result<(Vec<(String, LinkThread)>, Recorder), Error> {
    let scenario = Arc::new(Scenario { epoch_ns: start.as_nanos(), ..scenario.clone() });
    let network = Network::of(&scenario, start)?;
    let names: Vec<Arc<str>> = network.links().iter().map(|link| link.name.clone()).collect();
    let points = ours.port_names(&scenario).chain(devices.iter().map(|(port_name, _)| port_name.clone()));
    let points =
        points.filter(|port_name| Site::of(port_name.host).is_some_and(|site| recording.capture(site).is_some()));
    // Paths have their own ports at both ends, so links share nothing. A host of ours joins them.
    let networks = if ours.is_none() { network.split() } else { vec![network] };
    let (recorder, shared, sender) = Recorder::new(clock, recording, points.collect(), &names, networks.len())?;

    let mut link_threads = Vec::new();
    for (number, network) in networks.into_iter().enumerate() {
        let name = if ours.is_none() { format!("link {}", names[number]) } else { "links".into() };
        let feed = Feed::new(number, shared.clone(), sender.clone());
        // Of several networks each has one link.
        let watch = Watch::new(feed, network.links().len(), number as u32, start);
        let port_map = PortMap::new(network.paths().len(), scenario.cross_traffic.len());
        link_threads.push((
            name,
            LinkThread {
                clock,
                wait: Wait::new(stop.clone())?,
                pace: Pace::new(),
                network,
                ports: Vec::new(),
                port_map,
                local_hosts: [None, None],
                watch,
                due: start,
                woken: start,
                begun: start,
            },
        ));
    }
    for (whose, status) in &ours.0 {
        let point = |path: &form::Path| shared.point(&PortName { host: *whose, name: path.name.as_str().into() });
        let points = scenario.paths.iter().map(point).collect();
        link_threads[0].1.local_hosts[LocalHost::index(*whose)] =
            Some(LocalHost::new(*whose, &scenario, points, status.clone()));
    }
    for (port_name, device) in devices {
        let found = link_threads
            .iter_mut()
            .find_map(|(_, link_thread)| Some((stand(&scenario, &link_thread.network, &port_name)?, link_thread)));
        let ((entry, index), link_thread) = found.expect("checked: ports belong to paths or cross traffic");
        let number = link_thread.ports.len();
        link_thread.wait.add(number, &device)?;
        *link_thread.port_map.of(port_name.host, index) = Some(number);
        let point = shared.point(&port_name);
        link_thread.ports.push(Port::new(port_name, device, point, entry));
    }
    Ok((link_threads, recorder))
}

/// Where what comes in at a port goes, and its index in the port map, if it is at this network.
fn stand(scenario: &Scenario, network: &Network, port_name: &PortName) -> Option<(Entry, usize)> {
    let path = || network.paths().iter().position(|path| path.name == port_name.name);
    let cross = || {
        let number = scenario.cross_traffic.iter().position(|traffic| *traffic.name() == *port_name.name)?;
        let name = scenario.cross_traffic[number].link();
        let link = network.links().iter().position(|link| *link.name == *name)?;
        Some((link, cross_hosts(number)))
    };
    match port_name.host {
        Host::Client => path().map(|path| (Entry::Path(path), path)),
        Host::Server => path().map(|path| (Entry::Router, path)),
        Host::Neighbour => cross().map(|(link, [neighbour, _])| (Entry::Link(link), neighbour)),
        Host::Peer => cross().map(|(_, [_, peer])| (Entry::Router, peer)),
    }
}
