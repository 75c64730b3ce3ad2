//! The Internet checksum (RFC 1071): the complement of the ones' complement sum of 16-bit words.

/// A running sum; each addition starts at a word's boundary.
#[derive(Clone, Copy, Default)]
pub(crate) struct Sum(u64);

impl Sum {
    /// Adds bytes, an odd last one as if a zero followed.
    pub fn add(mut self, bytes: &[u8]) -> Sum {
        let mut words = bytes.chunks_exact(2);
        for word in &mut words {
            self.0 += u64::from(u16::from_be_bytes([word[0], word[1]]));
        }
        if let [last] = words.remainder() {
            self.0 += u64::from(*last) << 8;
        }
        self
    }

    /// The checksum.
    pub fn finish(self) -> u16 {
        let mut sum = self.0;
        while sum >> 16 != 0 {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !(sum as u16)
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
