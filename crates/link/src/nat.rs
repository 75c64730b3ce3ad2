use crate::{Change, Direction, Element, Out, Reason, Unsupported};
use std::net::IpAddr;
use wire::{L4, Packet, Time};

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
            translate_quoted(packet, |quoted| quoted.destination(), source, public);
        }
    }

    fn down(&self, packet: &mut Packet) -> Result<(), Reason> {
        let destination = packet.frame.ip.destination;
        if let Some(&Binding { private, .. }) = self.bindings.iter().find(|one| one.public == destination) {
            packet.frame.ip.destination = private;
            translate_quoted(packet, |quoted| quoted.source(), destination, private);
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

/// Where things stand in the packet that an ICMP error quotes.
#[derive(Clone, Copy)]
struct Quoted {
    is_v4: bool,
    /// Length of the IP header.
    header: usize,
    protocol: u8,
}

impl Quoted {
    fn source(self) -> usize {
        if self.is_v4 { 12 } else { 8 }
    }

    fn destination(self) -> usize {
        if self.is_v4 { 16 } else { 24 }
    }

    fn find(frame_l4: &L4, body: &[u8]) -> Option<Quoted> {
        let first = *body.first()?;
        let quoted = match (frame_l4, first >> 4) {
            // RFC 792: unreachable, source quench, redirect, time exceeded, parameter problem.
            (L4::Icmp { kind: 3 | 4 | 5 | 11 | 12, .. }, 4) => {
                Quoted { is_v4: true, header: usize::from(first & 0xf) * 4, protocol: *body.get(9)? }
            }
            // RFC 4443 §2.1: errors are the types below 128.
            (L4::Icmp { kind: 0..128, .. }, 6) => Quoted { is_v4: false, header: 40, protocol: *body.get(6)? },
            _ => return None,
        };
        (quoted.header >= 20 && body.len() >= quoted.header).then_some(quoted)
    }

    /// Where checksums that cover the addresses stand.
    fn checksums(self) -> impl Iterator<Item = usize> {
        let in_ip = self.is_v4.then_some(10);
        let in_transport = match self.protocol {
            6 => Some(16),
            17 => Some(6),
            58 if !self.is_v4 => Some(2),
            _ => None,
        };
        in_ip.into_iter().chain(in_transport.map(|at| self.header + at))
    }
}

/// Puts `new` in the place of `old` where an ICMP error quotes it.
fn translate_quoted(packet: &mut Packet, place: fn(Quoted) -> usize, old: IpAddr, new: IpAddr) {
    let Some(body) = &mut packet.body else { return };
    let Some(quoted) = Quoted::find(&packet.frame.l4, body) else { return };
    let (old, new) = match (old, new) {
        (IpAddr::V4(old), IpAddr::V4(new)) if quoted.is_v4 => (old.octets().to_vec(), new.octets().to_vec()),
        (IpAddr::V6(old), IpAddr::V6(new)) if !quoted.is_v4 => (old.octets().to_vec(), new.octets().to_vec()),
        _ => return,
    };
    let place = place(quoted);
    if body[place..place + old.len()] != old {
        return;
    }
    let body = body.to_mut();
    body[place..place + new.len()].copy_from_slice(&new);
    for at in quoted.checksums() {
        if let Some(field) = body.get_mut(at..at + 2)
            // A UDP checksum of 0 is none.
            && (quoted.protocol != 17 || at == 10 || field != [0, 0])
        {
            field.copy_from_slice(&match adjusted(u16::from_be_bytes([field[0], field[1]]), &old, &new) {
                0 if quoted.protocol == 17 && at != 10 => [0xff; 2],
                checksum => checksum.to_be_bytes(),
            });
        }
    }
}

/// RFC 1624 eq. 3: the checksum after words changed from `old` to `new`.
fn adjusted(checksum: u16, old: &[u8], new: &[u8]) -> u16 {
    let words = |bytes: &[u8], flip: u16| -> u32 {
        bytes.chunks_exact(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]]) ^ flip)).sum()
    };
    let mut sum = u32::from(!checksum) + words(old, 0xffff) + words(new, 0);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
