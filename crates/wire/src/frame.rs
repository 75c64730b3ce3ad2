use crate::emit::check;
use crate::ip::{AH, Datagram, TCP};
use crate::tcp::CHECKSUM;
use crate::{EmitError, Ip, Malformed, Tcp, ipv6};

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
    /// Anything else, also every fragment but the first: the IP protocol number.
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
    /// Not said here; see [`Packet::body`].
    #[default]
    Unsaid,
    /// The pattern of streams that mptcplab sends, from this place of the stream on.
    Pattern(u64),
}

/// A frame on its way, with the bytes of its payload where they are not a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Headers and length.
    pub frame: Frame,
    /// The payload's bytes. [`Content::Pattern`] needs none.
    pub body: Option<Box<[u8]>>,
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
    #[inline]
    pub fn parse(bytes: &[u8], original_len: u32) -> Result<Frame, Malformed> {
        let packet = Datagram::parse(bytes, original_len)?;
        let (l4, len) = if packet.protocol == TCP && packet.ip.has_transport_header() {
            let (tcp, header_len) = Tcp::parse(packet.bytes, packet.len)?;
            (L4::Tcp(tcp), packet.len - header_len)
        } else {
            (L4::Other(packet.protocol), packet.len)
        };
        Ok(Frame { ip: packet.ip, l4, payload: Payload::unsaid(len) })
    }

    /// Bytes of the packet when it is written.
    #[inline]
    pub fn wire_len(&self) -> u32 {
        let header = match &self.l4 {
            L4::Tcp(tcp) => tcp.header_len(),
            L4::Other(_) => 0,
        };
        self.ip.header_len() + header + self.payload.len
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
        // Keeps the sums of lengths below from overflowing; the exact limit is the IP header's.
        check(self.payload.len <= u32::from(u16::MAX), "frame", "more than 65535 bytes")?;
        match &self.l4 {
            L4::Tcp(tcp) => {
                check(self.ip.has_transport_header(), "frame", "TCP header in a later fragment")?;
                let len = tcp.header_len() + self.payload.len;
                self.ip.emit(TCP, len, out)?;
                let start = out.len();
                tcp.emit(out)?;
                let header = &mut out[start..];
                let checksum = self.ip.pseudo_header(TCP, len).add(header).add(payload).finish();
                header[CHECKSUM].copy_from_slice(&checksum.to_be_bytes());
            }
            L4::Other(protocol) => {
                let read_back = match protocol {
                    _ if !self.ip.has_transport_header() => true,
                    &TCP | &AH => false,
                    protocol => self.ip.source.is_ipv4() || !ipv6::is_extension(*protocol),
                };
                check(read_back, "frame", "protocol")?;
                self.ip.emit(*protocol, self.payload.len, out)?;
            }
        }
        out.extend_from_slice(payload);
        Ok(())
    }
}
