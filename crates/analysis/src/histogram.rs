/// Distribution of times in nanoseconds: exact count, mean, deviation, minimum and maximum; quantiles from fixed
/// logarithmic bins, so that they depend neither on the order of the samples nor on how they were split.
///
/// A bin spans 1/128 of a power of two and stands for its middle: the relative error is at most 1/256 < 0.4 %.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histogram {
    count: u64,
    sum: u128,
    sum_of_squares: u128,
    min: u64,
    max: u64,
    bins: Bins,
}

/// Few bins are kept one by one, many as a row: most connections are short, and there are many of them.
#[derive(Clone, Debug)]
enum Bins {
    /// (bin, count), ordered.
    Few(Vec<(u16, u32)>),
    Many {
        first: usize,
        counts: Vec<u32>,
    },
}

const FEW: usize = 48;

const BITS: u32 = 7;

impl Histogram {
    pub(crate) fn add(&mut self, nanos: u64) {
        if self.count == 0 {
            (self.min, self.max) = (nanos, nanos);
        }
        self.min = self.min.min(nanos);
        self.max = self.max.max(nanos);
        self.count += 1;
        self.sum += u128::from(nanos);
        self.sum_of_squares = self.sum_of_squares.saturating_add(u128::from(nanos) * u128::from(nanos));
        self.bins.add(bin_of(nanos), 1);
    }

    pub(crate) fn merge(&mut self, other: &Histogram) {
        if other.count == 0 {
            return;
        }
        self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.count += other.count;
        self.sum += other.sum;
        self.sum_of_squares = self.sum_of_squares.saturating_add(other.sum_of_squares);
        other.bins.iter().for_each(|(bin, count)| self.bins.add(bin, count));
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Mean in milliseconds.
    pub(crate) fn mean_ms(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64 / 1e6)
    }

    /// Standard deviation (n − 1) in milliseconds.
    pub(crate) fn sigma_ms(&self) -> Option<f64> {
        let n = u128::from(self.count);
        (n > 1).then(|| {
            // n Σx² − (Σx)² is exact in integers where Σx² stays below 2¹²⁸ / n; beyond that, floating point will do.
            let scatter = match (n.checked_mul(self.sum_of_squares), self.sum.checked_mul(self.sum)) {
                (Some(a), Some(b)) => a.saturating_sub(b) as f64,
                _ => (n as f64 * self.sum_of_squares as f64 - (self.sum as f64).powi(2)).max(0.0),
            };
            (scatter / (n as f64 * (n - 1) as f64)).sqrt() / 1e6
        })
    }

    pub(crate) fn min_ms(&self) -> Option<f64> {
        (self.count > 0).then_some(self.min as f64 / 1e6)
    }

    pub(crate) fn max_ms(&self) -> Option<f64> {
        (self.count > 0).then_some(self.max as f64 / 1e6)
    }

    /// The bins that hold something: from (inclusive), to (exclusive), in milliseconds, and the count.
    pub(crate) fn bins_ms(&self) -> impl Iterator<Item = (f64, f64, u64)> {
        self.bins.iter().map(|(bin, count)| {
            let (from, width) = bounds_of(bin);
            (from as f64 / 1e6, from.saturating_add(width) as f64 / 1e6, count.into())
        })
    }

    /// The smallest value with at least the part `q` of the samples at or below it, in milliseconds.
    pub(crate) fn quantile_ms(&self, q: f64) -> Option<f64> {
        if self.count == 0 {
            return None;
        }
        let rank = ((q * self.count as f64).ceil() as u64).clamp(1, self.count);
        let mut below = 0;
        for (bin, count) in self.bins.iter() {
            below += u64::from(count);
            if below >= rank {
                let middle = middle_of(bin);
                return Some(middle.clamp(self.min as f64, self.max as f64) / 1e6);
            }
        }
        self.max_ms()
    }
}

impl Default for Bins {
    fn default() -> Self {
        Bins::Few(Vec::new())
    }
}

impl Bins {
    #[inline]
    fn add(&mut self, bin: usize, count: u32) {
        let known = match self {
            // Mostly nothing waits: the first bin is that of 0.
            Bins::Few(few) => few.first_mut().filter(|(first, _)| usize::from(*first) == bin).map(|(_, known)| known),
            Bins::Many { first, counts } => counts.get_mut(bin.wrapping_sub(*first)),
        };
        match known {
            Some(known) => *known = known.saturating_add(count),
            None => self.add_elsewhere(bin, count),
        }
    }

    fn add_elsewhere(&mut self, bin: usize, count: u32) {
        match self {
            Bins::Few(few) => match few.binary_search_by_key(&(bin as u16), |(bin, _)| *bin) {
                Ok(index) => few[index].1 = few[index].1.saturating_add(count),
                Err(_) if few.len() == FEW => {
                    let (first, last) = (usize::from(few[0].0), usize::from(few[FEW - 1].0));
                    let mut counts = vec![0; last - first + 1];
                    few.iter().for_each(|&(bin, count)| counts[usize::from(bin) - first] = count);
                    *self = Bins::Many { first, counts };
                    self.add(bin, count);
                }
                Err(index) => few.insert(index, (bin as u16, count)),
            },
            Bins::Many { first, counts } => {
                if bin < *first {
                    counts.splice(0..0, std::iter::repeat_n(0, *first - bin));
                    *first = bin;
                }
                let index = bin - *first;
                if index >= counts.len() {
                    counts.resize(index + 1, 0);
                }
                counts[index] = counts[index].saturating_add(count);
            }
        }
    }

    /// Bins that hold something, in order.
    fn iter(&self) -> impl Iterator<Item = (usize, u32)> {
        let (few, many) = match self {
            Bins::Few(few) => (few.as_slice(), (0, [].as_slice())),
            Bins::Many { first, counts } => ([].as_slice(), (*first, counts.as_slice())),
        };
        let few = few.iter().map(|&(bin, count)| (usize::from(bin), count));
        let (first, counts) = many;
        few.chain(counts.iter().enumerate().map(move |(index, &count)| (first + index, count)))
            .filter(|(_, count)| *count > 0)
    }
}

/// Values below 2⁷ have a bin each; above, each power of two has 2⁷ bins.
fn bin_of(nanos: u64) -> usize {
    let magnitude = 64 - nanos.leading_zeros();
    let shift = magnitude.saturating_sub(BITS + 1);
    ((shift as usize) << BITS) + (nanos >> shift) as usize
}

/// The least value of a bin, and how many values it spans.
fn bounds_of(bin: usize) -> (u64, u64) {
    let shift = (bin >> BITS).saturating_sub(1);
    let mantissa = bin - (shift << BITS);
    ((mantissa as u64) << shift, 1 << shift)
}

fn middle_of(bin: usize) -> f64 {
    let (from, width) = bounds_of(bin);
    from as f64 + (width as f64 - 1.0) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn quantiles_err_at_most_half_a_percent(mut values in prop::collection::vec(0u64..20_000_000_000, 1..300), q in 0.0f64..1.0) {
            let mut histogram = Histogram::default();
            values.iter().for_each(|&value| histogram.add(value));
            values.sort_unstable();
            let rank = ((q * values.len() as f64).ceil() as usize).clamp(1, values.len());
            let exact = values[rank - 1] as f64 / 1e6;
            let got = histogram.quantile_ms(q).unwrap();
            prop_assert!((got - exact).abs() <= exact * 0.005, "{got} for {exact}");
        }

        #[test]
        fn order_and_splitting_change_nothing(values in prop::collection::vec(0u64..1 << 56, 2..100), cut in 0usize..100) {
            let cut = cut.min(values.len());
            let (mut whole, mut left, mut right) = (Histogram::default(), Histogram::default(), Histogram::default());
            values.iter().rev().for_each(|&value| whole.add(value));
            values[..cut].iter().for_each(|&value| left.add(value));
            values[cut..].iter().for_each(|&value| right.add(value));
            left.merge(&right);
            prop_assert_eq!(whole.mean_ms(), left.mean_ms());
            prop_assert_eq!(whole.sigma_ms(), left.sigma_ms());
            for q in [0.05, 0.5, 0.9, 0.99] {
                prop_assert_eq!(whole.quantile_ms(q), left.quantile_ms(q));
            }
        }
    }

    #[test]
    fn bins_follow_one_another() {
        for value in (0..100_000).chain([u64::MAX / 2, u64::MAX - 1]) {
            assert!(bin_of(value + 1) - bin_of(value) <= 1, "{value}");
        }
    }
}
