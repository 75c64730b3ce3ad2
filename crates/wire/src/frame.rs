use crate::bytes::be16;
use crate::checksum::Sum;
use crate::emit::check;
use crate::ip::{AH, Datagram, TCP, UDP};
use crate::tcp::CHECKSUM;
use crate::{EmitError, Glimpse, Ip, Malformed, Tcp, icmp, ipv6, udp};

/// One IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Network layer.
    pub ip: Ip,
    /// Transport layer.
    pub l4: L4,
    /// What the transport carries.
    pub payload: Payload,
}

/// Transport layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum L4 {
    /// TCP with all its options.
    Tcp(Tcp),
    /// UDP, in one piece and with the length that IP says.
    Udp {
        /// Sender's port.
        source_port: u16,
        /// Receiver's port.
        destination_port: u16,
        /// What an observer kept of the payload, if one did. Nothing else on the way knows of it.
        glimpse: Glimpse,
    },
    /// ICMP in IPv4 and ICMPv6 in IPv6, in one piece. What an error quotes is its payload.
    Icmp {
        /// Type.
        kind: u8,
        /// Code.
        code: u8,
        /// The second four bytes of the header: depends on the type.
        rest: [u8; 4],
    },
    /// Anything else, also every fragment but TCP's first: the IP protocol number.
    Other(u8),
}

/// What a segment carries. Measuring needs its length only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Payload {
    /// Bytes on the wire, however many of them were captured.
    pub len: u32,
    /// What the bytes are.
    pub content: Content,
}

/// What the bytes of a payload are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Content {
    /// Not said here; see [`Packet::body`](crate::Packet::body).
    #[default]
    Unsaid,
    /// The pattern of streams that mptcplab sends, from this offset of the stream on.
    Pattern(u64),
}

impl Payload {
    /// `len` bytes, whatever they are.
    pub const fn unsaid(len: u32) -> Payload {
        Payload { len, content: Content::Unsaid }
    }
}

impl Frame {
    /// Reads an IPv4 or IPv6 packet from `bytes`, of which the wire carried `original_len` (more when the capture cut
    /// it).
    ///
    /// Lengths come from the IP header, so that link-layer padding does not count; `original_len` matters only where
    /// that says 0 (segmentation offload). TCP options that the capture cut are kept as far as they are there.
    ///
    /// # Errors
    /// [`Malformed`] when the headers do not fit or contradict themselves; a cut payload is no error.
    #[inline(always)]
    pub fn parse(bytes: &[u8], original_len: u32) -> Result<Frame, Malformed> {
        let packet = Datagram::parse(bytes, original_len)?;
        if packet.protocol == TCP && packet.ip.has_transport_header() {
            let (tcp, header_len) = Tcp::parse(packet.bytes, packet.len)?;
            Ok(Frame { ip: packet.ip, l4: L4::Tcp(tcp), payload: Payload::unsaid(packet.len - header_len) })
        } else {
            let l4 = L4::parse_other(&packet.ip, packet.protocol, packet.bytes, packet.len);
            Ok(Frame { ip: packet.ip, l4, payload: Payload::unsaid(packet.len - l4.header_len()) })
        }
    }

    /// Keeps of a datagram's payload what [`Glimpse`] does; `bytes` and `original_len` are those that were parsed.
    #[inline(never)] // out of the way of TCP
    pub fn look(&mut self, bytes: &[u8], original_len: u32) {
        if let L4::Udp { glimpse, .. } = &mut self.l4
            && let Ok(datagram) = Datagram::parse(bytes, original_len)
            && let Some((header, payload)) = datagram.bytes.split_first_chunk::<{ udp::LEN }>()
        {
            *glimpse = Glimpse::of(payload, self.payload.len, be16(header, 6));
        }
    }

    /// A packet of which only the first header is looked at.
    ///
    /// # Errors
    /// [`Malformed`] when that is cut or contradicts itself.
    pub(crate) fn opaque(bytes: &[u8]) -> Result<Frame, Malformed> {
        let Datagram { ip, protocol, len, .. } = Datagram::parse_first(bytes)?;
        Ok(Frame { ip, l4: L4::Other(protocol), payload: Payload::unsaid(len) })
    }

    /// Bytes of the packet when it is written.
    #[inline]
    pub fn wire_len(&self) -> u32 {
        self.ip.header_len() + self.l4.header_len() + self.payload.len
    }

    /// Appends the packet to `out`, with its checksums. Of `payload` there may be fewer bytes than [`Payload::len`]
    /// says, as in a capture that cuts packets: those missing count as zeros in the checksum and are not written.
    ///
    /// What IPv6 has no field for (identification, "don't fragment") is ignored.
    ///
    /// # Errors
    /// [`EmitError`], `out` unchanged, when the packet would be too long or be read back as another.
    pub fn emit(&self, payload: &[u8], out: &mut Vec<u8>) -> Result<(), EmitError> {
        let start = out.len();
        let result = self.append(payload, out);
        if result.is_err() {
            out.truncate(start);
        }
        result
    }

    fn append(&self, payload: &[u8], out: &mut Vec<u8>) -> Result<(), EmitError> {
        check(payload.len() as u64 <= u64::from(self.payload.len), "frame", "payload longer than its length")?;
        self.emit_headers(Sum::default().add(payload), payload, out)?;
        out.extend_from_slice(payload);
        Ok(())
    }

    /// Appends the headers of a payload with this sum and this beginning; on errors also a part of them.
    #[inline]
    pub(crate) fn emit_headers(&self, sum: Sum, payload: &[u8], out: &mut Vec<u8>) -> Result<(), EmitError> {
        // Keeps the sums of lengths below from overflowing; the exact limit is the IP header's.
        check(self.payload.len <= u32::from(u16::MAX), "frame", "more than 65535 bytes")?;
        let len = self.l4.header_len() + self.payload.len;
        match &self.l4 {
            L4::Tcp(tcp) => {
                check(self.ip.has_transport_header(), "frame", "TCP header in a later fragment")?;
                self.ip.emit(TCP, len, out)?;
                let start = out.len();
                let sum = tcp.emit(out)?.plus(self.ip.pseudo_header(TCP, len)).plus(sum);
                out[start..][CHECKSUM].copy_from_slice(&sum.finish().to_be_bytes());
            }
            &L4::Udp { source_port, destination_port, .. } => {
                check(self.ip.fragment.is_none(), "frame", "UDP header in a fragment")?;
                self.ip.emit(UDP, len, out)?;
                let sum = self.ip.pseudo_header(UDP, len).plus(sum);
                out.extend_from_slice(&udp::emit(source_port, destination_port, len, sum));
            }
            &L4::Icmp { kind, code, rest } => {
                check(self.ip.fragment.is_none(), "frame", "ICMP header in a fragment")?;
                let protocol = icmp::protocol(self.ip.source);
                self.ip.emit(protocol, len, out)?;
                let sum = if self.ip.source.is_ipv6() { self.ip.pseudo_header(protocol, len).plus(sum) } else { sum };
                out.extend_from_slice(&icmp::emit(kind, code, rest, sum));
            }
            L4::Other(protocol) => {
                let read_back = match protocol {
                    _ if !self.ip.has_transport_header() => true,
                    &TCP | &AH => false,
                    &protocol if self.ip.source.is_ipv6() && ipv6::is_extension(protocol) => false,
                    &protocol => self.l4 == L4::parse_other(&self.ip, protocol, payload, len),
                };
                check(read_back, "frame", "protocol")?;
                self.ip.emit(*protocol, len, out)?;
            }
        }
        Ok(())
    }
}

impl L4 {
    /// A datagram's header.
    #[inline]
    pub const fn udp(source_port: u16, destination_port: u16) -> L4 {
        L4::Udp { source_port, destination_port, glimpse: Glimpse::NONE }
    }

    /// A TCP header to be written over; what it says until then means nothing.
    #[inline]
    pub fn to_tcp(&mut self) -> &mut Tcp {
        if !matches!(self, L4::Tcp(_)) {
            *self = L4::Tcp(Tcp::BLANK);
        }
        let L4::Tcp(tcp) = self else { unreachable!("any other was replaced") };
        tcp
    }

    /// From the protocol and the bytes of a packet of `len` bytes, where it is not TCP. A header that is cut or
    /// contradicts itself is none.
    #[inline]
    fn parse_other(ip: &Ip, protocol: u8, bytes: &[u8], len: u32) -> L4 {
        let icmp = icmp::protocol(ip.source);
        match short_header(protocol, icmp, bytes, len) {
            Some(header) if ip.fragment.is_none() && protocol == UDP => L4::udp(be16(&header, 0), be16(&header, 2)),
            Some([kind, code, _, _, rest @ ..]) if ip.fragment.is_none() => L4::Icmp { kind, code, rest },
            _ => L4::Other(protocol),
        }
    }

    /// Bytes of the header when it is written.
    #[inline]
    pub(crate) fn header_len(&self) -> u32 {
        match self {
            L4::Tcp(tcp) => tcp.header_len(),
            L4::Udp { .. } => udp::LEN as u32,
            L4::Icmp { .. } => icmp::LEN as u32,
            L4::Other(_) => 0,
        }
    }
}

/// The header of UDP or ICMP, if it is there. It stays out of the way of TCP, which is nearly everything, and takes and
/// gives what fits into registers, so that the compiler can keep the frame in them.
#[inline(never)]
fn short_header(protocol: u8, icmp: u8, bytes: &[u8], len: u32) -> Option<[u8; 8]> {
    let header = *bytes.first_chunk()?;
    let is_whole = protocol == icmp || protocol == UDP && udp::has_length(header, len);
    is_whole.then_some(header)
}
