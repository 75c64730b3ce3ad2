use wire::Time;

/// Even times that do not drift: whenever as many bits are due as a message has.
#[derive(Clone, Debug)]
pub struct Ticks {
    start: Time,
    stop: Time,
    bits: u128,
    rate_bits_per_second: u128,
    count: u128,
}

impl Ticks {
    /// Messages of `bytes` at a rate, from `start` on, before `stop`.
    ///
    /// # Panics
    /// When the rate or the size is 0.
    pub fn new(start: Time, bytes: u64, rate_bits_per_second: u64, stop: Time) -> Ticks {
        assert!(bytes > 0 && rate_bits_per_second > 0, "{bytes} bytes at {rate_bits_per_second} bit/s");
        let bits = u128::from(bytes) * 8;
        Ticks { start, stop, bits, rate_bits_per_second: rate_bits_per_second.into(), count: 0 }
    }

    /// The next one; [`Time::MAX`] when it would not be before the stop.
    pub fn next(&self) -> Time {
        let after = self.count * self.bits * 1_000_000_000 / self.rate_bits_per_second;
        let at = self.start + i64::try_from(after).unwrap_or(i64::MAX);
        if at < self.stop { at } else { Time::MAX }
    }

    /// That one is past.
    pub fn advance(&mut self) {
        self.count += 1;
    }

    /// Whether no more come.
    pub fn is_over(&self) -> bool {
        self.next() == Time::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_times_do_not_drift() {
        // Three messages in a microsecond: 333 1/3 ns apart.
        let mut ticks = Ticks::new(Time::from_nanos(5), 1, 24_000_000, Time::from_nanos(1_006));
        let mut times = Vec::new();
        while !ticks.is_over() {
            times.push(ticks.next().as_nanos());
            ticks.advance();
        }
        assert_eq!(times, [5, 338, 671, 1_005]);
    }
}
