//! Addresses of both ends and their identifiers (RFC 8684 §3.4).

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use wire::Time;
use wire::mptcp::{AddAddr, RemoveAddr};

/// How often an ADD_ADDR without an echo is sent in all.
const ANNOUNCEMENTS: u32 = 4;
/// Before it is sent again for the first time; doubles.
const ECHO_TIMEOUT_NS: i64 = 1_000_000_000;

/// What a connection knows of the addresses of both ends.
#[derive(Debug, Default)]
pub struct Addresses {
    /// Of MPTCP: 0 has no echoes.
    version: u8,
    /// Local addresses; the index is the identifier, 0 that of the initial subflow.
    local: Vec<IpAddr>,
    /// What the peer announced.
    remote: Vec<(u8, SocketAddr)>,
    /// Announcements that wait for an echo.
    announced: Vec<Announced>,
    /// Echoes to give.
    echoes: VecDeque<AddAddr>,
    /// Identifiers to withdraw.
    withdrawn: Vec<u8>,
}

#[derive(Debug)]
struct Announced {
    id: u8,
    address: IpAddr,
    port: Option<u16>,
    /// How often it was sent.
    sent: u32,
    /// When it is to be sent.
    at: Time,
}

/// A signal about addresses that goes out with the next ACK.
#[derive(Debug)]
pub enum Notice {
    /// ADD_ADDR without HMAC, which the connection adds unless it is an echo.
    Add(AddAddr),
    /// REMOVE_ADDR.
    Remove(RemoveAddr),
}

impl Addresses {
    /// Of a connection whose initial subflow is on `initial`.
    pub fn new(initial: IpAddr, version: u8) -> Addresses {
        Addresses { version, local: vec![initial], ..Addresses::default() }
    }

    /// The identifier of a local address.
    pub fn id(&mut self, address: IpAddr) -> u8 {
        let known = self.local.iter().position(|&known| known == address);
        known.unwrap_or_else(|| {
            self.local.push(address);
            self.local.len() - 1
        }) as u8
    }

    /// Announces a local address, at once and again until the echo comes.
    pub fn announce(&mut self, now: Time, address: IpAddr, port: Option<u16>) {
        let id = self.id(address);
        self.announced.retain(|known| known.id != id);
        self.announced.push(Announced { id, address, port, sent: 0, at: now });
    }

    /// Withdraws a local address.
    pub fn withdraw(&mut self, address: IpAddr) {
        let id = self.id(address);
        self.announced.retain(|known| known.id != id);
        if !self.withdrawn.contains(&id) {
            self.withdrawn.push(id);
        }
    }

    /// A local address is there again: what the peer has not heard yet would end what is opened from it.
    pub fn returned(&mut self, address: IpAddr) {
        self.withdrawn.retain(|&id| self.local[usize::from(id)] != address);
    }

    /// The peer announced an address: says whether it is new. The echo goes out in any case.
    pub fn learn(&mut self, add_addr: &AddAddr, remote: SocketAddr) -> bool {
        if self.version > 0 {
            self.echoes.push_back(AddAddr { echo: true, hmac: None, ..*add_addr });
        }
        let new = !self.remote.contains(&(add_addr.address_id, remote));
        if new {
            self.remote.retain(|(id, _)| *id != add_addr.address_id);
            self.remote.push((add_addr.address_id, remote));
        }
        new
    }

    /// The peer withdrew an address.
    pub fn unlearn(&mut self, id: u8) {
        self.remote.retain(|(known, _)| *known != id);
    }

    /// The identifier of an address that the peer announced; 0 for the initial one.
    pub fn remote_id(&self, remote: SocketAddr) -> u8 {
        self.remote.iter().find(|(_, known)| *known == remote).map_or(0, |(id, _)| *id)
    }

    /// The peer has an announcement.
    pub fn echoed(&mut self, id: u8) {
        self.announced.retain(|known| known.id != id);
    }

    /// When an announcement is due.
    #[inline]
    pub fn deadline(&self) -> Time {
        if self.announced.is_empty() { Time::MAX } else { self.first() }
    }

    #[cold]
    #[inline(never)]
    fn first(&self) -> Time {
        self.announced.iter().map(|known| known.at).min().unwrap_or(Time::MAX)
    }

    /// Whether something is to go out now.
    #[inline]
    pub fn due(&self, now: Time) -> bool {
        !self.echoes.is_empty() || !self.withdrawn.is_empty() || self.deadline() <= now
    }

    /// The next signal to go out now.
    pub fn next(&mut self, now: Time) -> Option<Notice> {
        if let Some(echo) = self.echoes.pop_front() {
            return Some(Notice::Add(echo));
        }
        if let Some(remove) = RemoveAddr::new(&self.withdrawn) {
            self.withdrawn.clear();
            return Some(Notice::Remove(remove));
        }
        let at = self.announced.iter().position(|known| known.at <= now)?;
        let announced = &mut self.announced[at];
        let (address_id, address, port) = (announced.id, announced.address, announced.port);
        announced.at = now + (ECHO_TIMEOUT_NS << announced.sent);
        announced.sent += 1;
        if announced.sent == ANNOUNCEMENTS || self.version == 0 {
            self.announced.remove(at);
        }
        Some(Notice::Add(AddAddr { version: self.version, echo: false, address_id, address, port, hmac: None }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    fn at(seconds: i64) -> Time {
        Time::from_nanos(seconds * SECOND)
    }

    #[test]
    fn announcements_repeat_until_their_echo() {
        let mut addresses = Addresses::new("10.0.0.1".parse().unwrap(), 1);
        addresses.announce(at(0), "10.0.0.2".parse().unwrap(), None);
        let mut sent = Vec::new();
        while addresses.deadline() < Time::MAX {
            let now = addresses.deadline();
            let Some(Notice::Add(add_addr)) = addresses.next(now) else { panic!() };
            assert_eq!((add_addr.address_id, add_addr.echo), (1, false));
            sent.push(now.as_nanos() / SECOND);
        }
        assert_eq!(sent, [0, 1, 3, 7]);

        addresses.announce(at(10), "10.0.0.3".parse().unwrap(), Some(80));
        addresses.next(at(10));
        addresses.echoed(2);
        assert_eq!(addresses.deadline(), Time::MAX);
    }

    #[test]
    fn what_was_learnt_is_echoed_and_new_once() {
        let mut addresses = Addresses::new("10.0.0.1".parse().unwrap(), 1);
        let remote: SocketAddr = "10.9.0.2:80".parse().unwrap();
        let add_addr =
            AddAddr { version: 1, echo: false, address_id: 4, address: remote.ip(), port: None, hmac: Some(7) };
        assert!(addresses.learn(&add_addr, remote));
        assert!(!addresses.learn(&add_addr, remote));
        assert_eq!(addresses.remote_id(remote), 4);
        for _ in 0..2 {
            let Some(Notice::Add(echo)) = addresses.next(at(0)) else { panic!() };
            assert_eq!((echo.echo, echo.hmac, echo.address_id), (true, None, 4));
        }
        assert!(addresses.next(at(0)).is_none());
    }
}
