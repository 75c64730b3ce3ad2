//! The IP headers of a packet, of either version.

use crate::bytes::be16;
use crate::emit::check;
use crate::ip::{Datagram, Fragment};
use crate::{EmitError, Ip, Malformed, ipv4, ipv6};
use std::net::IpAddr;

impl<'a> Datagram<'a> {
    #[inline]
    pub fn parse(bytes: &'a [u8], original_len: u32) -> Result<Self, Malformed> {
        match bytes.first() {
            Some(first) if first >> 4 == 4 => ipv4::parse(bytes, original_len),
            Some(first) if first >> 4 == 6 => ipv6::parse(bytes, original_len),
            Some(first) => Err(Malformed::field("IP", "version", first >> 4)),
            None => Err(Malformed::short("IP", 20, 0)),
        }
    }

    /// Looks at the first header only.
    pub fn parse_first(bytes: &'a [u8]) -> Result<Self, Malformed> {
        match bytes.first() {
            Some(first) if first >> 4 == 4 => ipv4::parse_fixed(bytes),
            Some(first) if first >> 4 != 6 => Err(Malformed::field("IP", "version", first >> 4)),
            _ => ipv6::parse_fixed(bytes, bytes.len() as u32),
        }
    }
}

impl Ip {
    /// Bytes of the headers when they are written.
    #[inline]
    pub(crate) fn header_len(&self) -> u32 {
        match (self.source, self.fragment) {
            (IpAddr::V4(_), _) => ipv4::LEN as u32,
            (IpAddr::V6(_), None) => ipv6::LEN as u32,
            (IpAddr::V6(_), Some(_)) => ipv6::LEN as u32 + 8,
        }
    }

    /// Appends the headers of a packet that carries `len` bytes.
    ///
    /// # Errors
    /// [`EmitError`] when the packet would be too long, or its addresses are of two families.
    #[inline]
    pub fn emit(&self, protocol: u8, len: u32, out: &mut Vec<u8>) -> Result<(), EmitError> {
        let canonical = self.fragment.is_none_or(|piece| Fragment::new(piece.offset >> 3, piece.more) == Some(piece));
        check(canonical, "IP header", "fragment")?;
        match (self.source, self.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                ipv4::emit(self, [source, destination], protocol, len, out)
            }
            (IpAddr::V6(source), IpAddr::V6(destination)) => {
                ipv6::emit(self, [source, destination], protocol, len, out)
            }
            _ => Err(EmitError::Field { what: "IP header", field: "addresses of two families" }),
        }
    }
}

/// Bytes that an IP header says the packet has; 0 in it means all that are there.
pub(crate) fn total_len(bytes: &[u8]) -> usize {
    let (at, header) = if bytes[0] >> 4 == 4 { (2, 0) } else { (4, ipv6::LEN) };
    match usize::from(be16(bytes, at)) {
        0 => bytes.len(),
        len => header + len,
    }
}
