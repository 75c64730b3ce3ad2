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

/// Place of a piece in the packet that it is a piece of (RFC 791 §3.2, RFC 8200 §4.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Offset of the piece in bytes.
    pub offset: u16,
    /// Whether more pieces follow.
    pub more: bool,
}
