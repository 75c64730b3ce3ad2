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
    fn new(local: SocketAddr, remote: SocketAddr) -> Key {
        let ports = u32::from(local.port()) << 16 | u32::from(remote.port());
        Key { local: bits(local.ip()), remote: bits(remote.ip()), ports }
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
    #[inline]
    pub fn get(&self, local: SocketAddr, remote: SocketAddr) -> Option<(u32, u32)> {
        self.0.get(&Key::new(local, remote)).copied()
    }

    pub fn contains(&self, local: SocketAddr, remote: SocketAddr) -> bool {
        self.get(local, remote).is_some()
    }

    pub fn insert(&mut self, (local, remote): (SocketAddr, SocketAddr), subflow: (u32, u32)) {
        self.0.insert(Key::new(local, remote), subflow);
    }

    pub fn remove(&mut self, (local, remote): (SocketAddr, SocketAddr)) {
        self.0.remove(&Key::new(local, remote));
    }
}
