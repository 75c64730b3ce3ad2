//! Addresses and the networks that they are in.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// Whether an address is in one of these networks.
pub fn may(address: IpAddr, networks: &[(IpAddr, u8)]) -> bool {
    networks.iter().any(|&(network, length)| contains(network, length, address))
}

fn contains(network: IpAddr, length: u8, address: IpAddr) -> bool {
    let (differs, bits) = match (network, address.to_canonical()) {
        (IpAddr::V4(one), IpAddr::V4(other)) => (u128::from(one.to_bits() ^ other.to_bits()), 32),
        (IpAddr::V6(one), IpAddr::V6(other)) => (one.to_bits() ^ other.to_bits(), 128),
        _ => return false,
    };
    differs.checked_shr(bits - u32::from(length)).unwrap_or(0) == 0
}

/// Whether a converter may be asked for a connection to it: not to the converter itself, nor to many (RFC 8803 §6.2.8).
pub fn is_host(address: IpAddr) -> bool {
    let is_broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
    !(address.is_loopback() || address.is_multicast() || address.is_unspecified() || is_broadcast)
}

/// Whether a connection to a server would come in where this program listens itself, and so without end.
pub fn comes_back(server: SocketAddr, listens: SocketAddr) -> bool {
    let is_it = listens.ip().is_unspecified() || listens.ip().to_canonical() == server.ip().to_canonical();
    server.port() == listens.port() && is_it && is_own(server)
}

/// Whether an address is one of this host, which it connects to from that very address.
fn is_own(address: SocketAddr) -> bool {
    let any: IpAddr = if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let from = || {
        let socket = UdpSocket::bind((any, 0))?;
        socket.connect(address)?;
        socket.local_addr()
    };
    address.ip().is_loopback() || from().is_ok_and(|own| own.ip() == address.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_contain_their_addresses() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        for (network, length, address, is_in) in [
            ("10.0.0.0", 8, "10.255.0.1", true),
            ("10.0.0.0", 8, "11.0.0.1", false),
            ("10.0.0.0", 8, "::ffff:10.0.0.1", true),
            ("10.0.0.1", 32, "10.0.0.1", true),
            ("10.0.0.1", 32, "10.0.0.2", false),
            ("0.0.0.0", 0, "192.0.2.1", true),
            ("0.0.0.0", 0, "2001:db8::1", false),
            ("2001:db8::", 32, "2001:db8:1::1", true),
            ("2001:db8::", 32, "2001:db9::1", false),
            ("::", 0, "2001:db9::1", true),
        ] {
            assert_eq!(may(ip(address), &[(ip(network), length)]), is_in, "{address} in {network}/{length}");
        }
        assert!(!may(ip("192.0.2.1"), &[]));
    }
}
