//! ADD_ADDR tells of a further address (RFC 8684 §3.4.1, figure 12; RFC 6824 §3.4.1, figure 12).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +---------------+---------------+-------+-------+---------------+
//! |     Kind      |     Length    |Subtype|(rsv)|E|  Address ID   |   version 1
//! |               |               |       | IPVer |               |   version 0: 4 or 6
//! +---------------+---------------+-------+-------+---------------+
//! |           Address (IPv4: 4 octets / IPv6: 16 octets)          |
//! +-------------------------------+-------------------------------+
//! |   Port (2 octets, optional)   |                               |
//! +-------------------------------+                               |
//! |          Truncated HMAC (8 octets; version 1, if not E)       |
//! +---------------------------------------------------------------+
//! ```
//!
//! The family follows from the length, which differs in all eight forms: 8, 10, 16, 18 and, IPv6, 20, 22, 28, 30.

use crate::bytes::{be16, be32, be64, be128};
use crate::emit::{Writer, check};
use crate::{EmitError, Malformed};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

pub(super) const SUBTYPE: u8 = 3;

const ECHO: u8 = 0x01;

/// A further address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddAddr {
    /// Option format: 0 (no echo, no HMAC) or 1.
    ///
    /// Kernels of the multipath-tcp.org line sent an HMAC in format 0 too, as the drafts of RFC 8684 once had it.
    pub version: u8,
    /// Echo of the peer's ADD_ADDR.
    pub echo: bool,
    /// Identifier of the address.
    pub address_id: u8,
    /// The address.
    pub address: IpAddr,
    /// The port, where it is not the connection's.
    pub port: Option<u16>,
    /// Rightmost 64 bits of the HMAC.
    pub hmac: Option<u64>,
}

impl AddAddr {
    pub(super) fn parse(data: &[u8]) -> Result<Self, Malformed> {
        let (family, port, hmac) = match data.len() + 2 {
            8 => (4, false, false),
            10 => (4, true, false),
            16 => (4, false, true),
            18 => (4, true, true),
            20 => (6, false, false),
            22 => (6, true, false),
            28 => (6, false, true),
            30 => (6, true, true),
            _ => return Err(Malformed::length("ADD_ADDR", data.len())),
        };
        let nibble = data[0] & 0x0f;
        let version_0 = matches!(nibble, 4 | 6);
        if version_0 && nibble != family {
            return Err(Malformed::field("ADD_ADDR", "IP version", nibble));
        }
        let (address, rest) = if family == 4 {
            (IpAddr::V4(Ipv4Addr::from_bits(be32(data, 2))), &data[6..])
        } else {
            (IpAddr::V6(Ipv6Addr::from_bits(be128(data, 2))), &data[18..])
        };
        Ok(AddAddr {
            version: if version_0 { 0 } else { 1 },
            echo: !version_0 && nibble & ECHO != 0,
            address_id: data[1],
            address,
            port: port.then(|| be16(rest, 0)),
            hmac: hmac.then(|| be64(rest, if port { 2 } else { 0 })),
        })
    }

    pub(super) fn emit(&self, out: &mut Writer) -> Result<(), EmitError> {
        check(self.version < 2, "ADD_ADDR", "version")?;
        check(self.version == 1 || !self.echo, "ADD_ADDR", "echo in version 0")?;
        let nibble = match (self.version, self.address) {
            (0, IpAddr::V4(_)) => 4,
            (0, IpAddr::V6(_)) => 6,
            _ if self.echo => ECHO,
            _ => 0,
        };
        out.put(&[SUBTYPE << 4 | nibble, self.address_id]);
        match self.address {
            IpAddr::V4(address) => out.put(&address.octets()),
            IpAddr::V6(address) => out.put(&address.octets()),
        }
        if let Some(port) = self.port {
            out.put(&port.to_be_bytes());
        }
        if let Some(hmac) = self.hmac {
            out.put(&hmac.to_be_bytes());
        }
        Ok(())
    }
}
