//! From a scenario to hosts and what is between them.

use crate::applications::{self, End};
use crate::cross::{self, Cross};
use crate::network::{Link, Network, Owner, Path, Routes};
use crate::observer::Site;
use crate::records::Records;
use crate::scenario::{Event, Run, Scenario, Way};
use crate::simulation::{Node, Simulation};
use crate::timeline::{Action, Timeline};
use crate::{Error, Point};
use host::{Host, Interface};
use std::net::IpAddr;
use transport::path_manager::LocalEndpoint;
use transport::{Config, Nic, congestion, path_manager, scheduler};
use wire::Time;

/// The version of the form that is read.
const SCHEMA: u32 = 1;

impl Simulation {
    /// From a scenario in JSON.
    ///
    /// # Errors
    /// [`Error`] says in one line what is wrong with it.
    pub fn from_json(json: &str) -> Result<Simulation, Error> {
        Simulation::new(serde_json::from_str(json)?)
    }

    /// From a scenario.
    ///
    /// # Errors
    /// As [`Simulation::from_json`].
    pub fn new(mut scenario: Scenario) -> Result<Simulation, Error> {
        reduce(&mut scenario)?;
        check(&scenario)?;
        let start = Time::from_nanos(scenario.epoch_ns);
        let (links, timeline) = links(&scenario, start)?;
        let place = |name: &str| links.iter().position(|link| *link.name == *name);
        let mut routes = Routes::default();
        let mut paths = Vec::new();
        for (number, path) in scenario.paths.iter().enumerate() {
            let link = place(&path.link)
                .ok_or_else(|| Error::fault(format!("path {}", path.name), format!("no link {}", path.link)))?;
            let changes = !path.attached || scenario.timeline.iter().any(|event| event.place().1 == path.name);
            paths.push(Path::new(&path.name, link, &path.addresses(), changes));
            for address in path.addresses() {
                routes.add(address, Owner::Path(number))?;
            }
        }
        for address in &scenario.server.addresses {
            routes.add(*address, Owner::Server(SERVER))?;
        }
        let mut nodes = vec![client(&scenario), server(&scenario, start)];
        let mut crosses = Vec::new();
        for (number, traffic) in scenario.cross_traffic.iter().enumerate() {
            let fault =
                || Error::fault(format!("cross traffic {}", traffic.name()), format!("no link {}", traffic.link()));
            let link = place(traffic.link()).ok_or_else(fault)?;
            let one = Cross { neighbour: nodes.len(), traffic: traffic.clone() };
            let seeds = ["neighbour", "peer"].map(|end| seed(&scenario, &format!("cross/{}/{end}", traffic.name())));
            let [neighbour, peer] = one.hosts(number, &scenario.transport.client, seeds, start)?;
            let owners = [Owner::Neighbour { host: nodes.len(), link }, Owner::Server(nodes.len() + 1)];
            for (address, owner) in cross::addresses(number).into_iter().zip(owners) {
                routes.add(address, owner)?;
            }
            let name = |end: &str| format!("{}-{end}", traffic.name()).into();
            nodes.push(Node { name: name("neighbour"), host: neighbour, site: None, uplink: Some(link) });
            nodes.push(Node { name: name("peer"), host: peer, site: None, uplink: None });
            crosses.push(one);
        }
        let records = Records::new(start, scenario.sample_ns, senders(&scenario));
        Ok(Simulation::assemble(scenario, nodes, Network { links, paths, routes }, crosses, timeline, records))
    }

    /// Where packets are seen: the client's interfaces by path, then the server's.
    pub fn points(&self) -> Vec<Point> {
        let point = |host, interface: &Interface| Point { host, interface: interface.name.clone() };
        let client = self.node(CLIENT).host.interfaces().iter().map(|interface| point("client", interface));
        let server = self.node(SERVER).host.interfaces().iter().map(|interface| point("server", interface));
        client.chain(server).collect()
    }
}

/// Places of hosts.
pub(crate) const CLIENT: usize = 0;
pub(crate) const SERVER: usize = 1;

/// A baseline is the scenario without what its path does not meet. What changes its link stays, whoever asked for it:
/// both runs meet the same radio.
fn reduce(scenario: &mut Scenario) -> Result<(), Error> {
    let Run::Tcp { path: wanted } = &scenario.run else { return Ok(()) };
    let wanted = wanted.clone();
    let of = |name: &str| scenario.paths.iter().find(|path| path.name == name).map(|path| path.link.clone());
    let link = of(&wanted).ok_or_else(|| Error::fault("run", format!("there is no path {wanted}")))?;
    let same = |event: &Event| match event {
        Event::Profile { path, .. } => of(path).as_ref() == Some(&link),
        event => event.place().1 == wanted,
    };
    let mut timeline: Vec<Event> = scenario.timeline.iter().filter(|event| same(event)).cloned().collect();
    for event in &mut timeline {
        if let Event::Profile { path, .. } = event {
            path.clone_from(&wanted);
        }
    }
    scenario.timeline = timeline;
    scenario.cross_traffic.retain(|traffic| traffic.link() == link);
    scenario.paths.retain(|path| path.name == wanted);
    scenario.links.retain(|name, _| *name == link);
    scenario.transport.client.mptcp.enabled = false;
    scenario.transport.server.mptcp.enabled = false;
    Ok(())
}

fn check(scenario: &Scenario) -> Result<(), Error> {
    if scenario.schema != SCHEMA {
        return Err(Error::fault("schema", format!("{} is not known, only {SCHEMA}", scenario.schema)));
    }
    if scenario.paths.is_empty() || scenario.server.addresses.is_empty() {
        return Err(Error::fault("scenario", "there is no path or no address of the server"));
    }
    if scenario.sample_ns < 0 || scenario.stop_ns < 0 {
        return Err(Error::fault("scenario", "a time is negative"));
    }
    applications::check(&scenario.transfer)?;
    for (name, config) in [("client", &scenario.transport.client), ("server", &scenario.transport.server)] {
        let known = |kind: &str, name: &str, known: &[&str]| match known.contains(&name) {
            true => Ok(()),
            false => Err(Error::fault("transport", format!("no {kind} `{name}`, only {}", known.join(", ")))),
        };
        known("congestion controller", &config.congestion_control, congestion::NAMES)?;
        known("scheduler", &config.mptcp.scheduler, scheduler::NAMES)?;
        known("path manager", &config.mptcp.path_manager.name, path_manager::NAMES)?;
        if config.tcp.send_buffer_bytes == 0 || config.tcp.receive_buffer_bytes == 0 {
            return Err(Error::fault(name, "a buffer has no room"));
        }
    }
    for (place, path) in scenario.paths.iter().enumerate() {
        let fault = |fault: &str| Err(Error::fault(format!("path {}", path.name), fault));
        if scenario.paths[..place].iter().any(|other| other.name == path.name) {
            return fault("there is another of that name");
        }
        let addresses = path.addresses();
        let meets = |address: &IpAddr| scenario.server.addresses.iter().any(|one| one.is_ipv4() == address.is_ipv4());
        if !addresses.iter().any(meets) {
            return fault("has no address of a family that the server has");
        }
    }
    Ok(())
}

/// Links as they are at the start, and all that happens later.
fn links(scenario: &Scenario, start: Time) -> Result<(Vec<Link>, Timeline), Error> {
    let mut links = Vec::new();
    for (name, described) in &scenario.links {
        links.push(Link::build(name, described, (scenario.seed, 0), start)?);
    }
    let mut versions = vec![0; links.len()];
    let mut actions = Vec::new();
    for event in &scenario.timeline {
        let (at_ns, name) = event.place();
        let path = scenario.paths.iter().position(|path| path.name == name);
        let path = path.ok_or_else(|| Error::fault("timeline", format!("there is no path {name}")))?;
        let at = start + at_ns;
        actions.push(match event {
            Event::Blackout { .. } => (at, Action::Blackout(path)),
            Event::Hold { .. } => (at, Action::Hold(path)),
            Event::Restore { .. } => (at, Action::Restore(path)),
            Event::Detach { .. } => (at, Action::Detach(path)),
            Event::Attach { takes_ns, .. } => {
                let until = at_ns + *takes_ns;
                if detached_within(scenario, name, at_ns, until) {
                    continue;
                }
                (at + *takes_ns, Action::Attach(path))
            }
            Event::Rebind { address, .. } => {
                let known = scenario.paths[path].addresses().iter().any(|one| one.is_ipv4() == address.is_ipv4());
                if !known {
                    return Err(Error::fault("timeline", format!("{address} is not of a family that {name} has")));
                }
                (at, Action::Rebind(path, *address))
            }
            Event::Profile { link, .. } => {
                let place = links.iter().position(|one| *one.name == scenario.paths[path].link);
                let place = place.ok_or_else(|| Error::fault("timeline", format!("{name} has no link")))?;
                versions[place] += 1;
                let new = Link::build(&links[place].name, link, (scenario.seed, versions[place]), at)?;
                (at, Action::Profile(place, Box::new(new)))
            }
        });
    }
    for (number, traffic) in scenario.cross_traffic.iter().enumerate() {
        let (from, to) = traffic.times();
        actions.push((start + from, Action::Start(number)));
        actions.extend(to.map(|to| (start + to, Action::Stop(number))));
    }
    Ok((links, Timeline::new(actions)))
}

/// Whether a path loses its interface while it is being attached: then that comes to nothing.
fn detached_within(scenario: &Scenario, path: &str, from_ns: i64, until_ns: i64) -> bool {
    scenario.timeline.iter().any(|event| {
        let (at_ns, name) = event.place();
        matches!(event, Event::Detach { .. }) && name == path && from_ns < at_ns && at_ns < until_ns
    })
}

fn client(scenario: &Scenario) -> Node {
    let mut config = scenario.transport.client.clone();
    for path in &scenario.paths {
        for address in path.addresses() {
            let given = LocalEndpoint { address, subflow: true, signal: false, backup: path.backup, fullmesh: false };
            unless_given(&mut config, given);
        }
    }
    let interface = |path: &crate::scenario::Path| Interface::new(&path.name, path.addresses(), path.mtu_bytes);
    let interfaces = scenario.paths.iter().map(interface).collect();
    let host = Host::new(config, seed(scenario, "client"), interfaces);
    Node { name: "client".into(), host, site: Some(Site::new(0)), uplink: None }
}

fn server(scenario: &Scenario, start: Time) -> Node {
    let mut config = scenario.transport.server.clone();
    let addresses = &scenario.server.addresses;
    for (place, address) in addresses.iter().enumerate() {
        // The first of each family is the one that clients connect to.
        let further = addresses[..place].iter().any(|other| other.is_ipv4() == address.is_ipv4());
        let signal = further && scenario.server.signal;
        let given = LocalEndpoint { address: *address, subflow: false, signal, backup: false, fullmesh: false };
        unless_given(&mut config, given);
    }
    let mtu_bytes = scenario.paths.iter().map(|path| path.mtu_bytes).max().unwrap_or(1500);
    let interface = Interface::new("eth0", addresses.clone(), mtu_bytes);
    let mut host = Host::new(config, seed(scenario, "server"), vec![interface]);
    host.attach(start, Nic(0));
    let transfer = scenario.transfer.clone();
    host.listen(scenario.server.port, Box::new(move || applications::at(End::Server, &transfer)));
    Node { name: "server".into(), host, site: Some(Site::new(scenario.paths.len())), uplink: None }
}

/// What the scenario says of an address goes before what follows from its place in it.
fn unless_given(config: &mut Config, endpoint: LocalEndpoint) {
    let endpoints = &mut config.mptcp.path_manager.endpoints;
    if !endpoints.iter().any(|given| given.address == endpoint.address) {
        endpoints.push(endpoint);
    }
}

/// Hosts whose state is sampled: those that send data.
fn senders(scenario: &Scenario) -> Vec<usize> {
    match scenario.transfer.direction() {
        _ if scenario.transfer.is_mutual() => vec![CLIENT, SERVER],
        Way::Up => vec![CLIENT],
        Way::Down => vec![SERVER],
    }
}

/// The seed of a host: FNV-1a of its name, mixed with the run's seed (the finaliser of SplitMix64).
fn seed(scenario: &Scenario, name: &str) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ scenario.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let hash = name.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}
