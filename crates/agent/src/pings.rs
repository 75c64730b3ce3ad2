//! Probes: pings (RFC 792, RFC 4443 §4) from an address, over its interface whatever the host's routes say.

use socket2::{Domain, Protocol, Socket, Type};
use std::io::{ErrorKind, Read, Result};
use std::net::{IpAddr, SocketAddr};

const ECHO: (u8, u8) = (8, 0);
const ECHO_IPV6: (u8, u8) = (128, 129);

/// Sends probes from one address and hears their answers.
pub struct Pings {
    socket: Socket,
    local: IpAddr,
    /// A raw socket has all of ICMP's header for us to fill, and IPv4's before it in what it hears.
    is_raw: bool,
    id: u16,
}

impl Pings {
    /// From an address, over an interface: by the default route a probe would go another way, and find nothing wrong. A socket for pings needs no right where `net.ipv4.ping_group_range` allows it; else a raw one, which
    /// needs CAP_NET_RAW.
    ///
    /// # Errors
    /// Neither can be had, or the host does not have the address.
    pub fn new(local: IpAddr, interface: &str) -> Result<Pings> {
        let (domain, protocol) =
            if local.is_ipv4() { (Domain::IPV4, Protocol::ICMPV4) } else { (Domain::IPV6, Protocol::ICMPV6) };
        let (socket, is_raw) = match Socket::new(domain, Type::DGRAM, Some(protocol)) {
            Ok(socket) => (socket, false),
            Err(_) => (Socket::new(domain, Type::RAW, Some(protocol))?, true),
        };
        socket.set_nonblocking(true)?;
        socket.bind_device(Some(interface.as_bytes()))?;
        socket.bind(&SocketAddr::new(local, 0).into())?;
        Ok(Pings { socket, local, is_raw, id: std::process::id() as u16 })
    }

    /// Sends one.
    ///
    /// # Errors
    /// It could not be sent: there is no route, for example.
    pub fn send(&self, remote: IpAddr, number: u16) -> Result<()> {
        let kind = if self.local.is_ipv4() { ECHO.0 } else { ECHO_IPV6.0 };
        let ([a, b], [c, d]) = (self.id.to_be_bytes(), number.to_be_bytes());
        let mut message = [kind, 0, 0, 0, a, b, c, d];
        if self.local.is_ipv4() {
            [message[2], message[3]] = checksum(&message).to_be_bytes();
        }
        let to = SocketAddr::new(remote, 0).into();
        match self.socket.send_to(&message, &to) {
            // What routers said of an earlier one comes first.
            Err(_) => self.socket.send_to(&message, &to).map(drop),
            Ok(_) => Ok(()),
        }
    }

    /// Numbers of those whose answers have come since.
    ///
    /// # Errors
    /// The socket's address has gone, for example.
    pub fn answers(&self) -> Result<Vec<u16>> {
        let mut buffer = [0; 2048];
        let mut found = Vec::new();
        loop {
            match (&self.socket).read(&mut buffer) {
                Ok(length) => found.extend(self.number(&buffer[..length])),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(found),
                // Somebody on the way said that it cannot be delivered: no answer.
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable | ErrorKind::ConnectionRefused
                    ) => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn number(&self, packet: &[u8]) -> Option<u16> {
        let raw_ipv4 = self.is_raw && self.local.is_ipv4();
        let header = if raw_ipv4 { usize::from(packet.first()? & 0xf) * 4 } else { 0 };
        let &[kind, 0, _, _, a, b, c, d] = packet.get(header..)?.first_chunk::<8>()? else { return None };
        let reply = if self.local.is_ipv4() { ECHO.1 } else { ECHO_IPV6.1 };
        // Of a socket for pings the kernel chooses the identifier and sorts the answers.
        let ours = !self.is_raw || [a, b] == self.id.to_be_bytes();
        (kind == reply && ours).then(|| u16::from_be_bytes([c, d]))
    }
}

/// RFC 1071.
fn checksum(message: &[u8; 8]) -> u16 {
    let sum: u32 = message.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    !((sum & 0xffff) + (sum >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_real_pings() {
        // ping -c 1 -p 0 to a loopback address, as tcpdump had it: type 8, identifier 0x2c01, number 1.
        let mut message = [8, 0, 0, 0, 0x2c, 0x01, 0, 1];
        let sum = checksum(&message);
        [message[2], message[3]] = sum.to_be_bytes();
        assert_eq!(checksum(&message), 0);
        assert_eq!(sum, 0xcbfd);
    }

    #[test]
    fn the_host_itself_answers() {
        let Ok(pings) = Pings::new("127.0.0.1".parse().unwrap(), "lo") else { return };
        pings.send("127.0.0.1".parse().unwrap(), 77).unwrap();
        // Loopback delivers before send returns.
        assert_eq!(pings.answers().unwrap(), [77]);
    }
}
