use std::fmt;

use wire::CaptureDirection;

/// What the packets of an interface begin with: a number of <https://www.tcpdump.org/linktypes.html>.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinkType(pub u32);

impl LinkType {
    /// BSD loopback: the address family in the capturing host's byte order.
    pub const NULL: LinkType = LinkType(0);
    /// Ethernet.
    pub const ETHERNET: LinkType = LinkType(1);
    /// PPP, with or without its HDLC address.
    pub const PPP: LinkType = LinkType(9);
    /// PPP in HDLC-like framing.
    pub const PPP_HDLC: LinkType = LinkType(50);
    /// PPPoE session.
    pub const PPP_ETHER: LinkType = LinkType(51);
    /// IPv4 or IPv6, no link layer.
    pub const RAW: LinkType = LinkType(101);
    /// OpenBSD loopback: the address family in network byte order.
    pub const LOOP: LinkType = LinkType(108);
    /// Linux "cooked" v1.
    pub const LINUX_SLL: LinkType = LinkType(113);
    /// IPv4, no link layer.
    pub const IPV4: LinkType = LinkType(228);
    /// IPv6, no link layer.
    pub const IPV6: LinkType = LinkType(229);
    /// Linux "cooked" v2.
    pub const LINUX_SLL2: LinkType = LinkType(276);
}

impl fmt::Display for LinkType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What is below the link layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// An IP packet.
    Ip {
        /// Length of the link layer's header.
        offset: usize,
        /// Its direction, where the link layer says.
        direction: Option<CaptureDirection>,
        /// The host's number of the interface, where the link layer says.
        interface: Option<u32>,
    },
    /// Another protocol.
    Other,
    /// Not enough bytes to know.
    Short,
    /// This link type is not known.
    Unsupported,
}

/// Finds the IP packet in a frame of a link.
#[inline]
pub(crate) fn network(link_type: LinkType, frame: &[u8]) -> Network {
    match link_type {
        LinkType::ETHERNET => ethertype(frame, 12),
        LinkType::RAW | LinkType::IPV4 | LinkType::IPV6 | LinkType(12 | 14) => ip(frame, 0),
        LinkType::LINUX_SLL => cooked(frame),
        LinkType::LINUX_SLL2 => cooked_v2(frame),
        LinkType::PPP | LinkType::PPP_HDLC => ppp(frame, if frame.starts_with(&[0xff, 0x03]) { 2 } else { 0 }),
        LinkType::PPP_ETHER => ppp(frame, 6),
        LinkType::NULL | LinkType::LOOP => loopback(frame),
        _ => Network::Unsupported,
    }
}

/// An IP packet at `offset`, or something that does not look like one.
#[inline]
fn ip(frame: &[u8], offset: usize) -> Network {
    match frame.get(offset).map(|byte| byte >> 4) {
        Some(4 | 6) => Network::Ip { offset, direction: None, interface: None },
        Some(_) => Network::Other,
        None => Network::Short,
    }
}

/// The EtherType at `at` and what follows it, behind any number of VLAN tags (IEEE 802.1Q §9).
#[inline]
fn ethertype(frame: &[u8], mut at: usize) -> Network {
    loop {
        match frame.get(at..at + 2) {
            Some(&[0x08, 0x00] | &[0x86, 0xdd]) => {
                return Network::Ip { offset: at + 2, direction: None, interface: None };
            }
            Some(&[0x81, 0x00] | &[0x88, 0xa8] | &[0x91, 0x00] | &[0x92, 0x00]) => at += 4,
            Some(&[0x88, 0x64]) => return ppp(frame, at + 8), // RFC 2516 §4
            Some(_) => return Network::Other,
            None => return Network::Short,
        }
    }
}

/// The PPP protocol field at `at`, which may be compressed to one byte (RFC 1661 §2).
fn ppp(frame: &[u8], at: usize) -> Network {
    match frame.get(at..) {
        Some([0x21 | 0x57, ..]) => ip(frame, at + 1),
        Some([0x00, 0x21 | 0x57, ..]) => ip(frame, at + 2),
        Some([_, _, ..]) => Network::Other,
        _ => Network::Short,
    }
}

/// The address family as BSDs number it, in either byte order; IPv6 has a number of its own on each.
fn loopback(frame: &[u8]) -> Network {
    let Some(&family) = frame.first_chunk() else { return Network::Short };
    let little = u32::from_le_bytes(family);
    match little.min(little.swap_bytes()) {
        2 | 10 | 24 | 28 | 30 => ip(frame, 4),
        _ => Network::Other,
    }
}

/// <https://www.tcpdump.org/linktypes/LINKTYPE_LINUX_SLL.html>: packet type, address, protocol.
fn cooked(frame: &[u8]) -> Network {
    let Some(&[_, packet_type]) = frame.get(..2) else { return Network::Short };
    let mut network = ethertype(frame, 14);
    if let Network::Ip { direction, .. } = &mut network {
        *direction = cooked_direction(packet_type);
    }
    network
}

/// <https://www.tcpdump.org/linktypes/LINKTYPE_LINUX_SLL2.html>: protocol, interface, packet type, address.
fn cooked_v2(frame: &[u8]) -> Network {
    const HEADER: usize = 20;
    let Some(header) = frame.first_chunk::<HEADER>() else { return Network::Short };
    // VLAN tags, where there are any, stand behind the header and end with the EtherType.
    let mut network = match header[..2] {
        [0x08, 0x00] | [0x86, 0xdd] => Network::Ip { offset: HEADER, direction: None, interface: None },
        [0x81, 0x00] | [0x88, 0xa8] | [0x91, 0x00] | [0x92, 0x00] => ethertype(frame, HEADER + 2),
        [0x88, 0x64] => ppp(frame, HEADER + 6),
        _ => Network::Other,
    };
    if let Network::Ip { direction, interface, .. } = &mut network {
        *direction = cooked_direction(header[10]);
        *interface = Some(u32::from_be_bytes([header[4], header[5], header[6], header[7]]));
    }
    network
}

fn cooked_direction(packet_type: u8) -> Option<CaptureDirection> {
    match packet_type {
        0..=2 => Some(CaptureDirection::Inbound), // to us, broadcast, multicast
        4 => Some(CaptureDirection::Outbound),
        _ => None,
    }
}
