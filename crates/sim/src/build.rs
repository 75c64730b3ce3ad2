//! From a scenario to hosts and what is between them.

use crate::Point;
use crate::cross::Cross;
use crate::observer::Site;
use crate::records::Records;
use crate::simulation::{Node, Simulation};
use host::Interface;
use network::{CLIENT, Network, SERVER, cross_hosts};
use scenario::applications::End;
use scenario::form::Settings;
use scenario::hosts::{client, seed, server};
use scenario::{Error, Scenario, converters};
use transport::Nic;
use wire::Direction;

impl Simulation {
    /// From a scenario in JSON.
    ///
    /// # Errors
    /// [`Error`] says in one line what is wrong with it.
    pub fn from_json(json: &str) -> Result<Simulation, Error> {
        Simulation::new(Scenario::from_json(json)?)
    }

    /// Of a scenario.
    ///
    /// # Errors
    /// [`Error`] says in one line what is wrong with it.
    pub fn new(scenario: Scenario) -> Result<Simulation, Error> {
        let earlier = earlier(&scenario).map(Simulation::new).transpose()?;
        let start = scenario.start();
        let network = Network::of(&scenario, start)?;
        let (client, server) = (client(&scenario), server(&scenario));
        let mut nodes = vec![
            Node::new("client", client, Some(Site::new(0, scenario.paths.len())), None, &scenario),
            Node::new("server", server, Some(Site::new(scenario.paths.len(), 1)), None, &scenario),
        ];
        let mut crosses = Vec::new();
        for (number, traffic) in scenario.cross_traffic.iter().enumerate() {
            let one = Cross { neighbour: cross_hosts(number)[0], traffic: traffic.clone() };
            let [neighbour, peer] = one.hosts(number, &scenario, start)?;
            let uplink = network.links().iter().position(|link| *link.name == *traffic.link());
            let name = |end: &str| format!("{}-{end}", traffic.name());
            nodes.push(Node::new(&name("neighbour"), neighbour, None, uplink, &scenario));
            nodes.push(Node::new(&name("peer"), peer, None, None, &scenario));
            crosses.push(one);
        }
        let mut ends = [CLIENT, SERVER];
        for (end, name) in [(End::Client, "home"), (End::Server, "origin")] {
            let (Some(host), Some(nic)) = (converters::behind(&scenario, end), converters::lan(&scenario, end)) else {
                continue;
            };
            let converter = std::mem::replace(&mut ends[end as usize], nodes.len());
            nodes[converter].lan = Some((nic, nodes.len(), Nic(0)));
            let mut node = Node::new(name, host, None, None, &scenario);
            node.lan = Some((Nic(0), converter, nic));
            nodes.push(node);
        }
        let records = Records::new(start, scenario.settings.sample_ns, senders(&scenario));
        Ok(Simulation::assemble(scenario, (nodes, ends), network, crosses, records).after(earlier))
    }

    /// Where packets are seen: the client's interfaces by path, then the server's.
    pub fn points(&self) -> Vec<Point> {
        let point = |host, interface: &Interface| Point { host, interface: interface.name.clone() };
        let paths = self.network().paths().len();
        let client = self.node(CLIENT).host.interfaces()[..paths].iter().map(|interface| point("client", interface));
        let server = self.node(SERVER).host.interfaces()[..1].iter().map(|interface| point("server", interface));
        client.chain(server).collect()
    }
}

/// The transfer before this one, where there was one: what varies within it is drawn for itself.
fn earlier(scenario: &Scenario) -> Option<Scenario> {
    let number = scenario.settings.earlier_transfers?;
    let left = Some(number.checked_sub(1)?);
    let seed = seed(scenario, &format!("earlier/{number}"));
    let settings = Settings { earlier_transfers: left, sample_ns: 0, ..scenario.settings };
    Some(Scenario { seed, settings, ..scenario.clone() })
}

/// Hosts whose state is sampled: those that send data.
fn senders(scenario: &Scenario) -> Vec<usize> {
    match scenario.transfer.direction() {
        _ if scenario.transfer.is_mutual() => vec![CLIENT, SERVER],
        Direction::Up => vec![CLIENT],
        Direction::Down => vec![SERVER],
    }
}
