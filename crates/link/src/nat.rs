use crate::{Change, Direction, Element, Out, Reason, Unsupported};
use std::net::IpAddr;
use wire::{Packet, Time};

/// A translator of the client's addresses. At first the public address is the private one; a rebinding gives it
/// another, and what is still sent to the old one reaches nobody. Ports stay.
#[derive(Debug)]
pub struct Nat {
    bindings: Vec<Binding>,
    /// Public addresses of the past.
    old: Vec<IpAddr>,
}

#[derive(Debug)]
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
}

impl Element for Nat {
    #[inline]
    fn push(&mut self, _now: Time, direction: Direction, mut packet: Box<Packet>, out: &mut Out) {
        if self.old.is_empty() {
            return out.send(direction, packet);
        }
        match direction {
            Direction::Up => {
                if let Some(binding) = self.bindings.iter().find(|one| one.private == packet.frame.ip.source) {
                    packet.frame.ip.source = binding.public;
                }
            }
            Direction::Down => {
                let destination = packet.frame.ip.destination;
                if let Some(binding) = self.bindings.iter().find(|one| one.public == destination) {
                    packet.frame.ip.destination = binding.private;
                } else if self.old.contains(&destination) {
                    return out.drop(direction, packet, Reason::Unreachable);
                }
            }
        }
        out.send(direction, packet);
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
