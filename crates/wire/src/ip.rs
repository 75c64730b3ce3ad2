use crate::Malformed;
use crate::checksum::Sum;
use std::net::IpAddr;

/// What matters of an IPv4 or IPv6 header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ip {
    /// Sender.
    pub source: IpAddr,
    /// Receiver.
    pub destination: IpAddr,
    /// Time to live or hop limit.
    pub ttl: u8,
    /// Type of service or traffic class, with the ECN bits.
    pub tos: u8,
    /// IPv4 identification; 0 for IPv6.
    pub id: u16,
    /// IPv4 "don't fragment"; true for IPv6.
    pub dont_fragment: bool,
    /// Set on a piece of a fragmented packet.
    pub fragment: Option<Fragment>,
}

/// What the ECN field of an IP header says (RFC 3168 §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Its ends do not speak ECN.
    #[default]
    NotCapable,
    /// They do: ECT(1).
    Capable1,
    /// They do: ECT(0).
    Capable0,
    /// It met congestion on its way: CE.
    CongestionExperienced,
}

/// Where a fragment lies in its packet (RFC 791 §3.2, RFC 8200 §4.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Offset of the piece in bytes.
    pub offset: u16,
    /// Whether more pieces follow.
    pub more: bool,
}

/// Protocol number of TCP.
pub(crate) const TCP: u8 = 6;
/// Protocol number of UDP.
pub(crate) const UDP: u8 = 17;
/// Protocol number of the authentication header.
pub(crate) const AH: u8 = 51;

/// An IP packet with its headers taken off.
pub(crate) struct Datagram<'a> {
    pub ip: Ip,
    /// What the IP headers carry.
    pub protocol: u8,
    /// Bytes that they carry, however many were captured.
    pub len: u32,
    /// Those that were captured, without link-layer padding.
    pub bytes: &'a [u8],
}

impl Datagram<'_> {
    /// Takes off a header of `header` bytes.
    pub fn skip(&mut self, name: &'static str, header: usize) -> Result<(), Malformed> {
        self.bytes = self.bytes.get(header..).ok_or(Malformed::short(name, header, self.bytes.len()))?;
        self.len -= header as u32;
        Ok(())
    }
}

impl Fragment {
    /// From the offset in units of 8 bytes; none for a packet in one piece.
    #[inline]
    pub(crate) fn new(eights: u16, more: bool) -> Option<Fragment> {
        // (0, false) is also IPv6's atomic fragment, a whole packet (RFC 6946).
        (eights != 0 || more).then_some(Fragment { offset: eights << 3, more })
    }
}

impl Ip {
    /// What its ECN field says.
    #[inline]
    pub fn ecn(&self) -> Ecn {
        match self.tos & 3 {
            0 => Ecn::NotCapable,
            1 => Ecn::Capable1,
            2 => Ecn::Capable0,
            _ => Ecn::CongestionExperienced,
        }
    }

    /// Makes its ECN field say this.
    #[inline]
    pub fn set_ecn(&mut self, ecn: Ecn) {
        self.tos = self.tos & !3 | ecn as u8;
    }

    /// Whether the transport header is here: the packet is whole or its first piece.
    #[inline]
    pub(crate) fn has_transport_header(&self) -> bool {
        self.fragment.is_none_or(|piece| piece.offset == 0)
    }

    /// The pseudo-header of a transport checksum (RFC 9293 §3.1, RFC 8200 §8.1).
    #[inline]
    pub(crate) fn pseudo_header(&self, protocol: u8, len: u32) -> Sum {
        let sum = Sum::default().add_words([len, protocol.into()]);
        [self.source, self.destination].iter().fold(sum, |sum, address| match address {
            IpAddr::V4(address) => sum.add_words([address.to_bits()]),
            IpAddr::V6(address) => sum.add(&address.octets()),
        })
    }
}
