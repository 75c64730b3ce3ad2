//! The Internet checksum (RFC 1071): the complement of the ones' complement sum of 16-bit words.

/// A running sum; each addition starts at a word's boundary.
#[derive(Clone, Copy, Default)]
pub(crate) struct Sum(u64);

/// A sum as one word: carries are added in again.
#[inline]
pub(crate) fn fold(mut sum: u64) -> u16 {
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

impl Sum {
    /// A sum of words, not yet folded; below 2⁶³.
    #[inline]
    pub fn of(sum: u64) -> Sum {
        Sum(sum)
    }

    /// Both sums.
    #[inline]
    pub fn plus(self, other: Sum) -> Sum {
        Sum(self.0 + other.0)
    }

    /// Adds words of 32 bits: cheaper than reading back what was just written of them.
    #[inline]
    pub fn add_words<const N: usize>(self, words: [u32; N]) -> Sum {
        Sum(words.into_iter().fold(self.0, |sum, word| sum + u64::from(word)))
    }

    /// Adds bytes, an odd last one as if a zero followed.
    #[inline]
    pub fn add(mut self, bytes: &[u8]) -> Sum {
        // Several words at a time: a carry from a lower into a higher is one that folding brings back.
        let mut eights = bytes.chunks_exact(8);
        for eight in &mut eights {
            let four =
                u64::from_be_bytes([eight[0], eight[1], eight[2], eight[3], eight[4], eight[5], eight[6], eight[7]]);
            self.0 += (four >> 32) + (four & 0xffff_ffff);
        }
        let mut fours = eights.remainder().chunks_exact(4);
        for four in &mut fours {
            self.0 += u64::from(u32::from_be_bytes([four[0], four[1], four[2], four[3]]));
        }
        let mut last = [0; 4];
        let rest = fours.remainder();
        last[..rest.len()].copy_from_slice(rest);
        self.0 += u64::from(u32::from_be_bytes(last));
        self
    }

    /// The sum as one word.
    #[inline]
    pub fn folded(self) -> u16 {
        fold(self.0)
    }

    /// The checksum.
    #[inline]
    pub fn finish(self) -> u16 {
        !fold(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Sum;

    #[test]
    fn example_of_rfc_1071() {
        // RFC 1071 §3: the sum of these is ddf2.
        let sum = Sum::default().add(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        assert_eq!(sum.finish(), !0xddf2);
    }

    #[test]
    fn odd_byte_is_the_upper_half_of_a_word() {
        assert_eq!(Sum::default().add(&[0x12, 0x34, 0x56]).finish(), !(0x1234 + 0x5600));
    }
}
