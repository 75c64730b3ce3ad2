//! What ICMP says of a packet that was too big for a link (RFC 1191 §4, RFC 4443 §3.2).

use crate::bytes::{be16, be32};
use crate::{L4, Packet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// A TCP segment that was too big. Of its header, eight bytes are quoted at least (RFC 792).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooBig {
    /// Bytes of the largest packet that passes.
    pub mtu_bytes: u32,
    /// The sender of the segment.
    pub source: SocketAddr,
    /// Its receiver.
    pub destination: SocketAddr,
    /// Its sequence number.
    pub seq: u32,
}

const TCP: u8 = crate::ip::TCP;

impl TooBig {
    /// From an ICMP message; none where it says anything else, or no size (as routers before RFC 1191).
    pub fn of(packet: &Packet) -> Option<TooBig> {
        let quoted = packet.payload();
        let (mtu_bytes, source, destination, tcp) = match packet.frame.l4 {
            L4::Icmp { kind: 3, code: 4, rest } if packet.frame.ip.source.is_ipv4() => {
                let header = usize::from(quoted.first()? & 0xf) * 4;
                let [source, destination] =
                    [12, 16].map(|at| Some(Ipv4Addr::from_bits(be32(quoted.get(at..at + 4)?, 0))));
                let is_tcp = quoted[0] >> 4 == 4 && *quoted.get(9)? == TCP;
                (
                    u32::from(be16(&rest, 2)),
                    IpAddr::V4(source?),
                    IpAddr::V4(destination?),
                    quoted.get(header..).filter(|_| is_tcp)?,
                )
            }
            L4::Icmp { kind: 2, code: 0, rest } if packet.frame.ip.source.is_ipv6() => {
                let [source, destination] =
                    [8, 24].map(|at| Some(Ipv6Addr::from(<[u8; 16]>::try_from(quoted.get(at..at + 16)?).ok()?)));
                let is_tcp = quoted.first()? >> 4 == 6 && *quoted.get(6)? == TCP;
                (be32(&rest, 0), IpAddr::V6(source?), IpAddr::V6(destination?), quoted.get(40..).filter(|_| is_tcp)?)
            }
            _ => return None,
        };
        let tcp: &[u8; 8] = tcp.first_chunk()?;
        Some(TooBig {
            mtu_bytes: Some(mtu_bytes).filter(|&bytes| bytes > 0)?,
            source: SocketAddr::new(source, be16(tcp, 0)),
            destination: SocketAddr::new(destination, be16(tcp, 2)),
            seq: be32(tcp, 4),
        })
    }
}
