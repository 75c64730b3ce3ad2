//! How late something was done: mean, 99th percentile, maximum.

/// Parts of a power of two: the error of a quantile is at most half of one in 128, 0.4 %.
const PARTS_LOG2: u32 = 7;

/// Times in nanoseconds by which deadlines were missed, in logarithmic bins.
#[derive(Clone, Debug, Default)]
pub struct Lateness {
    count: u64,
    sum_ns: u128,
    max_ns: u64,
    bins: Vec<u64>,
}

impl Lateness {
    /// Adds one.
    pub fn add(&mut self, late_ns: i64) {
        let late_ns = late_ns.max(0) as u64;
        self.count += 1;
        self.sum_ns += u128::from(late_ns);
        self.max_ns = self.max_ns.max(late_ns);
        let bin = bin(late_ns);
        if self.bins.len() <= bin {
            self.bins.resize(bin + 1, 0);
        }
        self.bins[bin] += 1;
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean; 0 of none.
    pub fn mean_ns(&self) -> u64 {
        (self.sum_ns / u128::from(self.count.max(1))) as u64
    }

    /// The greatest; 0 of none.
    pub fn max_ns(&self) -> u64 {
        self.max_ns
    }

    /// What 99 of 100 do not exceed; 0 of none.
    pub fn p99_ns(&self) -> u64 {
        let rank = (self.count * 99).div_ceil(100);
        let mut seen = 0;
        let found = self.bins.iter().position(|count| {
            seen += count;
            seen >= rank && rank > 0
        });
        found.map_or(0, |bin| middle(bin).min(self.max_ns))
    }
}

/// Small values have bins of their own; of others the leading bits count.
fn bin(value: u64) -> usize {
    let shift = (u64::BITS - value.leading_zeros()).saturating_sub(PARTS_LOG2 + 1);
    ((u64::from(shift) << PARTS_LOG2) + (value >> shift)) as usize
}

fn middle(bin: usize) -> u64 {
    let shift = (bin as u64 >> PARTS_LOG2).saturating_sub(1);
    let leading = bin as u64 - (shift << PARTS_LOG2);
    (leading << shift) + (1 << shift) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_keep_what_they_hold_within_half_a_percent() {
        for value in (0..3_000).chain([1 << 20, 123_456_789, 987_654_321_012]) {
            let error = middle(bin(value)).abs_diff(value);
            assert!(error as f64 <= value as f64 * 0.005, "{value}: {}", middle(bin(value)));
        }
    }

    #[test]
    fn of_a_hundred() {
        let mut lateness = Lateness::default();
        assert_eq!((lateness.mean_ns(), lateness.p99_ns(), lateness.max_ns()), (0, 0, 0));
        (1..=100).for_each(|late_ns| lateness.add(late_ns));
        assert_eq!((lateness.count(), lateness.mean_ns(), lateness.p99_ns(), lateness.max_ns()), (100, 50, 99, 100));
    }

    #[test]
    fn early_is_not_late() {
        let mut lateness = Lateness::default();
        lateness.add(-5);
        assert_eq!(lateness.max_ns(), 0);
    }
}
