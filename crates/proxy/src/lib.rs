//! A host that stands in a link and ends TCP there. To the link it is an element, which takes packets and has others of
//! its own; within are endpoints of `transport`.
//!
//! [`build`] makes one from its description in a scenario, [`elements`] says what can be set of it.

mod cache;
mod memory;
mod relay;
mod settings;

use host::Service;
use link::{Description, Element, Error};
use parameters::{Described, Parameters, fault, named};
use serde_json::Value;
use settings::Settings;
use std::net::IpAddr;
use wire::{L4, Options, Packet, TcpOption, Time};

/// The server that a cache answers for, and with what.
pub struct Origin {
    /// The server's addresses.
    pub addresses: Vec<IpAddr>,
    /// Where it listens.
    pub port: u16,
    /// What its applications do; none where the client brings the data, of which no cache can have any.
    pub service: Option<Service>,
    /// What clients ask it for, where they ask.
    pub object: Option<Object>,
}

/// What is asked for again and again, in bytes of a request and of its answer.
#[derive(Clone, Copy, Debug)]
pub struct Object {
    /// Of each request, at least 1.
    pub request_bytes: u64,
    /// Of each answer.
    pub response_bytes: u64,
}

/// Takes options of MPTCP away: who does not know an option ignores it (RFC 9293 §3.1).
fn make_plain(packet: &mut Packet) {
    let L4::Tcp(tcp) = &mut packet.frame.l4 else { return };
    let mut known = Options::NONE;
    for option in tcp.options.iter().flatten().filter(|option| !matches!(option, TcpOption::Mptcp(_))) {
        known.push(&option).expect("no more than there were");
    }
    tcp.options = known;
}

/// The elements that there are here.
pub fn elements() -> Vec<Description> {
    vec![Settings::description()]
}

/// Makes the host that a scenario describes. All that it draws by chance comes from `seed`; it is there from `start` on.
///
/// # Errors
/// [`Error`] with the parameter that is wrong.
pub fn build(value: &Value, seed: u64, start: Time, origin: Origin) -> Result<Box<dyn Element>, Error> {
    let (table, name) = named(value, "element")?;
    if name != Settings::NAME {
        return Err(Error::Unknown { what: "element", name: name.into(), known: Settings::NAME.into() });
    }
    let wrong = |fault| Error::Parameter { what: "element", name: name.into(), fault };
    let settings = Settings::read(table, Some("element")).map_err(wrong)?;
    let config = settings.config().map_err(wrong)?;
    if settings.cached.0 {
        return cache::make(config, seed, start, origin).map_err(wrong);
    }
    let unasked =
        || fault("caches", "only downloads by request-response can be cached: nothing else is asked for again");
    let memory = match settings.caches.0 {
        true => Some(memory::Memory::new(origin.object.ok_or_else(unasked).map_err(wrong)?)),
        false => None,
    };
    Ok(relay::make(config, seed, memory))
}
