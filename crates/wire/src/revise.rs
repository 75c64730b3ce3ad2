//! Headers as they came from outside, with what a frame says in its place: what no frame has a value for stays.

use crate::body::Original;
use crate::bytes::be16;
use crate::checksum::{Sum, fold};
use crate::emit::check;
use crate::ip::{TCP, UDP};
use crate::tcp::CHECKSUM;
use crate::{EmitError, Frame, Ip, L4, icmp, ipv6, udp};
use std::net::IpAddr;

/// Where the checksum of IPv4 stands.
const IPV4_CHECKSUM: usize = 10;
const DONT_FRAGMENT: u8 = 0x40;

/// Appends the headers of `original` as `frame` says. A checksum that was there is right or wrong as before, one that was
/// not is made with `payload`.
pub(crate) fn headers(original: &Original, frame: &Frame, payload: &[u8], out: &mut Vec<u8>) -> Result<(), EmitError> {
    let before = original.frame();
    let is_same_kind = match (&before.l4, &frame.l4) {
        (L4::Other(before), L4::Other(after)) => before == after,
        (before, after) => std::mem::discriminant(before) == std::mem::discriminant(after),
    };
    if !is_same_kind || before.ip.source.is_ipv4() != frame.ip.source.is_ipv4() {
        return frame.emit_headers(Sum::default().add(payload), payload, out);
    }
    let headers = original.headers();
    let (network, transport) = headers.split_at(headers.len() - before.l4.header_len() as usize);
    let start = out.len();
    out.extend_from_slice(network);
    let len = frame.l4.header_len() + frame.payload.len;
    revise_network(&frame.ip, len, &mut out[start..])?;
    let start = out.len();
    match &frame.l4 {
        L4::Tcp(tcp) => {
            tcp.emit(out)?;
            // Reserved bits beside the data offset.
            out[start + 12] |= transport[12] & 0x0f;
        }
        &L4::Udp { source_port, destination_port, .. } => {
            out.extend_from_slice(&udp::emit(source_port, destination_port, len, Sum::default()));
        }
        &L4::Icmp { kind, code, rest } => out.extend_from_slice(&icmp::emit(kind, code, rest, Sum::default())),
        L4::Other(_) => return Ok(()),
    }
    let at = usize::from(frame.l4.checksum_offset().expect("TCP, UDP and ICMP have one"));
    let is_udp = matches!(frame.l4, L4::Udp { .. });
    let header = &mut out[start..];
    header[at..at + 2].fill(0);
    let sum = pseudo_header(frame, len).add(header);
    let checksum = match be16(transport, at) {
        0 if is_udp && original.is_summed() => return Ok(()), // none
        _ if !original.is_summed() => sum.add(payload).finish(),
        _ => {
            let len = before.l4.header_len() + before.payload.len;
            difference(pseudo_header(before, len).add(transport), sum)
        }
    };
    let checksum = if is_udp && checksum == 0 { 0xffff } else { checksum };
    header[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
    Ok(())
}

/// The IP headers, of a packet that carries `len` bytes.
fn revise_network(ip: &Ip, len: u32, header: &mut [u8]) -> Result<(), EmitError> {
    let field = |total: u32| u16::try_from(total).map(u16::to_be_bytes);
    let too_long = |_| EmitError::Field { what: "IP header", field: "more than 65535 bytes" };
    match (ip.source, ip.destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            let before = Sum::default().add(header);
            header[1] = ip.tos;
            let total = field(header.len() as u32 + len).map_err(too_long)?;
            header[2..4].copy_from_slice(&total);
            header[4..6].copy_from_slice(&ip.id.to_be_bytes());
            header[6] = header[6] & !DONT_FRAGMENT | if ip.dont_fragment { DONT_FRAGMENT } else { 0 };
            header[8] = ip.ttl;
            header[12..16].copy_from_slice(&source.octets());
            header[16..20].copy_from_slice(&destination.octets());
            header[IPV4_CHECKSUM..IPV4_CHECKSUM + 2].fill(0);
            let checksum = difference(before, Sum::default().add(header));
            header[IPV4_CHECKSUM..IPV4_CHECKSUM + 2].copy_from_slice(&checksum.to_be_bytes());
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            header[0] = 6 << 4 | ip.tos >> 4;
            header[1] = header[1] & 0x0f | ip.tos << 4;
            let len = field((header.len() - ipv6::LEN) as u32 + len).map_err(too_long)?;
            header[4..6].copy_from_slice(&len);
            header[7] = ip.ttl;
            header[8..24].copy_from_slice(&source.octets());
            header[24..40].copy_from_slice(&destination.octets());
        }
        _ => check(false, "IP header", "addresses of two families")?,
    }
    Ok(())
}

/// The sum of the pseudo-header, where the transport's checksum covers one.
pub(crate) fn pseudo_header(frame: &Frame, len: u32) -> Sum {
    match frame.l4 {
        L4::Tcp(_) => frame.ip.pseudo_header(TCP, len),
        L4::Udp { .. } => frame.ip.pseudo_header(UDP, len),
        L4::Icmp { .. } if frame.ip.source.is_ipv6() => frame.ip.pseudo_header(icmp::protocol(frame.ip.source), len),
        _ => Sum::default(),
    }
}

/// The checksum with which the whole sums up as before (RFC 1624 §3): `before` with the old checksum, `after` without.
fn difference(before: Sum, after: Sum) -> u16 {
    match fold(u64::from(before.folded()) + u64::from(!after.folded())) {
        0xffff => 0,
        checksum => checksum,
    }
}

impl L4 {
    /// Where in the header the checksum stands.
    pub(crate) fn checksum_offset(&self) -> Option<u16> {
        match self {
            L4::Tcp(_) => Some(CHECKSUM.start as u16),
            L4::Udp { .. } => Some(6),
            L4::Icmp { .. } => Some(2),
            L4::Other(_) => None,
        }
    }
}
