//! A rebinding changes what the world sees of the client, and nothing else.

use link::{Change, Direction, Element, Nat, Out, Reason};
use proptest::prelude::*;
use std::net::IpAddr;
use wire::{Frame, Ip, L4, Packet, Payload, Time};

const UDP: L4 = L4::udp(4000, 53);

fn ip(source: IpAddr, destination: IpAddr) -> Ip {
    Ip { source, destination, ttl: 64, tos: 0, id: 0, dont_fragment: true, fragment: None }
}

fn packet(source: IpAddr, destination: IpAddr, l4: L4, body: &[u8]) -> Box<Packet> {
    let payload = Payload::unsaid(body.len() as u32);
    Box::new(Packet { frame: Frame { ip: ip(source, destination), l4, payload }, body: Some(body.into()) })
}

/// What is sent as `packet` arrives as.
fn pass(nat: &mut Nat, direction: Direction, packet: Box<Packet>) -> Result<Box<Packet>, Reason> {
    let mut out = Out::default();
    nat.push(Time::default(), direction, packet, &mut out);
    match (out.sent.pop(), out.dropped.pop()) {
        (Some((_, packet)), None) => Ok(packet),
        (None, Some(dropped)) => Err(dropped.reason),
        other => panic!("{other:?}"),
    }
}

fn addresses() -> impl Strategy<Value = [IpAddr; 4]> {
    let distinct = |all: &[IpAddr; 4]| (1..4).all(|n| !all[..n].contains(&all[n]));
    prop_oneof![
        any::<[std::net::Ipv4Addr; 4]>().prop_map(|all| all.map(IpAddr::from)),
        any::<[std::net::Ipv6Addr; 4]>().prop_map(|all| all.map(IpAddr::from)),
    ]
    .prop_filter("distinct", distinct)
}

proptest! {
    #[test]
    fn both_directions([private, public, later, server] in addresses()) {
        let mut nat = Nat::new(&[private]);
        let up = || packet(private, server, UDP, b"data");
        let down = |to| packet(server, to, UDP, b"data");
        prop_assert_eq!(pass(&mut nat, Direction::Up, up()), Ok(up()));
        let mut seen = private;
        for address in [public, later] {
            nat.change(Time::default(), Change::Rebind(address), &mut Out::default()).unwrap();
            prop_assert_eq!(pass(&mut nat, Direction::Up, up()), Ok(packet(address, server, UDP, b"data")));
            prop_assert_eq!(pass(&mut nat, Direction::Down, down(address)), Ok(down(private)));
            prop_assert_eq!(pass(&mut nat, Direction::Down, down(seen)), Err(Reason::Unreachable));
            seen = address;
        }
        // Others pass as they are, and what was given back is reached again.
        prop_assert_eq!(pass(&mut nat, Direction::Down, down(server)), Ok(down(server)));
        nat.change(Time::default(), Change::Rebind(private), &mut Out::default()).unwrap();
        prop_assert_eq!(pass(&mut nat, Direction::Down, down(private)), Ok(down(private)));
    }

    /// What an error quotes is what the client sent, with the checksums that it had.
    #[test]
    fn errors_quote_what_was_sent([private, public, router, server] in addresses(), data in prop::collection::vec(any::<u8>(), 0..40), keep in 48..100_usize) {
        let mut nat = Nat::new(&[private]);
        nat.change(Time::default(), Change::Rebind(public), &mut Out::default()).unwrap();
        let unreachable = L4::Icmp { kind: if private.is_ipv4() { 3 } else { 1 }, code: 1, rest: [0; 4] };
        let bytes = |packet: &Packet| {
            let mut bytes = Vec::new();
            packet.emit(&mut bytes, Some(keep)).unwrap();
            bytes
        };
        let sent = packet(private, server, UDP, &data);
        let seen = pass(&mut nat, Direction::Up, sent.clone()).unwrap();
        let error = packet(router, public, unreachable, &bytes(&seen));
        let expected = packet(router, private, unreachable, &bytes(&sent));
        prop_assert_eq!(pass(&mut nat, Direction::Down, error), Ok(expected));

        // And the other way: the client says that it did not want what came.
        let sent = packet(server, public, UDP, &data);
        let seen = pass(&mut nat, Direction::Down, sent.clone()).unwrap();
        let error = packet(private, server, unreachable, &bytes(&seen));
        let expected = packet(public, server, unreachable, &bytes(&sent));
        prop_assert_eq!(pass(&mut nat, Direction::Up, error), Ok(expected));
    }

    #[test]
    fn no_quoted_bytes_make_it_panic([private, public, router, _server] in addresses(), kind in 0..16_u8, body in prop::collection::vec(any::<u8>(), 0..80)) {
        let mut nat = Nat::new(&[private]);
        nat.change(Time::default(), Change::Rebind(public), &mut Out::default()).unwrap();
        let error = packet(router, public, L4::Icmp { kind, code: 0, rest: [0; 4] }, &body);
        prop_assert!(pass(&mut nat, Direction::Down, error).is_ok());
    }
}

#[test]
fn a_family_that_is_not_there_cannot_be_bound() {
    let mut nat = Nat::new(&[[10, 0, 0, 1].into()]);
    let address = IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]);
    assert!(nat.change(Time::default(), Change::Rebind(address), &mut Out::default()).is_err());
}
