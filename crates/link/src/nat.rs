use crate::quoted::{Field, Quoted};
use crate::{Change, Direction, Element, Out, Reason, Unsupported};
use std::net::IpAddr;
use wire::{Packet, Time};

/// A translator of the client's addresses (RFC 3022 §4.1), also in what ICMP errors quote. At first the public address
/// is the private one; a rebinding gives it another, and what is still sent to the old one reaches nobody. Ports stay.
#[derive(Debug)]
pub struct Nat {
    bindings: Vec<Binding>,
    /// Public addresses of the past.
    old: Vec<IpAddr>,
}

#[derive(Clone, Copy, Debug)]
struct Binding {
    private: IpAddr,
    public: IpAddr,
}

impl Nat {
    /// For a client with these addresses.
    pub fn new(addresses: &[IpAddr]) -> Nat {
        let bind = |&address: &IpAddr| Binding { private: address, public: address };
        Nat { bindings: addresses.iter().map(bind).collect(), old: Vec::new() }
    }

    fn up(&self, packet: &mut Packet) {
        let source = packet.frame.ip.source;
        if let Some(&Binding { public, .. }) = self.bindings.iter().find(|one| one.private == source) {
            packet.frame.ip.source = public;
            translate_quoted(packet, Quoted::destination, source, public);
        }
    }

    fn down(&self, packet: &mut Packet) -> Result<(), Reason> {
        let destination = packet.frame.ip.destination;
        if let Some(&Binding { private, .. }) = self.bindings.iter().find(|one| one.public == destination) {
            packet.frame.ip.destination = private;
            translate_quoted(packet, Quoted::source, destination, private);
            return Ok(());
        }
        if self.old.contains(&destination) { Err(Reason::Unreachable) } else { Ok(()) }
    }
}

impl Element for Nat {
    #[inline]
    fn push(&mut self, _now: Time, direction: Direction, mut packet: Box<Packet>, out: &mut Out) {
        let passed = match direction {
            _ if self.old.is_empty() => Ok(()),
            Direction::Up => {
                self.up(&mut packet);
                Ok(())
            }
            Direction::Down => self.down(&mut packet),
        };
        match passed {
            Ok(()) => out.send(direction, packet),
            Err(reason) => out.drop(direction, packet, reason),
        }
    }

    /// [`Change::Rebind`] gives the address of the same family another public one.
    fn change(&mut self, _now: Time, change: Change, _out: &mut Out) -> Result<(), Unsupported> {
        let Change::Rebind(public) = change else { return Err(Unsupported(change)) };
        let same = |one: &&mut Binding| one.private.is_ipv4() == public.is_ipv4();
        let Some(binding) = self.bindings.iter_mut().find(same) else { return Err(Unsupported(change)) };
        self.old.push(std::mem::replace(&mut binding.public, public));
        self.old.retain(|old| *old != public);
        Ok(())
    }
}

/// Puts `new` in the place of `old` where an ICMP error quotes it.
fn translate_quoted(packet: &mut Packet, field: fn(Quoted) -> Field, old: IpAddr, new: IpAddr) {
    let Some(quoted) = Quoted::of(packet) else { return };
    let field = field(quoted);
    if field.address(packet) == Some(old) {
        match new {
            IpAddr::V4(new) => quoted.replace(packet, field, &new.octets()),
            IpAddr::V6(new) => quoted.replace(packet, field, &new.octets()),
        }
    }
}
