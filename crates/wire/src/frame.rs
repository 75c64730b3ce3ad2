use crate::ip::{Packet, TCP};
use crate::{Ip, Malformed, Tcp};

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
}

impl Frame {
    /// Reads an IPv4 or IPv6 packet from `bytes`, of which the wire carried `original_len` (more when the capture cut it).
    ///
    /// Lengths come from the IP header, so that link-layer padding does not count; `original_len` matters only where
    /// that says 0 (segmentation offload). TCP options that the capture cut are kept as far as they are there.
    ///
    /// # Errors
    /// [`Malformed`] when the headers do not fit or contradict themselves; a cut payload is no error.
    #[inline]
    pub fn parse(bytes: &[u8], original_len: u32) -> Result<Frame, Malformed> {
        let packet = Packet::parse(bytes, original_len)?;
        let (l4, len) = if packet.protocol == TCP && packet.ip.has_transport_header() {
            let (tcp, header_len) = Tcp::parse(packet.bytes, packet.len)?;
            (L4::Tcp(tcp), packet.len - header_len)
        } else {
            (L4::Other(packet.protocol), packet.len)
        };
        Ok(Frame { ip: packet.ip, l4, payload: Payload { len } })
    }
}
