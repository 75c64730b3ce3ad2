use wire::Time;

/// Makes times of an interface's time stamps: if_tsresol and if_tsoffset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    step: Step,
    offset_ns: i64,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// So many nanoseconds.
    Nanos(u64),
    /// So many make a nanosecond; 0: more than 64 bits can count.
    PerNano(u64),
    /// 2 to this power make a second.
    Binary(u8),
}

impl Default for Clock {
    /// Microseconds, as the format says.
    fn default() -> Clock {
        Clock { step: Step::Nanos(1000), offset_ns: 0 }
    }
}

impl Clock {
    /// §4.2 if_tsresol: a negative power of 10, or of 2 when the highest bit is set.
    pub fn set_resolution(&mut self, resolution: u8) {
        let power = u32::from(resolution & 0x7f);
        self.step = match (resolution & 0x80, power) {
            (0, 0..=9) => Step::Nanos(10u64.pow(9 - power)),
            (0, _) => Step::PerNano(10u64.checked_pow(power - 9).unwrap_or(0)),
            _ => Step::Binary(power as u8),
        };
    }

    /// §4.2 if_tsoffset: seconds to add.
    pub fn set_offset(&mut self, seconds: i64) {
        self.offset_ns = seconds.saturating_mul(1_000_000_000);
    }

    #[inline]
    pub fn time(&self, ticks: u64) -> Time {
        let nanos = match self.step {
            Step::Nanos(step) => ticks.saturating_mul(step),
            Step::PerNano(steps) => ticks.checked_div(steps).unwrap_or(0),
            Step::Binary(power) => u64::try_from((u128::from(ticks) * 1_000_000_000) >> power).unwrap_or(u64::MAX),
        };
        Time::from_nanos(i64::try_from(nanos).unwrap_or(i64::MAX)) + self.offset_ns
    }

    /// The step in nanoseconds, rounded up.
    pub fn resolution_ns(&self) -> u64 {
        match self.step {
            Step::Nanos(step) => step,
            Step::PerNano(_) => 1,
            Step::Binary(power) => (1_000_000_000u128).div_ceil(1 << power) as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_and_offsets_make_nanoseconds() {
        for (resolution, ticks, nanos, step) in [
            (6, 1_500_000, 1_500_000_000, 1000),
            (9, 1_500_000_000, 1_500_000_000, 1),
            (0, 3, 3_000_000_000, 1_000_000_000),
            (12, 1_999, 1, 1),
            (127, u64::MAX, 0, 1),
            (0x80 | 10, 1024 + 512, 1_500_000_000, 976_563),
            (0x80 | 32, 3 << 31, 1_500_000_000, 1),
            (0x80 | 127, u64::MAX, 0, 1),
            (0, u64::MAX, i64::MAX, 1_000_000_000),
        ] {
            let mut clock = Clock::default();
            clock.set_resolution(resolution);
            assert_eq!((clock.time(ticks).as_nanos(), clock.resolution_ns()), (nanos, step), "resolution {resolution}");
        }
        let mut clock = Clock::default();
        clock.set_offset(-2);
        assert_eq!(clock.time(3_000_000), Time::from_nanos(1_000_000_000));
    }
}
