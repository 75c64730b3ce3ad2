//! The header of ICMP (RFC 792) and ICMPv6 (RFC 4443 §2.1).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +---------------+---------------+-------------------------------+
//! |     Type      |     Code      |           Checksum            |
//! +---------------+---------------+-------------------------------+
//! |                    depends on type and code                   |
//! +---------------------------------------------------------------+
//! ```

use crate::checksum::Sum;
use std::net::IpAddr;

pub(crate) const LEN: usize = 8;

/// Protocol number that goes with IPv4 or IPv6.
#[inline]
pub(crate) fn protocol(address: IpAddr) -> u8 {
    if address.is_ipv4() { 1 } else { 58 }
}

/// The header of a message; `sum` is that of its payload, and with IPv6 that of the pseudo-header too.
pub(crate) fn emit(kind: u8, code: u8, rest: [u8; 4], sum: Sum) -> [u8; LEN] {
    let [a, b, c, d] = rest;
    let [high, low] = sum.add(&[kind, code]).add(&rest).finish().to_be_bytes();
    [kind, code, high, low, a, b, c, d]
}
