use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The key that decides what things become. With it, addresses can be tried until one fits.
pub struct Secret(Hmac<Sha256>);

impl Secret {
    /// From bytes that nobody can guess: 16 and more of them, drawn at random.
    pub fn new(bytes: &[u8]) -> Secret {
        Secret(Hmac::new_from_slice(bytes).expect("an HMAC takes keys of any length"))
    }

    /// A pseudo-random function: other bytes for each purpose and input.
    pub(crate) fn draw(&self, purpose: &str, input: &[u8]) -> [u8; 32] {
        let length = [purpose.len() as u8];
        self.0.clone().chain_update(length).chain_update(purpose).chain_update(input).finalize().into_bytes().into()
    }

    /// The key of a host instead of this one.
    pub(crate) fn key(&self, key: u64) -> u64 {
        let drawn = self.draw("key", &key.to_be_bytes());
        u64::from_be_bytes(*drawn.first_chunk().expect("32 bytes hold 8"))
    }
}
