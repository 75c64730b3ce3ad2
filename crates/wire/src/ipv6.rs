//! The IPv6 header (RFC 8200 §3) and its extension headers (§4).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-------+---------------+---------------------------------------+
//! |Version| Traffic Class |           Flow Label                  |
//! +-------+---------------+-------+---------------+---------------+
//! |         Payload Length        |  Next Header  |   Hop Limit   |
//! +-------------------------------+---------------+---------------+
//! |                   Source Address (16 bytes)                   |
//! +---------------------------------------------------------------+
//! |                Destination Address (16 bytes)                 |
//! +---------------------------------------------------------------+
//! ```

use crate::bytes::{be16, be32, be128};
use crate::ip::{AH, Datagram, Fragment};
use crate::{EmitError, Ip, Malformed};
use std::net::{IpAddr, Ipv6Addr};

const NAME: &str = "IPv6 header";
pub(crate) const LEN: usize = 40;

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION: u8 = 60;

#[inline]
pub(crate) fn parse(bytes: &[u8], original_len: u32) -> Result<Datagram<'_>, Malformed> {
    let mut packet = parse_fixed(bytes, original_len)?;
    while packet.ip.has_transport_header() && skip_extension(&mut packet)? {}
    Ok(packet)
}

/// Reads the header as if nothing followed but payload.
#[inline]
pub(crate) fn parse_fixed(bytes: &[u8], original_len: u32) -> Result<Datagram<'_>, Malformed> {
    let Some(header) = bytes.first_chunk::<LEN>() else {
        return Err(Malformed::short(NAME, LEN, bytes.len()));
    };
    // 0: a jumbogram (RFC 2675 §3), or a length that segmentation offload will fill in.
    let len = match be16(header, 4) {
        0 => original_len.max(bytes.len() as u32).saturating_sub(LEN as u32),
        len => u32::from(len),
    };
    Ok(Datagram {
        ip: Ip {
            source: IpAddr::V6(address(header, 8)),
            destination: IpAddr::V6(address(header, 24)),
            ttl: header[7],
            tos: (be32(header, 0) >> 20) as u8,
            id: 0,
            dont_fragment: true,
            fragment: None,
        },
        protocol: header[6],
        len,
        bytes: &bytes[LEN..bytes.len().min(LEN.saturating_add(len as usize))],
    })
}

/// Takes off one extension header, if there is one.
pub(crate) fn skip_extension(packet: &mut Datagram) -> Result<bool, Malformed> {
    let name = match packet.protocol {
        HOP_BY_HOP | ROUTING | DESTINATION => "IPv6 extension header",
        FRAGMENT => "IPv6 fragment header",
        AH => "authentication header",
        _ => return Ok(false),
    };
    let Some(header) = packet.bytes.first_chunk::<8>() else {
        return Err(Malformed::short(name, 8, packet.bytes.len()));
    };
    let len = match packet.protocol {
        FRAGMENT => {
            // Offset in eights, two reserved bits, "more" (RFC 8200 §4.5).
            let field = be16(header, 2);
            packet.ip.fragment = Fragment::new(field >> 3, field & 1 != 0);
            8
        }
        AH => (usize::from(header[1]) + 2) * 4, // RFC 4302 §2.2
        _ => (usize::from(header[1]) + 1) * 8,
    };
    let next = header[0];
    packet.skip(name, len)?;
    packet.protocol = next;
    Ok(true)
}

/// Appends the header, and a fragment header where the packet is a piece, of a packet that carries `len` bytes.
#[inline]
pub(crate) fn emit(
    ip: &Ip,
    addresses: [Ipv6Addr; 2],
    protocol: u8,
    len: u32,
    out: &mut Vec<u8>,
) -> Result<(), EmitError> {
    let len = u16::try_from(len + if ip.fragment.is_some() { 8 } else { 0 });
    let len = len.map_err(|_| EmitError::Field { what: NAME, field: "more than 65535 bytes" })?;
    let mut header = [0; LEN];
    header[0..4].copy_from_slice(&(6 << 28 | u32::from(ip.tos) << 20).to_be_bytes());
    header[4..6].copy_from_slice(&len.to_be_bytes());
    header[6] = if ip.fragment.is_some() { FRAGMENT } else { protocol };
    header[7] = ip.ttl;
    header[8..24].copy_from_slice(&addresses[0].octets());
    header[24..40].copy_from_slice(&addresses[1].octets());
    out.extend_from_slice(&header);
    if let Some(Fragment { offset, more }) = ip.fragment {
        out.extend_from_slice(&[protocol, 0]);
        out.extend_from_slice(&(offset | u16::from(more)).to_be_bytes());
        out.extend_from_slice(&[0; 4]);
    }
    Ok(())
}

/// Whether a packet's protocol is a header that parsing takes off.
pub(crate) fn is_extension(protocol: u8) -> bool {
    matches!(protocol, HOP_BY_HOP | ROUTING | DESTINATION | FRAGMENT | AH)
}

#[inline(always)]
fn address(header: &[u8; LEN], at: usize) -> Ipv6Addr {
    Ipv6Addr::from_bits(be128(header, at))
}
