//! Addresses of the host and their interfaces (linux/rtnetlink.h, linux/if_addr.h).

use crate::kernel::Address;
use crate::netlink::{Asking, Hearing, attribute, ip_address, u32_at};
use std::collections::HashMap;
use std::io::Result;
use std::net::IpAddr;

const ROUTE: isize = 0;
const GET_LINK: u16 = 18;
const GET_ADDRESS: u16 = 22;
/// Of struct ifinfomsg: index and flags; its length, and that of struct ifaddrmsg.
const LINK_INDEX: usize = 4;
const LINK_FLAGS: usize = 8;
const LINK_BYTES: usize = 16;
const ADDRESS_INDEX: usize = 4;
const ADDRESS_BYTES: usize = 8;
const INTERFACE_NAME: u16 = 3;
/// IFA_ADDRESS and IFA_LOCAL, which differ where a point-to-point link names its other end.
const ADDRESS: u16 = 1;
const LOCAL: u16 = 2;
/// IFF_RUNNING: it is up, and has a carrier.
const RUNNING: u32 = 0x40;
/// RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR
const GROUPS: [u32; 3] = [1, 5, 9];

/// What asks for them.
pub struct Addresses(Asking);

impl Addresses {
    /// Nobody is asked yet.
    pub fn new() -> Result<Addresses> {
        Asking::new(ROUTE).map(Addresses)
    }

    /// Hears of links and addresses that come and go.
    pub fn events() -> Result<Hearing> {
        Hearing::new(ROUTE, &GROUPS)
    }

    /// All that there are.
    pub fn list(&mut self) -> Result<Vec<Address>> {
        let links: HashMap<u32, (String, bool)> =
            self.0.dump(GET_LINK, &[0; LINK_BYTES])?.iter().filter_map(|answer| link(answer)).collect();
        let answers = self.0.dump(GET_ADDRESS, &[0; ADDRESS_BYTES])?;
        let found = answers.iter().filter_map(|answer| {
            let index = u32_at(answer, ADDRESS_INDEX);
            let (name, is_running) = links.get(&index)?;
            Some(Address { address: address(answer)?, index, interface: name.clone(), is_running: *is_running })
        });
        Ok(found.collect())
    }
}

fn link(answer: &[u8]) -> Option<(u32, (String, bool))> {
    let name = attribute(answer.get(LINK_BYTES..)?, INTERFACE_NAME)?;
    let name = String::from_utf8_lossy(name.strip_suffix(b"\0").unwrap_or(name)).into_owned();
    Some((u32_at(answer, LINK_INDEX), (name, u32_at(answer, LINK_FLAGS) & RUNNING != 0)))
}

fn address(answer: &[u8]) -> Option<IpAddr> {
    let attributes = answer.get(ADDRESS_BYTES..)?;
    attribute(attributes, LOCAL).or_else(|| attribute(attributes, ADDRESS)).and_then(ip_address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_has_loopback() {
        let found = Addresses::new().unwrap().list().unwrap();
        let Some(own) = found.iter().find(|one| one.address.is_loopback()) else { return };
        assert_eq!(own.interface, "lo");
        assert!(own.is_running && own.index > 0);
    }
}
