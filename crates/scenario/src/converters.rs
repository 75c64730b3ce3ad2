//! The hosts of converters: client - converter - paths - converter - server.

use crate::Scenario;
use crate::applications::{self, End};
use crate::form::{Converters, Lan};
use crate::hosts::seed;
use host::{Converting, Host, Interface};
use std::net::{IpAddr, SocketAddr};
use transport::{Config, Nic};
use wire::Time;

const MTU_BYTES: u32 = 1500;

/// The converter's interface towards the host behind it.
pub fn lan(scenario: &Scenario, end: End) -> Option<Nic> {
    let nic = Nic(if end == End::Client { scenario.paths.len() as u32 } else { 1 });
    link(scenario, end).map(|_| nic)
}

/// The host behind the converter at this end, its interface up.
pub fn behind(scenario: &Scenario, end: End) -> Option<Host> {
    let link = link(scenario, end)?;
    let (name, config, mut addresses) = match end {
        End::Client => ("home", &scenario.transport.client, link.host.clone()),
        End::Server => ("origin", &scenario.transport.server, link.host.clone()),
    };
    if end == End::Server {
        addresses.extend(targets(scenario));
        addresses.dedup();
    }
    let mut config: Config = config.clone();
    config.mptcp.enabled = false;
    let mut host = Host::new(config, seed(scenario, name), vec![Interface::new("eth0", addresses, MTU_BYTES)]);
    host.attach(scenario.start(), Nic(0));
    if end == End::Server {
        let transfer = scenario.transfer.clone();
        host.listen(scenario.server.port, Box::new(move || applications::at(End::Server, &transfer)));
    }
    Some(host)
}

/// Opens the connections of the client behind a converter.
pub fn open(scenario: &Scenario, home: &mut Host, now: Time) {
    let remotes = targets(scenario);
    let locals = &home.interfaces()[0].addresses;
    let ends =
        locals.iter().find_map(|local| Some((*local, *remotes.iter().find(|one| one.is_ipv4() == local.is_ipv4())?)));
    let Some((local, remote)) = ends else { return };
    for _ in 0..scenario.transfer.connections() {
        let (local, remote) = (SocketAddr::new(local, 0), SocketAddr::new(remote, scenario.server.port));
        home.connect(now, local, remote, applications::at(End::Client, &scenario.transfer));
    }
}

/// What the converter at this end has besides its paths.
pub(crate) fn interface(scenario: &Scenario, end: End) -> Option<Interface> {
    let mut addresses = link(scenario, end)?.gateway.clone();
    if end == End::Client {
        // It answers in the name of whom the client connects to.
        addresses.extend(targets(scenario));
    }
    Some(Interface::new("LAN", addresses, MTU_BYTES))
}

/// Makes a converter of the host that has the paths, or their other end.
pub(crate) fn convert(scenario: &Scenario, end: End, host: &mut Host) {
    let (Some(lan), Some(link)) = (lan(scenario, end), link(scenario, end)) else { return };
    let Some(Converters { port, fast_open, .. }) = scenario.converters else { return };
    let (listens, from, asks) = match end {
        End::Client => {
            let paths = |backup: bool| scenario.paths.iter().filter(move |path| path.backup == backup);
            let from = paths(false).chain(paths(true)).flat_map(|path| path.addresses()).collect();
            (scenario.server.port, from, port.map(|port| SocketAddr::new(scenario.server.addresses[0], port)))
        }
        End::Server => (port.unwrap_or(scenario.server.port), link.gateway.clone(), None),
    };
    let (is_asked, opens_paths) = (end == End::Server && port.is_some(), end == End::Client);
    host.convert(lan, listens, Converting { from, asks, is_asked, fast_open, opens_paths });
    host.attach(scenario.start(), lan);
}

/// Addresses of the server that the client connects to: its own, or those that only converters know.
fn targets(scenario: &Scenario) -> Vec<IpAddr> {
    let named = scenario.converters.as_ref().filter(|one| one.port.is_some()).and_then(|one| one.server.as_ref());
    named.map_or(&scenario.server.addresses, |link| &link.host).clone()
}

fn link(scenario: &Scenario, end: End) -> Option<&Lan> {
    let converters = scenario.converters.as_ref()?;
    if end == End::Client { converters.client.as_ref() } else { converters.server.as_ref() }
}
