//! What an observer keeps of a datagram's payload: enough to know the datagram again, and to read a QUIC header.

use std::fmt;

/// How a datagram's payload begins, and a number by which the datagram is known again elsewhere.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Glimpse {
    digest: u64,
    /// Those beyond `len` are 0.
    bytes: [u8; Glimpse::MAX],
    len: u8,
}

/// So much of a payload tells it from others: behind its header nearly every protocol has a number, or is encrypted.
const COMPARED: usize = 64;

impl Glimpse {
    /// A long QUIC header with connection IDs of 20 bytes, which is as long as they are in versions 1 and 2 (RFC 9000 §17.2).
    const MAX: usize = 47;

    /// Nothing was kept.
    pub const NONE: Glimpse = Glimpse { digest: 0, bytes: [0; Glimpse::MAX], len: 0 };

    /// Of a payload of `len` bytes with this UDP checksum, of which these were captured. Length and checksum count where those
    /// are too few to tell: offloads and NAT change them.
    pub(crate) fn of(captured: &[u8], len: u32, checksum: u16) -> Glimpse {
        let compared = &captured[..captured.len().min(COMPARED)];
        let is_whole = compared.len() as u64 >= u64::from(len).min(COMPARED as u64);
        let start = if is_whole { 0 } else { 1 << 63 | u64::from(len) << 16 | u64::from(checksum) };
        let digest = compared.chunks(8).fold(mixed(start), |hash, chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            mixed(hash ^ u64::from_le_bytes(word))
        });
        let kept = captured.len().min(Glimpse::MAX);
        let mut bytes = [0; Glimpse::MAX];
        bytes[..kept].copy_from_slice(&captured[..kept]);
        Glimpse { digest, bytes, len: kept as u8 }
    }

    /// The first bytes of the payload, at most 47.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// The same for datagrams that have the same first 64 bytes, and most likely for no others.
    #[inline]
    pub fn digest(&self) -> u64 {
        self.digest
    }
}

impl fmt::Debug for Glimpse {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Glimpse({:016x}, {:02x?})", self.digest, self.bytes())
    }
}

/// The finish of MurmurHash3: every bit of the outcome depends on every bit.
fn mixed(mut word: u64) -> u64 {
    word = (word ^ word >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    word = (word ^ word >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    word ^ word >> 33
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_captured_beyond_64_bytes_does_not_matter() {
        let payload: Vec<u8> = (0..200).collect();
        let whole = Glimpse::of(&payload, 200, 1);
        assert_eq!(Glimpse::of(&payload[..64], 200, 2), whole);
        assert_eq!(whole.bytes(), &payload[..47]);
        assert_ne!(Glimpse::of(&payload[1..], 200, 1).digest(), whole.digest());
    }

    /// A capture of headers alone has the checksum to tell by.
    #[test]
    fn without_bytes_the_checksum_tells() {
        let [a, b] = [1, 2].map(|checksum| Glimpse::of(&[], 200, checksum));
        assert_ne!(a.digest(), b.digest());
        assert_eq!(Glimpse::of(&[], 0, 1), Glimpse::of(&[], 0, 2));
        assert_eq!(Glimpse::of(b"all", 3, 1), Glimpse::of(b"all", 3, 2));
    }
}
