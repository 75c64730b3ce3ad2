//! What a scenario has between its hosts.

use crate::elements::{self, Context};
use crate::network::{Link, Network, Path};
use crate::routes::{Owner, Routes};
use crate::timeline::Timeline;
use crate::{SERVER, cross_hosts};
use link::{Chain, Change, Element, Gate, Nat, Out};
use scenario::form::CrossTraffic;
use scenario::{Error, Scenario, form};
use serde_json::Value;
use std::net::IpAddr;
use wire::{Direction, Time};

impl Network {
    /// What a scenario has between its hosts, and what happens to it. `start` is when it starts.
    ///
    /// # Errors
    /// [`Error`] when an element cannot be made, or names and addresses do not fit together.
    pub fn of(scenario: &Scenario, start: Time) -> Result<Network, Error> {
        let mut links = Vec::new();
        for (name, described) in &scenario.links {
            links.push(Link::build(name, described, (scenario, 0), start)?);
        }
        let timeline = Timeline::of(scenario, &links, start)?;
        let link_named = |name: &str| links.iter().position(|link| *link.name == *name);
        let mut routes = Routes::default();
        let mut paths = Vec::new();
        for (number, path) in scenario.paths.iter().enumerate() {
            let link = link_named(&path.link)
                .ok_or_else(|| Error::fault(format!("path {}", path.name), format!("no link {}", path.link)))?;
            let changes = !path.attached || scenario.timeline.iter().any(|event| event.time_and_path().1 == path.name);
            let mut made = Path::new(&path.name, link, &path.addresses(), changes);
            if let (Some(chain), false) = (&mut made.chain, path.attached) {
                chain.change(start, Change::Detach, &mut Out::default()).expect("paths have a gate");
            }
            paths.push(made);
            for address in path.addresses() {
                routes.add(address, Owner::Path(number))?;
            }
        }
        for address in &scenario.server.addresses {
            routes.add(*address, Owner::Server(SERVER))?;
        }
        for (number, traffic) in scenario.cross_traffic.iter().enumerate() {
            let fault =
                || Error::fault(format!("cross traffic {}", traffic.name()), format!("no link {}", traffic.link()));
            let link = link_named(traffic.link()).ok_or_else(fault)?;
            let [neighbour, peer] = cross_hosts(number);
            let owners = [Owner::Neighbour { host: neighbour, link }, Owner::Server(peer)];
            for (address, owner) in CrossTraffic::addresses(number).into_iter().zip(owners) {
                routes.add(address, owner)?;
            }
        }
        Ok(Network::new(links, paths, routes, timeline))
    }
}

impl Link {
    /// `version` counts the descriptions that the link has had: each is drawn from streams of its own.
    pub(crate) fn build(
        name: &str,
        described: &form::Link,
        (scenario, version): (&Scenario, usize),
        start: Time,
    ) -> Result<Link, Error> {
        let mut link = Link { name: name.into(), chain: Chain::default(), elements: Vec::new() };
        let mut parts = Vec::new();
        let mut shared = Vec::new();
        let mut orders = [Vec::new(), Vec::new()];
        let lists = [(Direction::Up, "uplink", &described.uplink), (Direction::Down, "downlink", &described.downlink)];
        for (direction, key, list) in lists {
            for (position, value) in list.iter().enumerate() {
                let met = MetElement::of(value, parts.len());
                orders[direction as usize].push(met);
                if let MetElement::Elsewhere(_) = met {
                    continue;
                }
                shared.extend(MetElement::shared(value).map(|shared| (shared, parts.len())));
                let full = match version {
                    0 => format!("link/{name}/{key}/{position}"),
                    _ => format!("link/{name}/{version}/{key}/{position}"),
                };
                let alone = MetElement::alone(value);
                let built = elements::build(&alone, &Context { scenario, name: &full, start });
                let built = built.map_err(|fault| Error::Element {
                    link: name.into(),
                    direction: key,
                    index: position,
                    fault: fault.into(),
                })?;
                let kind = value.get("element").and_then(Value::as_str).unwrap_or_default();
                if built.sees_both_directions() && MetElement::shared(value).is_none() {
                    let at = format!("link {name}, {key}, element {}", position + 1);
                    return Err(Error::fault(at, format!("element `{kind}`: both directions must share it")));
                }
                parts.push(built);
                link.elements.push((full, direction, format!("{position}:{kind}").into()));
            }
        }
        let index = |met: &MetElement| match *met {
            MetElement::Here(index) => Some(index),
            MetElement::Elsewhere(name) => shared.iter().find(|(known, _)| *known == name).map(|(_, index)| *index),
        };
        let [up, down] = orders.map(|order| order.iter().map(index).collect::<Option<Vec<_>>>());
        let once =
            |order: &[usize]| order.iter().enumerate().all(|(position, index)| !order[..position].contains(index));
        let (Some(up), Some(down)) = (up.filter(|up| once(up)), down.filter(|down| once(down))) else {
            let fault =
                "an element that the directions share stands once in each: as it is in one, as its name in the other";
            return Err(Error::fault(format!("link {name}"), fault));
        };
        link.chain = Chain::new(parts, &up, &down);
        Ok(link)
    }
}

/// Which element packets meet at a position of a list.
#[derive(Clone, Copy)]
enum MetElement<'a> {
    /// The one with this index among all of the chain.
    Here(usize),
    /// That of the other direction with this name.
    Elsewhere(&'a str),
}

impl<'a> MetElement<'a> {
    fn of(value: &'a Value, index: usize) -> MetElement<'a> {
        match (value.get("element"), MetElement::shared(value)) {
            (None, Some(name)) => MetElement::Elsewhere(name),
            _ => MetElement::Here(index),
        }
    }

    /// The name by which the other direction shares the element.
    fn shared(value: &'a Value) -> Option<&'a str> {
        value.get(SHARED)?.as_str()
    }

    /// The element without that name.
    fn alone(value: &Value) -> Value {
        let mut alone = value.clone();
        if let Some(table) = alone.as_object_mut() {
            table.remove(SHARED);
        }
        alone
    }
}

/// The key of the name.
const SHARED: &str = "shared";

impl Path {
    fn new(name: &str, link: usize, addresses: &[IpAddr], changes: bool) -> Path {
        let chain = changes.then(|| {
            // The gate is the radio, at the client's end; the translator stands behind it.
            let elements: Vec<Box<dyn Element>> = vec![Box::new(Gate::new()), Box::new(Nat::new(addresses))];
            Chain::new(elements, &[0, 1], &[1, 0])
        });
        Path { name: name.into(), link, chain }
    }
}
