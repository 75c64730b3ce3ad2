use rustc_hash::FxHashMap;
use std::hash::{Hash, Hasher};
use std::net::{IpAddr, SocketAddr};

/// By local and remote end: a connection and its subflow.
#[derive(Debug, Default)]
pub struct Tuples(FxHashMap<Key, (u32, u32)>);

/// Both ends in few words: quicker to hash and to compare than socket addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    local: u128,
    remote: u128,
    ports: u32,
}

impl Key {
    #[inline]
    fn new(local: (IpAddr, u16), remote: (IpAddr, u16)) -> Key {
        Key { local: bits(local.0), remote: bits(remote.0), ports: u32::from(local.1) << 16 | u32::from(remote.1) }
    }
}

impl From<(SocketAddr, SocketAddr)> for Key {
    fn from((local, remote): (SocketAddr, SocketAddr)) -> Key {
        Key::new((local.ip(), local.port()), (remote.ip(), remote.port()))
    }
}

impl Hash for Key {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        // One word, as every further one costs a multiplication that waits for the one before.
        let addresses = self.local.rotate_left(32) ^ self.remote;
        state.write_u64((addresses >> 64) as u64 ^ addresses as u64 ^ u64::from(self.ports).rotate_left(16));
    }
}

/// IPv4 addresses as they are mapped into IPv6 (RFC 4291 §2.5.5.2), where no packet comes from.
#[inline]
fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => 0xffff << 32 | u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    }
}

impl Tuples {
    /// By addresses and ports as they are in a packet: put into socket addresses, they would have to be read at once as
    /// other words than they were written, for which a processor waits.
    #[inline]
    pub fn get(&self, local: (IpAddr, u16), remote: (IpAddr, u16)) -> Option<(u32, u32)> {
        self.0.get(&Key::new(local, remote)).copied()
    }

    pub fn contains(&self, local: SocketAddr, remote: SocketAddr) -> bool {
        self.0.contains_key(&Key::from((local, remote)))
    }

    pub fn insert(&mut self, tuple: (SocketAddr, SocketAddr), subflow: (u32, u32)) {
        self.0.insert(Key::from(tuple), subflow);
    }

    pub fn remove(&mut self, tuple: (SocketAddr, SocketAddr)) {
        self.0.remove(&Key::from(tuple));
    }

    /// Removes it if it is the connection's: its ports may be in use anew.
    pub fn release(&mut self, tuple: (SocketAddr, SocketAddr), connection: u32) {
        let key = Key::from(tuple);
        if self.0.get(&key).is_some_and(|&(owner, _)| owner == connection) {
            self.0.remove(&key);
        }
    }
}
