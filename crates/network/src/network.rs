//! What stands between the hosts: links, paths, and who has which address.

use crate::timeline::Timeline;
use link::{Chain, Direction, Element, Gate, Nat};
use scenario::form::CrossTraffic;
use scenario::{Error, Scenario, form, hosts};
use serde_json::Value;
use std::net::IpAddr;
use std::sync::Arc;
use wire::Time;

/// Places of hosts. Neighbours and their peers follow.
pub const CLIENT: usize = 0;
/// See [`CLIENT`].
pub const SERVER: usize = 1;

/// All that stands between hosts.
pub struct Network {
    /// By name.
    pub links: Vec<Link>,
    /// As the scenario lists them.
    pub paths: Vec<Path>,
    /// Who has which address.
    pub routes: Routes,
}

/// A link that paths and cross traffic may share.
pub struct Link {
    /// Its name.
    pub name: Arc<str>,
    /// Its elements.
    pub chain: Chain,
    /// In the order of the chain: full name, direction, and what tables call it.
    pub elements: Vec<(String, Direction, Arc<str>)>,
}

/// The client's way to its link.
pub struct Path {
    /// Its name.
    pub name: Arc<str>,
    /// Place of its link.
    pub link: usize,
    /// Gate and translator; none where nothing ever happens to the path.
    pub chain: Option<Chain>,
}

/// Who has an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A host behind the router.
    Server(usize),
    /// A path of the client.
    Path(usize),
    /// A host at the client's end of a link.
    Neighbour {
        /// Its place.
        host: usize,
        /// Place of the link.
        link: usize,
    },
}

/// Addresses and who has them.
#[derive(Clone, Debug, Default)]
pub struct Routes(Vec<(IpAddr, Owner)>);

impl Network {
    /// What a scenario has between its hosts, and what happens to it. `start` is when it starts.
    ///
    /// # Errors
    /// [`Error`] when an element cannot be made, or names and addresses do not fit together.
    pub fn of(scenario: &Scenario, start: Time) -> Result<(Network, Timeline), Error> {
        let mut links = Vec::new();
        for (name, described) in &scenario.links {
            links.push(Link::build(name, described, (scenario, 0), start)?);
        }
        let timeline = Timeline::of(scenario, &links, start)?;
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
        for (number, traffic) in scenario.cross_traffic.iter().enumerate() {
            let fault =
                || Error::fault(format!("cross traffic {}", traffic.name()), format!("no link {}", traffic.link()));
            let link = place(traffic.link()).ok_or_else(fault)?;
            let host = SERVER + 1 + 2 * number;
            let owners = [Owner::Neighbour { host, link }, Owner::Server(host + 1)];
            for (address, owner) in CrossTraffic::addresses(number).into_iter().zip(owners) {
                routes.add(address, owner)?;
            }
        }
        Ok((Network { links, paths, routes }, timeline))
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
        let ways = [(Direction::Up, "uplink", &described.uplink), (Direction::Down, "downlink", &described.downlink)];
        for (direction, way, list) in ways {
            for (place, value) in list.iter().enumerate() {
                let met = Met::of(value, parts.len());
                orders[direction as usize].push(met);
                if let Met::Elsewhere(_) = met {
                    continue;
                }
                shared.extend(Met::shared(value).map(|shared| (shared, parts.len())));
                let full = match version {
                    0 => format!("link/{name}/{way}/{place}"),
                    _ => format!("link/{name}/{version}/{way}/{place}"),
                };
                let at = format!("link {name}, {way}, element {}", place + 1);
                let alone = Met::alone(value);
                let built = match proxy::is_meant(&alone) {
                    true => proxy::build(&alone, hosts::seed(scenario, &full), start, hosts::origin(scenario)),
                    false => link::build(&alone, scenario.seed, &full, start),
                };
                let built = built.map_err(|fault| Error::Element { place: at.clone(), fault })?;
                let kind = value.get("element").and_then(Value::as_str).unwrap_or_default();
                if built.sees_both_directions() && Met::shared(value).is_none() {
                    return Err(Error::fault(at, format!("element `{kind}`: both directions must share it")));
                }
                parts.push(built);
                link.elements.push((full, direction, format!("{place}:{kind}").into()));
            }
        }
        let place = |met: &Met| match *met {
            Met::Here(place) => Some(place),
            Met::Elsewhere(name) => shared.iter().find(|(known, _)| *known == name).map(|(_, place)| *place),
        };
        let [up, down] = orders.map(|order| order.iter().map(place).collect::<Option<Vec<_>>>());
        let once = |order: &[usize]| order.iter().enumerate().all(|(at, place)| !order[..at].contains(place));
        let (Some(up), Some(down)) = (up.filter(|up| once(up)), down.filter(|down| once(down))) else {
            let fault =
                "an element that the directions share stands once in each: as it is in one, as its name in the other";
            return Err(Error::fault(format!("link {name}"), fault));
        };
        link.chain = Chain::new(parts, &up, &down);
        Ok(link)
    }
}

/// Where the element stands that packets meet in a place of a list.
#[derive(Clone, Copy)]
enum Met<'a> {
    /// The element of this place among all of the chain.
    Here(usize),
    /// That of the other direction with this name.
    Elsewhere(&'a str),
}

impl<'a> Met<'a> {
    fn of(value: &'a Value, place: usize) -> Met<'a> {
        match (value.get("element"), Met::shared(value)) {
            (None, Some(name)) => Met::Elsewhere(name),
            _ => Met::Here(place),
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

impl Routes {
    /// Adds an address.
    ///
    /// # Errors
    /// When another has it.
    pub fn add(&mut self, address: IpAddr, owner: Owner) -> Result<(), Error> {
        match self.find(address) {
            Some(other) if other != owner => Err(Error::fault("addresses", format!("{address} is given twice"))),
            Some(_) => Ok(()),
            None => {
                self.0.push((address, owner));
                Ok(())
            }
        }
    }

    /// Who has the address, if anybody. There are few: looking through them is quicker than hashing.
    #[inline]
    pub fn find(&self, address: IpAddr) -> Option<Owner> {
        self.0.iter().find(|(known, _)| *known == address).map(|(_, owner)| *owner)
    }
}
