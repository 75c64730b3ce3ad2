//! Answers to pings: ICMP (RFC 792) and ICMPv6 (RFC 4443 §4).

use wire::{L4, Packet};

/// The answer to `packet` if it is an echo request.
pub(crate) fn answer(packet: &Packet) -> Option<Packet> {
    let L4::Icmp { kind, code: 0, rest } = packet.frame.l4 else { return None };
    let ip = packet.frame.ip;
    let kind = match (kind, ip.source.is_ipv4()) {
        (8, true) => 0,
        (128, false) => 129,
        _ => return None,
    };
    let mut answer = packet.clone();
    answer.frame.l4 = L4::Icmp { kind, code: 0, rest };
    (answer.frame.ip.source, answer.frame.ip.destination) = (ip.destination, ip.source);
    answer.frame.ip.ttl = 64;
    Some(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::Payload;

    #[test]
    fn a_ping_is_answered_once() {
        let mut packet = crate::blank();
        packet.frame.l4 = L4::Icmp { kind: 8, code: 0, rest: [1, 2, 0, 1] };
        packet.frame.ip.source = [10, 0, 0, 1].into();
        packet.frame.payload = Payload::unsaid(2);
        packet.body = Some((*b"ab").into());
        let answered = answer(&packet).unwrap();
        assert_eq!(answered.frame.ip.destination, packet.frame.ip.source);
        assert_eq!(answered.frame.l4, L4::Icmp { kind: 0, code: 0, rest: [1, 2, 0, 1] });
        assert_eq!(answered.body, packet.body);
        assert_eq!(answer(&answered), None);
    }
}
