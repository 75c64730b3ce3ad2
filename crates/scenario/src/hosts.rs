//! The client and the server where they are hosts of ours.

use crate::applications::{self, End};
use crate::form::{Path, Transfer};
use crate::{Scenario, converters};
use host::{Host, Interface, Service};
use link::Stream;
use proxy::{Object, Origin};
use std::iter;
use std::net::SocketAddr;
use transport::path_manager::LocalEndpoint;
use transport::{Config, Nic};
use wire::{Direction, Time};

/// The client: an interface per path, none of them up yet.
pub fn client(scenario: &Scenario) -> Host {
    let mut config = scenario.transport.client.clone();
    for path in &scenario.paths {
        for address in path.addresses() {
            let given = LocalEndpoint {
                address,
                subflow: true,
                signal: false,
                backup: path.backup,
                fullmesh: false,
                budget_bytes: path.budget_bytes,
                cost_per_mb: path.cost_per_mb.unwrap_or(0.0),
            };
            unless_given(&mut config, given);
        }
    }
    let interface = |path: &Path| Interface::new(&path.name, path.addresses(), path.mtu_bytes);
    let interfaces = scenario.paths.iter().map(interface).chain(converters::interface(scenario, End::Client)).collect();
    let mut host = Host::new(config, seed(scenario, "client"), interfaces);
    converters::convert(scenario, End::Client, &mut host);
    host
}

/// The server: one interface, which is up, and its application listens.
pub fn server(scenario: &Scenario) -> Host {
    let mut config = scenario.transport.server.clone();
    let addresses = &scenario.server.addresses;
    for (index, address) in addresses.iter().enumerate() {
        // The first of each family is the one that clients connect to.
        let further = addresses[..index].iter().any(|other| other.is_ipv4() == address.is_ipv4());
        let signal = further && scenario.server.signal;
        let given = LocalEndpoint {
            address: *address,
            subflow: false,
            signal,
            backup: false,
            fullmesh: false,
            budget_bytes: None,
            cost_per_mb: 0.0,
        };
        unless_given(&mut config, given);
    }
    let mtu_bytes = scenario.paths.iter().map(|path| path.mtu_bytes).max().unwrap_or(1500);
    let interface = Interface::new("eth0", addresses.clone(), mtu_bytes);
    let interfaces = iter::once(interface).chain(converters::interface(scenario, End::Server)).collect();
    let mut host = Host::new(config, seed(scenario, "server"), interfaces);
    host.attach(scenario.start(), Nic(0));
    if converters::lan(scenario, End::Server).is_some() {
        converters::convert(scenario, End::Server, &mut host);
        return host;
    }
    let transfer = scenario.transfer.clone();
    host.listen(scenario.server.port, Box::new(move || applications::at(End::Server, &transfer)));
    host
}

/// What a cache on the way has of the server.
pub fn origin(scenario: &Scenario) -> Origin {
    let transfer = scenario.transfer.clone();
    let brings = transfer.direction() == Direction::Up;
    let object = match transfer {
        Transfer::RequestResponse { request_bytes, response_bytes, .. } if !brings => {
            Some(Object { request_bytes, response_bytes })
        }
        _ => None,
    };
    let service: Service = Box::new(move || applications::at(End::Server, &transfer));
    let service = Some(service).filter(|_| !brings);
    Origin { addresses: scenario.server.addresses.clone(), port: scenario.server.port, service, object }
}

/// Opens the client's connections over the first path that is there, backups last. Nothing happens if they are open or no
/// path is there.
pub fn open(scenario: &Scenario, client: &mut Host, now: Time) {
    if client.progress().len() > 0 {
        return;
    }
    let Some(path) = path(scenario, client) else { return };
    let addresses = path.addresses();
    let server = &scenario.server;
    let own = server.addresses.iter().copied();
    let ends = own.clone().chain(own.filter_map(link::dns64)).find_map(|remote| {
        let local = addresses.iter().find(|local| local.is_ipv4() == remote.is_ipv4())?;
        Some((SocketAddr::new(*local, 0), SocketAddr::new(remote, server.port)))
    });
    let (local, remote) = ends.expect("checked: the server has an address of each path's family");
    for _ in 0..scenario.transfer.connections() {
        client.connect(now, local, remote, applications::at(End::Client, &scenario.transfer));
    }
}

/// The first path that is there, backups last.
pub fn path<'a>(scenario: &'a Scenario, client: &Host) -> Option<&'a Path> {
    let there = |backup: bool| {
        let paths = scenario.paths.iter().zip(client.interfaces());
        paths.filter(|(_, interface)| interface.is_up()).map(|(path, _)| path).find(|path| path.backup == backup)
    };
    there(false).or_else(|| there(true))
}

/// What the scenario says of an address goes before what follows from its position.
fn unless_given(config: &mut Config, endpoint: LocalEndpoint) {
    let endpoints = &mut config.mptcp.path_manager.endpoints;
    if !endpoints.iter().any(|given| given.address == endpoint.address) {
        endpoints.push(endpoint);
    }
}

/// The seed of the host, the proxy or the flow of that name: drawn as the streams of elements are.
pub fn seed(scenario: &Scenario, name: &str) -> u64 {
    Stream::new(scenario.seed, name).word()
}
