//! Cookies by which a client shows that it receives what is sent to its address (RFC 8803 §6.2.7).

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;

/// A secret that lasts as long as the program. The hash is SipHash, which nobody without the secret can tell.
#[derive(Default)]
pub struct Cookies(RandomState);

impl Cookies {
    /// The cookie of a client.
    pub fn of(&self, client: IpAddr) -> [u8; 8] {
        self.0.hash_one(client.to_canonical()).to_be_bytes()
    }
}
