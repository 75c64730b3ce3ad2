//! Probes over a path for its path manager: pings (RFC 792, RFC 4443 §4), named after their connection.

use std::net::IpAddr;
use transport::ConnectionId;
use wire::{L4, Packet};

/// A request from `local`.
pub(crate) fn request(connection: ConnectionId, local: IpAddr, remote: IpAddr, number: u16) -> Packet {
    let mut packet = crate::blank();
    (packet.frame.ip.source, packet.frame.ip.destination) = (local, remote);
    let [[a, b], [c, d]] = [connection.0 as u16, number].map(u16::to_be_bytes);
    packet.frame.l4 = L4::Icmp { kind: if local.is_ipv4() { 8 } else { 128 }, code: 0, rest: [a, b, c, d] };
    packet
}

/// Whose request `packet` answers, and which one.
pub(crate) fn answered(packet: &Packet) -> Option<(ConnectionId, u16)> {
    let L4::Icmp { kind, code: 0, rest: [a, b, c, d] } = packet.frame.l4 else { return None };
    let reply = if packet.frame.ip.source.is_ipv4() { 0 } else { 129 };
    (kind == reply).then(|| (ConnectionId(u32::from(u16::from_be_bytes([a, b]))), u16::from_be_bytes([c, d])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_known_by_its_request() {
        for (local, remote) in [("10.0.0.2", "10.9.0.1"), ("2001:db8::2", "2001:db8:9::1")] {
            let request = request(ConnectionId(3), local.parse().unwrap(), remote.parse().unwrap(), 513);
            let answer = crate::echo::answer(&request).unwrap();
            assert_eq!(answered(&answer), Some((ConnectionId(3), 513)));
            assert_eq!(answered(&request), None);
        }
    }
}
