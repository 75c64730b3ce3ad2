use wire::Unsummed;

/// `struct virtio_net_hdr` (linux/virtio_net.h), in the byte order of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Header {
    /// The transport checksum that is still to be made.
    pub unsummed: Option<Unsummed>,
    /// What the frame is to be cut into; none where it is one packet.
    pub segments: Option<Segments>,
    /// Bytes of all its headers.
    pub headers: u16,
}

/// What becomes of a GSO packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segments {
    pub kind: Kind,
    /// Bytes of payload in each but the last.
    pub size: u16,
    /// Whether the first has CWR.
    pub has_cwr: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Tcp4,
    Tcp6,
    Udp,
}

const NEEDS_CHECKSUM: u8 = 1;
const TCP4: u8 = 1;
const TCP6: u8 = 4;
const UDP: u8 = 5;
const ECN: u8 = 0x80;

impl Header {
    /// Bytes of it.
    pub const LEN: usize = 10;

    /// [`None`]: of a kind that was never asked for.
    pub fn read(bytes: [u8; Header::LEN]) -> Option<Header> {
        let half = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        let kind = match bytes[1] & !ECN {
            0 => None,
            TCP4 => Some(Kind::Tcp4),
            TCP6 => Some(Kind::Tcp6),
            UDP => Some(Kind::Udp),
            _ => return None,
        };
        let (size, has_cwr) = (half(4), bytes[1] & ECN != 0);
        if kind.is_some() && size == 0 {
            return None;
        }
        Some(Header {
            unsummed: (bytes[0] & NEEDS_CHECKSUM != 0).then(|| Unsummed { start: half(6), offset: half(8) }),
            segments: kind.map(|kind| Segments { kind, size, has_cwr }),
            headers: half(2),
        })
    }

    /// The header of the same frame with `bytes` fewer before its IP header.
    pub fn without(self, bytes: usize) -> Header {
        let bytes = bytes as u16;
        let fewer = |unsummed: Unsummed| Unsummed { start: unsummed.start.saturating_sub(bytes), ..unsummed };
        Header { unsummed: self.unsummed.map(fewer), headers: self.headers.saturating_sub(bytes), ..self }
    }

    /// The header of the same frame behind as many bytes.
    pub fn behind(self, bytes: usize) -> Header {
        let bytes = bytes as u16;
        let more = |unsummed: Unsummed| Unsummed { start: unsummed.start + bytes, ..unsummed };
        Header { unsummed: self.unsummed.map(more), headers: self.headers + bytes, ..self }
    }

    pub fn bytes(self) -> [u8; Header::LEN] {
        let mut bytes = [0; Header::LEN];
        if let Some(Unsummed { start, offset }) = self.unsummed {
            bytes[0] = NEEDS_CHECKSUM;
            bytes[6..8].copy_from_slice(&start.to_ne_bytes());
            bytes[8..10].copy_from_slice(&offset.to_ne_bytes());
        }
        if let Some(Segments { kind, size, has_cwr }) = self.segments {
            let kind = match kind {
                Kind::Tcp4 => TCP4,
                Kind::Tcp6 => TCP6,
                Kind::Udp => UDP,
            };
            bytes[1] = kind | if has_cwr { ECN } else { 0 };
            bytes[4..6].copy_from_slice(&size.to_ne_bytes());
        }
        bytes[2..4].copy_from_slice(&self.headers.to_ne_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let unsummed = Some(Unsummed { start: 20, offset: 16 });
        for segments in [
            None,
            Some(Segments { kind: Kind::Tcp4, size: 1448, has_cwr: true }),
            Some(Segments { kind: Kind::Tcp6, size: 1, has_cwr: false }),
            Some(Segments { kind: Kind::Udp, size: u16::MAX, has_cwr: false }),
        ] {
            for header in [Header { unsummed, segments, headers: 52 }, Header { unsummed: None, segments, headers: 0 }]
            {
                assert_eq!(Header::read(header.bytes()), Some(header));
            }
        }
    }

    #[test]
    fn what_was_not_asked_for_is_refused() {
        for (kind, size) in [(3, 100), (2, 100), (TCP4, 0)] {
            let mut bytes = [0; Header::LEN];
            (bytes[1], bytes[4]) = (kind, size);
            assert_eq!(Header::read(bytes), None);
        }
    }
}
