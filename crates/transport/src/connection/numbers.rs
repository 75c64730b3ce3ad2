//! Data sequence numbers on the wire and offsets in the connection's data.

use wire::mptcp::DataNumber;

/// One direction's data sequence numbers: data offset 0 is the first byte, one after the initial data sequence number
/// (RFC 8684 §3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    initial: u64,
}

impl Numbers {
    /// Those that follow `initial_data_seq`.
    pub fn new(initial_data_seq: u64) -> Numbers {
        Numbers { initial: initial_data_seq.wrapping_add(1) }
    }

    /// The number of the byte at `data_offset`.
    pub fn number(self, data_offset: u64) -> u64 {
        self.initial.wrapping_add(data_offset)
    }

    /// The same as it is sent: 8 bytes, or the lower 4 of them.
    pub fn wire(self, data_offset: u64, long: bool) -> DataNumber {
        let number = self.number(data_offset);
        if long { DataNumber::Long(number) } else { DataNumber::Short(number as u32) }
    }

    /// The data offset of a number as received, the nearest to `near` where only 32 bits are sent (RFC 8684 §3.3.1); none
    /// for one before the first byte.
    pub fn data_offset(self, number: DataNumber, near: u64) -> Option<u64> {
        let distance = match number {
            DataNumber::Long(number) => number.wrapping_sub(self.number(near)) as i64,
            DataNumber::Short(low) => i64::from(low.wrapping_sub(self.number(near) as u32) as i32),
        };
        near.checked_add_signed(distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_numbers_are_the_nearest() {
        let numbers = Numbers::new(u64::MAX - 10);
        for data_offset in [0u64, 9, 11, 1 << 31, 1 << 32, (1 << 33) + 5] {
            for near in [data_offset, data_offset + 1000, data_offset.saturating_sub(1000)] {
                for long in [false, true] {
                    assert_eq!(
                        numbers.data_offset(numbers.wire(data_offset, long), near),
                        Some(data_offset),
                        "{data_offset} near {near}"
                    );
                }
            }
        }
        assert_eq!(numbers.data_offset(DataNumber::Long(u64::MAX - 10), 0), None, "the number before the first byte");
    }
}
