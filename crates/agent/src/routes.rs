//! Routes and rules of the host, as far as repairing them needs it (linux/rtnetlink.h, linux/fib_rules.h).

use crate::netlink::{Asking, attribute, ip_address, put, u32_at};
use std::io::{Error, ErrorKind, Result};
use std::net::IpAddr;

const ROUTE: isize = 0;
const NEW_ROUTE: u16 = 24;
const DELETE_ROUTE: u16 = 25;
const GET_ROUTE: u16 = 26;
const NEW_RULE: u16 = 32;
const DELETE_RULE: u16 = 33;
const GET_RULE: u16 = 34;
/// Of struct rtmsg and struct fib_rule_hdr, which are alike: lengths of prefixes, table, protocol, scope, kind; flags.
const HEADER_BYTES: usize = 12;
const TO_BITS: usize = 1;
const FROM_BITS: usize = 2;
const TABLE_AT: usize = 4;
const PROTOCOL_AT: usize = 5;
const KIND_AT: usize = 7;
const FLAGS_AT: usize = 8;
/// RTA_*
const DESTINATION: u16 = 1;
const OUT_INTERFACE: u16 = 4;
const GATEWAY: u16 = 5;
const METRIC: u16 = 6;
const PREFERRED_SOURCE: u16 = 7;
const TABLE: u16 = 15;
/// A next hop of another family, or within something else: not ours to copy.
const OTHER: [u16; 2] = [18, 22];
/// FRA_*
const FROM: u16 = 2;
const PRIORITY: u16 = 6;
const RULE_PROTOCOL: u16 = 21;
/// RTN_UNICAST, FR_ACT_TO_TBL
const UNICAST: u8 = 1;
/// RTNH_F_ONLINK: the gateway needs no route of its own.
const ON_LINK: u32 = 4;
const INET: u8 = 2;
const INET6: u8 = 10;
/// The host's own table (RT_TABLE_MAIN), and that of its addresses.
pub const MAIN: u32 = 254;
/// What we make is known by it: none of the kernel's own (linux/rtnetlink.h), nor of iproute2's.
pub const OURS: u8 = 113;

/// Which routes are asked for: only those of a table, over an interface, or by who made them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Which {
    pub table: Option<u32>,
    pub interface: Option<u32>,
    pub protocol: Option<u8>,
}

/// A route to hosts beyond an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Its table.
    pub table: u32,
    /// Who made it.
    pub protocol: u8,
    /// Where it leads: an address, none for all, and how many bits of it count.
    pub destination: Option<IpAddr>,
    /// How many.
    pub bits: u8,
    /// How far it leads (RT_SCOPE_*).
    pub scope: u8,
    /// The next host on the way; none: the destination itself.
    pub gateway: Option<IpAddr>,
    /// Over which interface.
    pub interface: u32,
    /// From which address, unless a program chooses one.
    pub source: Option<IpAddr>,
    /// Of several the least counts.
    pub metric: u32,
    /// Flags of the next hop.
    pub flags: u32,
    /// Whether it is one of IPv4.
    pub is_ipv4: bool,
}

impl Which {
    fn has(&self, route: &Route) -> bool {
        self.table.is_none_or(|table| route.table == table)
            && self.interface.is_none_or(|interface| route.interface == interface)
            && self.protocol.is_none_or(|protocol| route.protocol == protocol)
    }
}

/// What comes from an address goes by a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// From this address alone.
    pub from: IpAddr,
    /// By this table.
    pub table: u32,
    /// Of several the least comes first.
    pub priority: u32,
    /// What made it (rtm_protocol); 0: unknown.
    pub protocol: u8,
}

/// What asks for them and changes them.
pub struct Routes(Asking);

impl Routes {
    /// Nobody is asked yet.
    pub fn new() -> Result<Routes> {
        Asking::new(ROUTE).map(|asking| Routes(asking.strict()))
    }

    /// Routes over interfaces. The kernel chooses which: a router may have a million others.
    pub fn routes(&mut self, which: Which) -> Result<Vec<Route>> {
        let mut found = Vec::new();
        for is_ipv4 in [true, false] {
            let answers = match self.0.dump(GET_ROUTE, &of_which(which, is_ipv4)) {
                // Of a table that is not there, or over an interface that is gone.
                Err(error) if is_of_nothing(&error) => continue,
                answers => answers?,
            };
            // A kernel without IPv6 gives the routes of IPv4 instead.
            let is_wanted = |route: &Route| route.is_ipv4 == is_ipv4 && which.has(route);
            found.extend(answers.iter().filter_map(|answer| route(answer)).filter(is_wanted));
        }
        Ok(found)
    }

    /// All rules that choose by one address alone.
    pub fn rules(&mut self) -> Result<Vec<Rule>> {
        let answers = self.0.dump(GET_RULE, &[0; HEADER_BYTES])?;
        Ok(answers.iter().filter_map(|answer| rule(answer)).collect())
    }

    /// Makes a route; one that is there already will do.
    pub fn add_route(&mut self, route: &Route) -> Result<()> {
        there(self.0.create(NEW_ROUTE, &of_route(route)))
    }

    /// Takes one away; one that is not there any more will do.
    pub fn delete_route(&mut self, route: &Route) -> Result<()> {
        gone(self.0.order(DELETE_ROUTE, &of_route(route)))
    }

    /// Makes a rule; one that is there already will do.
    pub fn add_rule(&mut self, rule: &Rule) -> Result<()> {
        there(self.0.create(NEW_RULE, &of_rule(rule)))
    }

    /// Takes one away; one that is not there any more will do.
    pub fn delete_rule(&mut self, rule: &Rule) -> Result<()> {
        gone(self.0.order(DELETE_RULE, &of_rule(rule)))
    }
}

/// Whether what is asked about is not there: a route or rule, a table, or an interface with all that was its own.
fn is_of_nothing(error: &Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ESRCH | libc::ENOENT | libc::ENODEV))
}

fn gone<T>(outcome: Result<T>) -> Result<()> {
    outcome.map(drop).or_else(|error| if is_of_nothing(&error) { Ok(()) } else { Err(error) })
}

fn there(outcome: Result<()>) -> Result<()> {
    outcome.or_else(|error| if error.kind() == ErrorKind::AlreadyExists { Ok(()) } else { Err(error) })
}

fn header(is_ipv4: bool, table: u32, kind: u8) -> Vec<u8> {
    let mut body = vec![0; HEADER_BYTES];
    body[0] = if is_ipv4 { INET } else { INET6 };
    // RT_TABLE_COMPAT: the attribute says which.
    body[TABLE_AT] = u8::try_from(table).unwrap_or(252);
    body[KIND_AT] = kind;
    body
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

fn of_which(which: Which, is_ipv4: bool) -> Vec<u8> {
    let mut body = header(is_ipv4, which.table.unwrap_or(0), 0);
    body[PROTOCOL_AT] = which.protocol.unwrap_or(0);
    for (kind, number) in [(OUT_INTERFACE, which.interface), (TABLE, which.table)] {
        if let Some(number) = number {
            put(&mut body, kind, &number.to_ne_bytes());
        }
    }
    body
}

fn of_route(route: &Route) -> Vec<u8> {
    let mut body = header(route.is_ipv4, route.table, UNICAST);
    (body[TO_BITS], body[PROTOCOL_AT], body[PROTOCOL_AT + 1]) = (route.bits, route.protocol, route.scope);
    body[FLAGS_AT..HEADER_BYTES].copy_from_slice(&(route.flags & ON_LINK).to_ne_bytes());
    for (kind, address) in
        [(DESTINATION, route.destination), (GATEWAY, route.gateway), (PREFERRED_SOURCE, route.source)]
    {
        if let Some(address) = address {
            put(&mut body, kind, &octets(address));
        }
    }
    for (kind, number) in [(OUT_INTERFACE, route.interface), (METRIC, route.metric), (TABLE, route.table)] {
        put(&mut body, kind, &number.to_ne_bytes());
    }
    body
}

fn of_rule(rule: &Rule) -> Vec<u8> {
    let mut body = header(rule.from.is_ipv4(), rule.table, UNICAST);
    let from = octets(rule.from);
    body[FROM_BITS] = from.len() as u8 * 8;
    put(&mut body, FROM, &from);
    put(&mut body, PRIORITY, &rule.priority.to_ne_bytes());
    put(&mut body, TABLE, &rule.table.to_ne_bytes());
    put(&mut body, RULE_PROTOCOL, &[rule.protocol]);
    body
}

fn route(answer: &[u8]) -> Option<Route> {
    let (header, attributes) = answer.split_at_checked(HEADER_BYTES)?;
    let address = |kind| attribute(attributes, kind).and_then(ip_address);
    let number = |kind| attribute(attributes, kind).map(|bytes| u32_at(bytes, 0));
    // RTM_F_CLONED is one that the kernel remembers of a way that it went.
    let is_plain = header[KIND_AT] == UNICAST && u32_at(header, FLAGS_AT) & 0x200 == 0;
    if !is_plain || OTHER.iter().any(|&kind| attribute(attributes, kind).is_some()) {
        return None;
    }
    Some(Route {
        table: number(TABLE).unwrap_or_else(|| header[TABLE_AT].into()),
        protocol: header[PROTOCOL_AT],
        destination: address(DESTINATION),
        bits: header[TO_BITS],
        scope: header[PROTOCOL_AT + 1],
        gateway: address(GATEWAY),
        interface: number(OUT_INTERFACE)?,
        source: address(PREFERRED_SOURCE),
        metric: number(METRIC).unwrap_or(0),
        flags: u32_at(header, FLAGS_AT) & ON_LINK,
        is_ipv4: header[0] == INET,
    })
}

fn rule(answer: &[u8]) -> Option<Rule> {
    let (header, attributes) = answer.split_at_checked(HEADER_BYTES)?;
    let from = attribute(attributes, FROM).and_then(ip_address)?;
    let number = |kind| attribute(attributes, kind).map(|bytes| u32_at(bytes, 0));
    let is_one = usize::from(header[FROM_BITS]) == octets(from).len() * 8;
    is_one.then(|| Rule {
        from,
        table: number(TABLE).unwrap_or_else(|| header[TABLE_AT].into()),
        priority: number(PRIORITY).unwrap_or(0),
        protocol: attribute(attributes, RULE_PROTOCOL).and_then(<[u8]>::first).copied().unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_the_same() {
        let given = Route {
            table: 5007,
            protocol: OURS,
            destination: None,
            bits: 0,
            scope: 0,
            gateway: Some("192.0.2.1".parse().unwrap()),
            interface: 7,
            source: Some("192.0.2.7".parse().unwrap()),
            metric: 600,
            flags: ON_LINK,
            is_ipv4: true,
        };
        assert_eq!(route(&of_route(&given)), Some(given));
        let chosen = Rule { from: "2001:db8::7".parse().unwrap(), table: 5007, priority: 5007, protocol: OURS };
        assert_eq!(rule(&of_rule(&chosen)), Some(chosen));
    }

    #[test]
    fn an_interface_that_is_gone_has_no_routes() {
        let gone = Which { interface: Some(i32::MAX as u32), ..Which::default() };
        let mut routes = Routes::new().unwrap();
        assert_eq!(routes.routes(gone).unwrap(), []);
        assert_eq!(routes.routes(Which { table: Some(MAIN), ..gone }).unwrap(), []);
    }
}
