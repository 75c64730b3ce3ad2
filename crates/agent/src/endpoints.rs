//! Endpoints of the kernel's path manager (linux/mptcp_pm.h): what `ip mptcp endpoint` shows and changes.

use crate::netlink::{Asking, Hearing, attribute, attributes, put, u16_at, u32_at};
use std::io::{Error, ErrorKind, Result};
use std::net::IpAddr;

const GENERIC: isize = 16;
/// The controller of generic netlink, and how a family's number is asked for.
const CONTROLLER: u16 = 16;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;
const MULTICAST_GROUPS: u16 = 7;
/// CTRL_ATTR_MCAST_GRP_*
const GROUP_NAME: u16 = 1;
const GROUP_ID: u16 = 2;
/// MPTCP_PM_CMD_*
const ADD_ADDR: u8 = 1;
const DEL_ADDR: u8 = 2;
const GET_ADDR: u8 = 3;
const GET_LIMITS: u8 = 6;
const SET_FLAGS: u8 = 7;
/// MPTCP_PM_ATTR_*
const ADDR: u16 = 1;
const SUBFLOWS: u16 = 3;
/// MPTCP_PM_ADDR_ATTR_*
const FAMILY: u16 = 1;
const ID: u16 = 2;
const ADDR4: u16 = 3;
const ADDR6: u16 = 4;
const FLAGS: u16 = 6;
const IF_IDX: u16 = 7;
/// MPTCP_PM_ADDR_FLAG_*
const SUBFLOW: u32 = 2;
const BACKUP: u32 = 4;
const IMPLICIT: u32 = 16;
/// Address families.
const INET: u16 = 2;
const INET6: u16 = 10;

/// An endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Its number.
    pub id: u8,
    /// Its address.
    pub address: IpAddr,
    /// What it is for.
    pub flags: u32,
    /// The index of the interface that it is bound to; 0: of none.
    pub interface: u32,
}

impl Endpoint {
    /// Whether subflows are opened from it: a path of ours.
    pub fn is_path(&self) -> bool {
        self.flags & SUBFLOW != 0
    }

    /// Whether its subflows are backups.
    pub fn is_backup(&self) -> bool {
        self.flags & BACKUP != 0
    }

    /// The same as a backup.
    #[must_use]
    pub fn backed(self) -> Endpoint {
        Endpoint { flags: self.flags | BACKUP, ..self }
    }

    /// The same as none.
    #[must_use]
    pub fn unbacked(self) -> Endpoint {
        Endpoint { flags: self.flags & !BACKUP, ..self }
    }

    fn emit(&self) -> Vec<u8> {
        let mut inner = Vec::new();
        match self.address {
            IpAddr::V4(address) => {
                put(&mut inner, FAMILY, &INET.to_ne_bytes());
                put(&mut inner, ADDR4, &address.octets());
            }
            IpAddr::V6(address) => {
                put(&mut inner, FAMILY, &INET6.to_ne_bytes());
                put(&mut inner, ADDR6, &address.octets());
            }
        }
        // 0: the kernel chooses.
        put(&mut inner, ID, &[self.id]);
        // The kernel makes implicit ones itself, and takes no such flag.
        put(&mut inner, FLAGS, &(self.flags & !IMPLICIT).to_ne_bytes());
        if self.interface != 0 {
            put(&mut inner, IF_IDX, &self.interface.to_ne_bytes());
        }
        let mut outer = Vec::new();
        // NLA_F_NESTED
        put(&mut outer, ADDR | 0x8000, &inner);
        outer
    }

    fn read(body: &[u8]) -> Option<Endpoint> {
        let inner = attribute(body, ADDR)?;
        let address = match (attribute(inner, ADDR4), attribute(inner, ADDR6)) {
            (Some(four), _) => <[u8; 4]>::try_from(four).ok()?.into(),
            (_, six) => <[u8; 16]>::try_from(six?).ok()?.into(),
        };
        Some(Endpoint {
            id: *attribute(inner, ID)?.first()?,
            address,
            flags: attribute(inner, FLAGS).map_or(0, |flags| u32_at(flags, 0)),
            interface: attribute(inner, IF_IDX).map_or(0, |index| u32_at(index, 0)),
        })
    }
}

/// What asks for them and changes them.
pub struct Endpoints {
    asking: Asking,
    family: u16,
    events: Option<u32>,
}

impl Endpoints {
    /// Finds the kernel's path manager.
    ///
    /// # Errors
    /// The kernel has no MPTCP, or netlink cannot be used.
    pub fn new() -> Result<Endpoints> {
        let mut asking = Asking::new(GENERIC)?;
        let mut body = vec![GET_FAMILY, 1, 0, 0];
        put(&mut body, FAMILY_NAME, b"mptcp_pm\0");
        let answers = asking.order(CONTROLLER, &body).map_err(|error| match error.kind() {
            ErrorKind::NotFound => Error::new(error.kind(), "this kernel has no MPTCP"),
            _ => error,
        })?;
        let answer = answers.first().and_then(|answer| answer.get(4..)).unwrap_or_default();
        let family = attribute(answer, FAMILY_ID).map(|id| u16_at(id, 0));
        let family = family.ok_or_else(|| Error::other("the kernel does not name mptcp_pm"))?;
        let groups = attributes(attribute(answer, MULTICAST_GROUPS).unwrap_or_default());
        let events = groups.filter(|(_, group)| attribute(group, GROUP_NAME) == Some(b"mptcp_pm_events\0"));
        let events = events.filter_map(|(_, group)| attribute(group, GROUP_ID)).map(|id| u32_at(id, 0)).next();
        Ok(Endpoints { asking, family, events })
    }

    /// Hears of connections and subflows that come and go; none where the kernel does not tell.
    pub fn events(&self) -> Option<Hearing> {
        Hearing::new(GENERIC, &[self.events?]).ok()
    }

    /// Whether they may be changed: who may not is refused before it is seen that nothing was named.
    ///
    /// # Errors
    /// They may not.
    pub fn may_change(&mut self) -> Result<()> {
        match self.asking.order(self.family, &[DEL_ADDR, 1, 0, 0]) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => Err(error),
            _ => Ok(()),
        }
    }

    /// All that there are.
    pub fn list(&mut self) -> Result<Vec<Endpoint>> {
        let answers = self.asking.dump(self.family, &[GET_ADDR, 1, 0, 0])?;
        Ok(answers.iter().filter_map(|answer| Endpoint::read(answer.get(4..)?)).collect())
    }

    /// How many subflows a connection may have beside its first (`ip mptcp limits`).
    pub fn limit(&mut self) -> Result<u32> {
        let answers = self.asking.order(self.family, &[GET_LIMITS, 1, 0, 0])?;
        let answer = answers.first().and_then(|answer| answer.get(4..)).unwrap_or_default();
        let limit = attribute(answer, SUBFLOWS).map(|limit| u32_at(limit, 0));
        limit.ok_or_else(|| Error::other("the kernel does not name its limit of subflows"))
    }

    /// Takes one away: its subflows end here, and REMOVE_ADDR tells peers.
    pub fn delete(&mut self, endpoint: &Endpoint) -> Result<()> {
        self.order(DEL_ADDR, endpoint)
    }

    /// Brings one, as it was, or with another number if its own is taken: subflows are opened from it.
    pub fn add(&mut self, endpoint: &Endpoint) -> Result<()> {
        match self.order(ADD_ADDR, endpoint) {
            // Older kernels say no more than that the request is invalid.
            Err(error) if matches!(error.kind(), ErrorKind::ResourceBusy | ErrorKind::InvalidInput) => {
                self.order(ADD_ADDR, &Endpoint { id: 0, ..*endpoint })
            }
            outcome => outcome,
        }
    }

    /// Makes it a backup, or none any more, by its flags: MP_PRIO tells peers over each of its subflows.
    pub fn set_flags(&mut self, endpoint: &Endpoint) -> Result<()> {
        self.order(SET_FLAGS, endpoint)
    }

    fn order(&mut self, command: u8, endpoint: &Endpoint) -> Result<()> {
        let mut body = vec![command, 1, 0, 0];
        body.extend(endpoint.emit());
        self.asking.order(self.family, &body).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_reads_as_it_was_written() {
        for address in ["10.0.1.2", "fd00:0:1::2"] {
            let endpoint = Endpoint { id: 3, address: address.parse().unwrap(), flags: 6, interface: 12 };
            assert_eq!(Endpoint::read(&endpoint.emit()), Some(endpoint));
        }
    }
}
