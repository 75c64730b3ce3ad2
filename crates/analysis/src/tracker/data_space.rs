//! The data sequence numbers of one direction of a connection.

use wire::mptcp::DataNumber;

/// Turns data sequence numbers of 4 and 8 bytes into offsets from the connection's first byte, across wrap-around.
#[derive(Debug, Default)]
pub(super) struct DataSpace {
    base: Option<Base>,
    /// Offset seen last, which the next one is near.
    latest: i64,
}

#[derive(Clone, Copy, Debug)]
struct Base {
    number: u64,
    /// Only the lower half is known so far.
    lower_half: bool,
}

impl DataSpace {
    /// The key gave the initial data sequence number; the first byte has the next one.
    pub(super) fn begin(&mut self, initial: u64) {
        self.base = Some(Base { number: initial.wrapping_add(1), lower_half: false });
    }

    /// Offset of a number; the first number ever seen is offset 0 where the key is unknown.
    pub(super) fn offset(&mut self, number: DataNumber) -> i64 {
        let base = self.base.get_or_insert(match number {
            DataNumber::Long(number) => Base { number, lower_half: false },
            DataNumber::Short(number) => Base { number: u64::from(number), lower_half: true },
        });
        let offset = match number {
            DataNumber::Long(number) => {
                if base.lower_half {
                    let offset = near(self.latest, base.number as u32, number as u32);
                    *base = Base { number: number.wrapping_sub(offset as u64), lower_half: false };
                }
                number.wrapping_sub(base.number) as i64
            }
            DataNumber::Short(number) => near(self.latest, base.number as u32, number),
        };
        self.latest = offset.clamp(-FAR, FAR);
        self.latest
    }

    /// Upper half of the number seen last, where 64 bits are known.
    pub(super) fn upper_half(&self) -> Option<u32> {
        let base = self.base.filter(|base| !base.lower_half)?;
        Some((base.number.wrapping_add(self.latest as u64) >> 32) as u32)
    }

    /// How far a number lies from the one seen last.
    pub(super) fn distance(&self, number: u64) -> Option<u64> {
        let base = self.base.filter(|base| !base.lower_half)?;
        Some((number.wrapping_sub(base.number.wrapping_add(self.latest as u64)) as i64).unsigned_abs())
    }
}

/// Offsets keep within this, whatever a packet says, so that sums of them do not overflow.
const FAR: i64 = 1 << 60;

fn near(offset: i64, base: u32, number: u32) -> i64 {
    offset + i64::from(wire::seq::diff(number, base.wrapping_add(offset as u32)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixes_widths_across_wrap_around() {
        let mut space = DataSpace::default();
        space.begin(u64::MAX - 10);
        assert_eq!(space.offset(DataNumber::Long(u64::MAX - 9)), 0);
        assert_eq!(space.offset(DataNumber::Short(u32::MAX)), 9);
        assert_eq!(space.offset(DataNumber::Short(5)), 15);
        assert_eq!(space.offset(DataNumber::Long(4)), 14);
    }

    #[test]
    fn learns_the_upper_half_late() {
        let mut space = DataSpace::default();
        assert_eq!(space.offset(DataNumber::Short(u32::MAX - 1)), 0);
        assert_eq!(space.offset(DataNumber::Short(8)), 10);
        assert_eq!(space.offset(DataNumber::Long(0x1234_0000_0000_0012)), 20);
        assert_eq!(space.offset(DataNumber::Long(0x1234_0000_0000_0008)), 10);
    }
}
