//! Subflows of everybody's connections, by inet_diag (linux/inet_diag.h): needs CAP_NET_ADMIN for those of others.

use crate::netlink::{Asking, attribute, u32_at, u64_at};
use std::io::Result;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const SOCK_DIAG: isize = 4;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const TCP: u8 = 6;
/// INET_DIAG_*
const INFO: u16 = 2;
const ULP_INFO: u16 = 19;
/// INET_ULP_INFO_MPTCP
const ULP_MPTCP: u16 = 3;
const INET: u8 = 2;
const INET6: u8 = 10;
/// Established, and those whose peer has said that it sends no more.
const STATES: u32 = 1 << 1 | 1 << 8;
/// Of struct inet_diag_msg: both addresses, the cookie, its length.
const LOCAL: usize = 8;
const REMOTE: usize = 24;
const COOKIE: usize = 44;
const MESSAGE_BYTES: usize = 72;
/// Of struct tcp_info.
const UNACKED: usize = 24;
const RTT: usize = 68;
const RTTVAR: usize = 72;
const BYTES_ACKED: usize = 120;
const BYTES_RECEIVED: usize = 128;

/// A subflow that is established.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subflow {
    /// Never used again for another.
    pub cookie: u64,
    /// Its addresses.
    pub local: IpAddr,
    /// The peer's.
    pub remote: IpAddr,
    /// Segments sent and not acknowledged.
    pub unacked: u32,
    /// Bytes that the peer acknowledged.
    pub acked_bytes: u64,
    /// Bytes that came, in order.
    pub received_bytes: u64,
    /// Smoothed round-trip time and deviation; 0 before the first sample.
    pub rtt_us: u32,
    /// Its deviation.
    pub rttvar_us: u32,
}

/// What asks for them.
pub struct Subflows(Asking);

impl Subflows {
    /// Nobody is asked yet.
    pub fn new() -> Result<Subflows> {
        Asking::new(SOCK_DIAG).map(Subflows)
    }

    /// All that there are now.
    pub fn list(&mut self) -> Result<Vec<Subflow>> {
        let mut found = Vec::new();
        for family in [INET, INET6] {
            let mut body = vec![family, TCP, 1 << (INFO - 1), 0];
            body.extend(STATES.to_ne_bytes());
            body.extend([0; 48]);
            found.extend(self.0.dump(SOCK_DIAG_BY_FAMILY, &body)?.iter().filter_map(|answer| read(answer)));
        }
        Ok(found)
    }
}

fn read(answer: &[u8]) -> Option<Subflow> {
    let attributes = answer.get(MESSAGE_BYTES..)?;
    attribute(attribute(attributes, ULP_INFO)?, ULP_MPTCP)?;
    let info = attribute(attributes, INFO)?;
    Some(Subflow {
        cookie: u64_at(answer, COOKIE),
        local: address(answer, LOCAL)?,
        remote: address(answer, REMOTE)?,
        unacked: u32_at(info, UNACKED),
        acked_bytes: u64_at(info, BYTES_ACKED),
        received_bytes: u64_at(info, BYTES_RECEIVED),
        rtt_us: u32_at(info, RTT),
        rttvar_us: u32_at(info, RTTVAR),
    })
}

/// An address; one of IPv4 in IPv6 is of IPv4.
fn address(answer: &[u8], at: usize) -> Option<IpAddr> {
    let bytes = answer.get(at..)?;
    Some(match answer[0] {
        INET => Ipv4Addr::from(*bytes.first_chunk::<4>()?).into(),
        _ => Ipv6Addr::from(*bytes.first_chunk::<16>()?).to_canonical(),
    })
}
