//! What stands between the hosts: links, paths, and who has which address.

use crate::Error;
use crate::scenario;
use link::{Chain, Direction, Element, Gate, Nat};
use std::net::IpAddr;
use std::sync::Arc;
use wire::Time;

/// All that stands between hosts.
pub(crate) struct Network {
    pub links: Vec<Link>,
    pub paths: Vec<Path>,
    pub routes: Routes,
}

/// A link that paths and cross traffic may share.
pub(crate) struct Link {
    pub name: Arc<str>,
    pub chain: Chain,
    /// In the order of the chain: full name, direction, and what tables call it.
    pub elements: Vec<(String, Direction, Arc<str>)>,
}

/// The client's way to its link.
pub(crate) struct Path {
    pub name: Arc<str>,
    pub link: usize,
    /// Gate and translator; none where nothing ever happens to the path.
    pub chain: Option<Chain>,
}

/// Who has an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A host behind the router.
    Server(usize),
    /// A path of the client.
    Path(usize),
    /// A host at the client's end of a link.
    Neighbour { host: usize, link: usize },
}

/// Addresses and who has them.
#[derive(Debug, Default)]
pub(crate) struct Routes(Vec<(IpAddr, Owner)>);

impl Link {
    /// `version` counts the descriptions that the link has had: each is drawn from streams of its own.
    pub fn build(
        name: &str,
        described: &scenario::Link,
        (seed, version): (u64, usize),
        start: Time,
    ) -> Result<Link, Error> {
        let mut elements = Vec::new();
        let mut make = |direction: Direction, list: &[serde_json::Value]| {
            let way = if direction == Direction::Up { "uplink" } else { "downlink" };
            let element = |(place, value): (usize, &serde_json::Value)| {
                let full = match version {
                    0 => format!("link/{name}/{way}/{place}"),
                    _ => format!("link/{name}/{version}/{way}/{place}"),
                };
                let built = link::build(value, seed, &full, start);
                let built = built.map_err(|fault| Error::Element {
                    place: format!("link {name}, {way}, element {}", place + 1),
                    fault,
                })?;
                let kind = value.get("element").and_then(serde_json::Value::as_str).unwrap_or_default();
                elements.push((full, direction, format!("{place}:{kind}").into()));
                Ok(built)
            };
            list.iter().enumerate().map(element).collect::<Result<Vec<_>, Error>>()
        };
        let uplink = make(Direction::Up, &described.uplink)?;
        let downlink = make(Direction::Down, &described.downlink)?;
        Ok(Link { name: name.into(), chain: Chain::of(uplink, downlink), elements })
    }
}

impl Path {
    pub fn new(name: &str, link: usize, addresses: &[IpAddr], changes: bool) -> Path {
        let chain = changes.then(|| {
            // The gate is the radio, at the client's end; the translator stands behind it.
            let elements: Vec<Box<dyn Element>> = vec![Box::new(Gate::new()), Box::new(Nat::new(addresses))];
            Chain::new(elements, &[0, 1], &[1, 0])
        });
        Path { name: name.into(), link, chain }
    }
}

impl Routes {
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

    /// There are few: looking through them is quicker than hashing.
    #[inline]
    pub fn find(&self, address: IpAddr) -> Option<Owner> {
        self.0.iter().find(|(known, _)| *known == address).map(|(_, owner)| *owner)
    }
}
