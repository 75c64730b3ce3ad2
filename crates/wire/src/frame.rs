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
    /// # Errors
    /// [`Malformed`] when the headers do not fit or contradict themselves; a cut payload is no error.
    pub fn parse(bytes: &[u8], original_len: u32) -> Result<Frame, Malformed> {
        let _ = (bytes, original_len);
        unimplemented!()
    }
}
