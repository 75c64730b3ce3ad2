//! What streams carry that mptcplab sends: the 16-bit big-endian word k of a stream is k modulo 65535.
//!
//! Ones' complement sums are sums modulo 65535 (RFC 1071 §2), so the sum of any part is that of an arithmetic series, and
//! headers get right checksums without their payload being written.

use crate::checksum::{Sum, fold};

/// The series repeats after as many words: 0xffff does not occur, 0 does.
const WORDS: u64 = 65_535;

/// The word that holds the byte at a position.
#[inline]
fn word(position: u64) -> u16 {
    (position / 2 % WORDS) as u16
}

/// The byte at a position.
#[inline]
pub fn byte(position: u64) -> u8 {
    word(position).to_be_bytes()[(position % 2) as usize]
}

/// Fills `out` with the stream from `position` on.
pub fn fill(position: u64, out: &mut [u8]) {
    let (odd, mut out) = out.split_at_mut((position % 2).min(out.len() as u64) as usize);
    odd.fill(byte(position));
    let mut next = word(position + odd.len() as u64);
    while !out.is_empty() {
        let (run, rest) = out.split_at_mut(until_restart(next).min(out.len()));
        let mut words = run.chunks_exact_mut(2);
        for two in &mut words {
            two.copy_from_slice(&next.to_be_bytes());
            next = next.wrapping_add(1);
        }
        words.into_remainder().fill(next.to_be_bytes()[0]);
        (out, next) = (rest, 0);
    }
}

/// Whether `bytes` are the stream from `position` on.
pub fn matches(position: u64, bytes: &[u8]) -> bool {
    let (odd, mut bytes) = bytes.split_at((position % 2).min(bytes.len() as u64) as usize);
    let mut next = word(position + odd.len() as u64);
    let mut same = odd.iter().all(|&odd| odd == byte(position));
    while same && !bytes.is_empty() {
        let (run, rest) = bytes.split_at(until_restart(next).min(bytes.len()));
        let words = run.chunks_exact(2);
        let last = words.remainder();
        for two in words {
            same &= *two == next.to_be_bytes();
            next = next.wrapping_add(1);
        }
        same &= last.iter().all(|&last| last == next.to_be_bytes()[0]);
        (bytes, next) = (rest, 0);
    }
    same
}

/// Bytes from a word on until the series begins again.
fn until_restart(word: u16) -> usize {
    (WORDS as usize - usize::from(word)) * 2
}

/// The sum of `len` bytes from `position` on, as of words that begin at `position`.
#[inline]
pub(crate) fn sum(position: u64, len: u32) -> Sum {
    if len == 0 {
        return Sum::default();
    }
    let end = position + u64::from(len);
    let (first, last) = (position.div_ceil(2), end / 2);
    // From a to a+n−1: n·a + n(n−1)/2, which fits as a < 2¹⁶ and n < 2³¹ + 1.
    let count = last.saturating_sub(first);
    let mut sum = count * (first % WORDS) + count * count.saturating_sub(1) / 2;
    // The half words at the ends, the other half 0.
    if position % 2 == 1 {
        sum += u64::from(byte(position));
    }
    if end % 2 == 1 {
        sum += u64::from(byte(end - 1)) << 8;
    }
    if position.is_multiple_of(2) {
        return Sum::of(sum);
    }
    // RFC 1071 §2(B): from an odd offset on, the sum is the same with its bytes swapped.
    Sum::of(u64::from(fold(sum).swap_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Near where the series begins again as often as anywhere.
    fn position() -> impl Strategy<Value = u64> {
        prop_oneof![0..300_000_u64, (0..1_000_u64, 0..40_u64).prop_map(|(n, d)| n * 131_070 + d), 0..u64::MAX / 4]
    }

    #[test]
    fn it_begins_with_zero_and_leaves_out_ffff() {
        let mut stream = vec![1; 131_074];
        fill(0, &mut stream);
        assert_eq!(stream[..6], [0, 0, 0, 1, 0, 2]);
        assert_eq!(stream[131_066..], [0xff, 0xfd, 0xff, 0xfe, 0, 0, 0, 1]);
    }

    proptest! {
        #[test]
        fn filled_from_anywhere(position in position(), len in 0..300_usize) {
            let mut bytes = vec![0; len];
            fill(position, &mut bytes);
            let one_by_one: Vec<u8> = (position..).take(len).map(byte).collect();
            prop_assert_eq!(&bytes, &one_by_one);
            prop_assert!(matches(position, &bytes));
        }

        #[test]
        fn another_byte_is_found(position in position(), len in 1..300_usize, at in any::<prop::sample::Index>(), flip in 1..=255_u8) {
            let mut bytes = vec![0; len];
            fill(position, &mut bytes);
            bytes[at.index(len)] ^= flip;
            prop_assert!(!matches(position, &bytes));
        }

        #[test]
        fn the_sum_is_that_of_the_bytes(position in position(), len in prop_oneof![0..2_000_u32, 0..300_000_u32]) {
            let mut bytes = vec![0; len as usize];
            fill(position, &mut bytes);
            // Something not zero beside it, as there is in every checksum: zero has two forms.
            let both = [Sum::default().add(&bytes), sum(position, len)].map(|sum| sum.add(&[0, 6]).finish());
            prop_assert_eq!(both[0], both[1]);
        }
    }
}
