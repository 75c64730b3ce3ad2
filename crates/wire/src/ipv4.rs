//! The IPv4 header (RFC 791 §3.1).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-------+-------+---------------+-------------------------------+
//! |Version|  IHL  |Type of Service|          Total Length         |
//! +-------+-------+---------------+-----+-------------------------+
//! |         Identification        |Flags|      Fragment Offset    |
//! +---------------+---------------+-----+-------------------------+
//! |  Time to Live |    Protocol   |         Header Checksum       |
//! +---------------+---------------+-------------------------------+
//! |                         Source Address                        |
//! +---------------------------------------------------------------+
//! |                      Destination Address                      |
//! +---------------------------------------------------------------+
//! |                    Options (0 to 40 bytes)                    |
//! +---------------------------------------------------------------+
//! ```

use crate::bytes::{be16, be32};
use crate::checksum::Sum;
use crate::ip::{AH, Datagram, Fragment};
use crate::{EmitError, Ip, Malformed};
use std::net::{IpAddr, Ipv4Addr};

const NAME: &str = "IPv4 header";
pub(crate) const LEN: usize = 20;

const DONT_FRAGMENT: u16 = 0x4000;
const MORE_FRAGMENTS: u16 = 0x2000;

#[inline]
pub(crate) fn parse(bytes: &[u8], original_len: u32) -> Result<Datagram<'_>, Malformed> {
    let Some(header) = bytes.first_chunk::<LEN>() else {
        return Err(Malformed::short(NAME, LEN, bytes.len()));
    };
    let header_len = usize::from(header[0] & 0x0f) * 4;
    if header_len < LEN {
        return Err(Malformed::field(NAME, "header length", header[0] & 0x0f));
    }
    let mut packet = parse_as(header, header_len, bytes, original_len)?;
    if packet.protocol == AH && packet.ip.has_transport_header() {
        crate::ipv6::skip_extension(&mut packet)?;
    }
    Ok(packet)
}

/// Reads the header as if it had no options and nothing followed but payload.
pub(crate) fn parse_fixed(bytes: &[u8]) -> Result<Datagram<'_>, Malformed> {
    let Some(header) = bytes.first_chunk::<LEN>() else {
        return Err(Malformed::short(NAME, LEN, bytes.len()));
    };
    parse_as(header, LEN, bytes, bytes.len() as u32)
}

#[inline(always)]
fn parse_as<'a>(
    header: &[u8; LEN],
    header_len: usize,
    bytes: &'a [u8],
    original_len: u32,
) -> Result<Datagram<'a>, Malformed> {
    if bytes.len() < header_len {
        return Err(Malformed::short(NAME, header_len, bytes.len()));
    }
    // Captures on the sending host show 0 where segmentation offload will fill the length in.
    let total = match be16(header, 2) {
        0 => original_len.max(bytes.len() as u32),
        total => u32::from(total),
    };
    if (total as usize) < header_len {
        return Err(Malformed::field(NAME, "total length", total));
    }
    let flags = be16(header, 6);
    Ok(Datagram {
        ip: Ip {
            source: IpAddr::V4(Ipv4Addr::from_bits(be32(header, 12))),
            destination: IpAddr::V4(Ipv4Addr::from_bits(be32(header, 16))),
            ttl: header[8],
            tos: header[1],
            id: be16(header, 4),
            dont_fragment: flags & DONT_FRAGMENT != 0,
            fragment: Fragment::new(flags & 0x1fff, flags & MORE_FRAGMENTS != 0),
        },
        protocol: header[9],
        len: total - header_len as u32,
        bytes: &bytes[header_len..bytes.len().min(total as usize)],
    })
}

/// Appends the header of a packet that carries `len` bytes.
#[inline]
pub(crate) fn emit(
    ip: &Ip,
    addresses: [Ipv4Addr; 2],
    protocol: u8,
    len: u32,
    out: &mut Vec<u8>,
) -> Result<(), EmitError> {
    let total = u16::try_from(len + LEN as u32);
    let total = total.map_err(|_| EmitError::Field { what: NAME, field: "more than 65535 bytes" })?;
    let mut flags = if ip.dont_fragment { DONT_FRAGMENT } else { 0 };
    if let Some(Fragment { offset, more }) = ip.fragment {
        flags |= offset >> 3 | if more { MORE_FRAGMENTS } else { 0 };
    }
    const VERSION_AND_LEN: u8 = 4 << 4 | (LEN / 4) as u8;
    let [source, destination] = addresses.map(Ipv4Addr::to_bits);
    let mut header = [
        u32::from_be_bytes([VERSION_AND_LEN, ip.tos, 0, 0]) | u32::from(total),
        u32::from(ip.id) << 16 | u32::from(flags),
        u32::from_be_bytes([ip.ttl, protocol, 0, 0]),
        source,
        destination,
    ];
    header[2] |= u32::from(Sum::default().add_words(header).finish());
    out.extend_from_slice(header.map(u32::to_be_bytes).as_flattened());
    Ok(())
}
