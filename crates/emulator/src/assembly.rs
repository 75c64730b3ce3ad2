//! From a scenario and devices to link threads.

use crate::device::Device;
use crate::link_thread::{LinkThread, Pace, Port, PortMap, Resident, Standing, Stop, Wait, Watch};
use crate::place::{Host, Place};
use crate::recorder::{Feed, Recorder, Recording, Site};
use crate::{Clock, Error};
use network::{Entry, Network, cross_hosts};
use scenario::{Scenario, form};
use std::sync::Arc;
use wire::Time;

/// Every path has a port at either end but at those of hosts of ours, cross traffic too, and there is no other.
pub(crate) fn check<'a>(
    scenario: &Scenario,
    places: impl Iterator<Item = &'a Place> + Clone,
    ours: &Ours,
) -> Result<(), Error> {
    let paths = scenario.paths.iter().map(|path| (path.name.as_str(), [Host::Client, Host::Server]));
    let crosses = scenario.cross_traffic.iter().map(|traffic| (traffic.name(), [Host::Neighbour, Host::Peer]));
    let needed = paths.chain(crosses).flat_map(|(name, hosts)| hosts.map(|host| Place { host, name: name.into() }));
    let needed: Vec<Place> = needed.filter(|place| ours.of(place.host).is_none()).collect();
    let fault = |place: &Place, fault| Err(Error::Port { port: place.to_string(), fault });
    for place in &needed {
        match places.clone().filter(|given| *given == place).count() {
            1 => {}
            0 => return fault(place, "has no device"),
            _ => return fault(place, "has more than one device"),
        }
    }
    match places.clone().find(|place| !needed.contains(place)) {
        Some(place) => fault(place, "is none of the scenario's"),
        None => Ok(()),
    }
}

/// Hosts of ours: the client, the server, or neither.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ours(Vec<(Host, Standing)>);

impl Ours {
    /// Those of the list.
    pub fn new(hosts: &[Host]) -> Result<Ours, Error> {
        let mut ours = Vec::new();
        for &host in hosts {
            let fault = match host {
                Host::Neighbour | Host::Peer => "is always the kernel's",
                _ if !ours.is_empty() => "cannot be ours beside another: two such hosts are for the simulation",
                _ => {
                    ours.push((host, Standing::default()));
                    continue;
                }
            };
            return Err(Error::Port { port: host.name().into(), fault });
        }
        Ok(Ours(ours))
    }

    /// What a host of ours has come to, if it is one.
    pub fn of(&self, host: Host) -> Option<&Standing> {
        self.0.iter().find(|(known, _)| *known == host).map(|(_, standing)| standing)
    }

    /// All of them.
    pub fn all(&self) -> &[(Host, Standing)] {
        &self.0
    }

    fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// Where their packets are seen.
    fn places(&self, scenario: &Scenario) -> impl Iterator<Item = Place> {
        let of = |host: Host| scenario.paths.iter().map(move |path| Place { host, name: path.name.as_str().into() });
        self.0.iter().flat_map(move |(host, _)| of(*host))
    }
}

/// Link threads by name, ready to run, and what records what they see.
pub(crate) fn assemble(
    scenario: &Scenario,
    devices: Vec<(Place, Device)>,
    ours: &Ours,
    recording: &Recording,
    (clock, start): (Clock, Time),
    stop: &Stop,
) -> Result<(Vec<(String, LinkThread)>, Recorder), Error> {
    let scenario = Arc::new(Scenario { epoch_ns: start.as_nanos(), ..scenario.clone() });
    let network = Network::of(&scenario, start)?;
    let names: Vec<Arc<str>> = network.links().iter().map(|link| link.name.clone()).collect();
    let points = ours.places(&scenario).chain(devices.iter().map(|(place, _)| place.clone()));
    let points = points.filter(|place| Site::of(place.host).is_some_and(|site| recording.capture(site).is_some()));
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
                residents: [None, None],
                watch,
                due: start,
                woken: start,
                begun: start,
            },
        ));
    }
    for (whose, standing) in &ours.0 {
        let point = |path: &form::Path| shared.point(&Place { host: *whose, name: path.name.as_str().into() });
        let points = scenario.paths.iter().map(point).collect();
        link_threads[0].1.residents[Resident::place(*whose)] =
            Some(Resident::new(*whose, &scenario, points, standing.clone()));
    }
    for (place, device) in devices {
        let found = link_threads
            .iter_mut()
            .find_map(|(_, link_thread)| Some((stand(&scenario, &link_thread.network, &place)?, link_thread)));
        let ((entry, index), link_thread) = found.expect("checked: ports belong to paths or cross traffic");
        let number = link_thread.ports.len();
        link_thread.wait.add(number, &device)?;
        *link_thread.port_map.of(place.host, index) = Some(number);
        let point = shared.point(&place);
        link_thread.ports.push(Port::new(place, device, point, entry));
    }
    Ok((link_threads, recorder))
}

/// Where what comes in at a port goes, and its index in the port map, if it is at this network.
fn stand(scenario: &Scenario, network: &Network, place: &Place) -> Option<(Entry, usize)> {
    let path = || network.paths().iter().position(|path| path.name == place.name);
    let cross = || {
        let number = scenario.cross_traffic.iter().position(|traffic| *traffic.name() == *place.name)?;
        let name = scenario.cross_traffic[number].link();
        let link = network.links().iter().position(|link| *link.name == *name)?;
        Some((link, cross_hosts(number)))
    };
    match place.host {
        Host::Client => path().map(|path| (Entry::Path(path), path)),
        Host::Server => path().map(|path| (Entry::Router, path)),
        Host::Neighbour => cross().map(|(link, [neighbour, _])| (Entry::Link(link), neighbour)),
        Host::Peer => cross().map(|(_, [_, peer])| (Entry::Router, peer)),
    }
}
