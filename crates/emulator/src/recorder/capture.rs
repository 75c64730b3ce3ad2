use super::Site;
use crate::Error;
use capture::Writer;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use wire::quic::{self, Quic};
use wire::{CaptureDirection, Frame, L4, Packet, Time};

/// Enough for headers with any options.
const HEADER_BYTES: usize = 128;
/// What is kept of what an ICMP error quotes: an IP header without options and 8 bytes, which are the ports (RFC 792).
const QUOTED_IPV4_BYTES: usize = 28;
const QUOTED_IPV6_BYTES: usize = 48;
/// Types of ICMP and ICMPv6 that carry what a program has chosen (RFC 792, RFC 4443).
const ECHOES: [u8; 4] = [0, 8, 128, 129];

/// A capture on its way.
pub(crate) struct Capture {
    path: PathBuf,
    writer: Writer<File>,
    full_payload: bool,
    bytes: Vec<u8>,
}

impl Capture {
    pub fn create(path: &Path, site: Site, full_payload: bool) -> Result<Capture, Error> {
        let writer = File::create(path).and_then(|file| Writer::new(file, site.name()));
        let writer = writer.map_err(|source| Error::Write { path: path.into(), source })?;
        Ok(Capture { path: path.into(), writer, full_payload, bytes: Vec::new() })
    }

    pub fn interface(&mut self, name: &str) -> Result<u32, Error> {
        self.writer.interface(name).map_err(failed(&self.path))
    }

    /// Says whether the packet could be written.
    pub fn packet(
        &mut self,
        interface: u32,
        at: Time,
        direction: CaptureDirection,
        packet: &Packet,
    ) -> Result<bool, Error> {
        self.bytes.clear();
        if packet.emit(&mut self.bytes, (!self.full_payload).then_some(HEADER_BYTES)).is_err() {
            return Ok(false);
        }
        let len = packet.frame.wire_len().max(self.bytes.len() as u32);
        if !self.full_payload {
            self.bytes.truncate(header_bytes(&self.bytes, len));
        }
        let written = self.writer.packet(interface, at, Some(direction), len, &self.bytes);
        written.map(|()| true).map_err(failed(&self.path))
    }

    pub fn finish(self, drops: &[u64]) -> Result<(), Error> {
        self.writer.finish(drops).map(drop).map_err(failed(&self.path))
    }
}

/// How much of a packet is headers: what programs send may be secret. Of what cannot be read that is the IP header.
fn header_bytes(bytes: &[u8], len: u32) -> usize {
    let is_ipv6 = bytes.first().is_some_and(|first| first >> 4 == 6);
    let Ok(frame) = Frame::parse(bytes, len) else {
        let length = bytes.first().map_or(0, |first| usize::from(first & 0xf) * 4);
        return bytes.len().min(if is_ipv6 { 40 } else { length });
    };
    let packet = match (is_ipv6, bytes) {
        (false, [_, _, high, low, ..]) => usize::from(u16::from_be_bytes([*high, *low])),
        (true, [_, _, _, _, high, low, ..]) => 40 + usize::from(u16::from_be_bytes([*high, *low])),
        _ => return 0,
    };
    let quoted = match frame.l4 {
        L4::Icmp { kind, .. } if !ECHOES.contains(&kind) && is_ipv6 => QUOTED_IPV6_BYTES,
        L4::Icmp { kind, .. } if !ECHOES.contains(&kind) => QUOTED_IPV4_BYTES,
        _ => 0,
    };
    let headers = packet.saturating_sub(frame.payload.len as usize);
    let shown = match frame.l4 {
        L4::Udp { .. } => bytes.get(headers..).map_or(0, quic_header_bytes),
        _ => quoted,
    };
    headers + shown.min(frame.payload.len as usize)
}

/// A long QUIC header (RFC 8999 §5.1) tells connections and is no secret; what is no such header, programs have chosen.
fn quic_header_bytes(payload: &[u8]) -> usize {
    match Quic::parse(payload) {
        Ok(header @ Quic::Long { version, .. }) if quic::is_version_in_use(version) => header.header_len(),
        _ => 0,
    }
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> Error + '_ {
    |source| Error::Write { path: path.into(), source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::IpAddr;
    use wire::{Ip, Payload, Tcp};

    const SECRET: &[u8] = b"Authorization: Basic c2VjcmV0";

    fn captured(address: &str, l4: L4) -> Vec<u8> {
        let address: IpAddr = address.parse().unwrap();
        let ip =
            Ip { source: address, destination: address, ttl: 64, tos: 0, id: 0, dont_fragment: true, fragment: None };
        let frame = Frame { ip, l4, payload: Payload::unsaid(SECRET.len() as u32) };
        let mut bytes = Vec::new();
        frame.emit(SECRET, &mut bytes).unwrap();
        let kept = header_bytes(&bytes, bytes.len() as u32);
        bytes.truncate(kept);
        bytes
    }

    #[test]
    fn a_long_quic_header_is_kept() {
        let address = [10, 0, 0, 1].into();
        let ip =
            Ip { source: address, destination: address, ttl: 64, tos: 0, id: 0, dont_fragment: true, fragment: None };
        let frame = Frame { ip, l4: L4::udp(1, 443), payload: Payload::unsaid(1200) };
        for (version, kept) in [(1, 28 + 7 + 8 + 4), (0x7365_6372, 28)] {
            let mut payload = vec![0xc0];
            payload.extend(u32::to_be_bytes(version));
            payload.extend([8, 1, 2, 3, 4, 5, 6, 7, 8, 4, 1, 2, 3, 4]);
            payload.resize(1200, 7);
            let mut bytes = Vec::new();
            frame.emit(&payload, &mut bytes).unwrap();
            assert_eq!(header_bytes(&bytes[..HEADER_BYTES], bytes.len() as u32), kept);
        }
    }

    #[test]
    fn no_payload_is_kept() {
        let ports = L4::udp(1, 2);
        for (address, ip) in [("10.0.0.1", 20), ("fd00::1", 40)] {
            assert_eq!(captured(address, L4::Tcp(Tcp::BLANK)).len(), ip + 20);
            assert_eq!(captured(address, ports).len(), ip + 8);
            assert_eq!(captured(address, L4::Other(132)).len(), ip);
        }
        assert_eq!(captured("10.0.0.1", L4::Icmp { kind: 8, code: 0, rest: [0; 4] }).len(), 28);
        assert_eq!(captured("fd00::1", L4::Icmp { kind: 128, code: 0, rest: [0; 4] }).len(), 48);
        // Of the quotation, what names the connection.
        assert_eq!(captured("10.0.0.1", L4::Icmp { kind: 3, code: 4, rest: [0; 4] }).len(), 28 + 28);
        assert_eq!(captured("fd00::1", L4::Icmp { kind: 2, code: 0, rest: [0; 4] }).len(), 48 + SECRET.len());
    }

    #[test]
    fn options_are_kept_and_nonsense_is_cut_after_ip() {
        let mut tcp = [0; 20 + 60 + 29];
        tcp[0] = 0x45;
        tcp[2..4].copy_from_slice(&109_u16.to_be_bytes());
        tcp[9] = 6;
        tcp[32] = 0xf0;
        assert_eq!(header_bytes(&tcp, 109), 80);
        // A header that is said to be shorter than one.
        tcp[32] = 0x10;
        assert_eq!(header_bytes(&tcp, 109), 20);
        assert_eq!(header_bytes(&[], 0), 0);
    }
}
