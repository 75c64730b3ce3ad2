//! Random numbers that are the same on every machine: nothing here uses the platform's floating-point library.

use rand_core::Rng;
use rand_pcg::Pcg64;
use sha2::{Digest, Sha256};
use wire::Time;

/// The stream of random numbers of one element, or of whatever else has a name.
#[derive(Clone, Debug)]
pub struct Stream(Pcg64);

impl Stream {
    /// The stream of the element with this full name in a run with this seed.
    pub fn new(seed: u64, name: &str) -> Stream {
        let digest = Sha256::new().chain_update(seed.to_le_bytes()).chain_update(name).finalize();
        let half = |from: usize| u128::from_le_bytes(digest[from..from + 16].try_into().expect("16 bytes"));
        Stream(Pcg64::new(half(0), half(16)))
    }

    /// Any 64 bits.
    #[inline]
    pub fn word(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in [0, 1), in steps of 2⁻⁵³.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        uniform(self.word())
    }

    /// Uniform in whole numbers below `n`, which is not 0 and at most 2³².
    pub fn below(&mut self, n: u64) -> u64 {
        ((self.0.next_u64() >> 32) * n) >> 32
    }

    /// True with this probability.
    #[inline]
    pub fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// Normal with mean 0 and variance 1 (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * libm::log(1.0 - self.uniform())).sqrt();
        radius * libm::cos(std::f64::consts::TAU * self.uniform())
    }

    /// Exponential with this mean in nanoseconds, at least 1.
    pub fn exponential(&mut self, mean_ns: i64) -> i64 {
        ((-libm::log(1.0 - self.uniform()) * mean_ns as f64) as i64).max(1)
    }
}

/// The number in [0, 1) that 64 random bits are, in steps of 2⁻⁵³.
fn uniform(word: u64) -> f64 {
    (word >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// As good as random for every `word`: the finaliser of SplitMix64 (Steele, Lea and Flood, "Fast splittable
/// pseudorandom number generators", 2014), which is a bijection.
#[inline]
pub(crate) fn mixed(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// Random numbers of the slots of a grid in time, each there whichever others are asked for.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    seed: u64,
    start: Time,
    step: i64,
}

impl Grid {
    pub fn new(seed: u64, start: Time, step_ns: i64) -> Grid {
        Grid { seed, start, step: step_ns }
    }

    /// The slot that holds a time.
    pub fn slot(&self, at: Time) -> i64 {
        (at - self.start).div_euclid(self.step)
    }

    /// The first slot that does not begin before a time.
    pub fn next(&self, at: Time) -> i64 {
        -(self.start - at).div_euclid(self.step)
    }

    /// When a slot begins.
    pub fn time(&self, slot: i64) -> Time {
        self.start + slot * self.step
    }

    /// A number in [0, 1) of a slot for one purpose, in steps of 2⁻⁵³.
    pub fn uniform(&self, slot: i64, purpose: u64) -> f64 {
        uniform(mixed(mixed(self.seed.wrapping_add(purpose)) ^ slot as u64))
    }
}

/// A stationary normal process with mean 0 and variance 1 whose correlation falls as exp(−t/`correlation`), sampled
/// on a grid in time: X₀ = N₀ and Xₖ₊₁ = a·Xₖ + √(1−a²)·Nₖ₊₁ with a = exp(−`step`/`correlation`), which is the
/// Ornstein–Uhlenbeck process seen at the grid's points, exactly.
#[derive(Clone, Debug)]
pub(crate) struct Normal {
    stream: Stream,
    keep: f64,
    fresh: f64,
    value: f64,
}

impl Normal {
    /// A correlation time of 0 makes the samples independent.
    pub fn new(mut stream: Stream, step_ns: i64, correlation_ns: i64) -> Normal {
        let keep = if correlation_ns > 0 { libm::exp(-(step_ns as f64) / correlation_ns as f64) } else { 0.0 };
        let value = stream.normal();
        Normal { stream, keep, fresh: (1.0 - keep * keep).sqrt(), value }
    }

    /// The present sample.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Goes on to the next sample.
    pub fn step(&mut self) {
        self.value = self.keep * self.value + self.fresh * self.stream.normal();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_what_they_were() {
        let mut stream = Stream::new(1, "link/home/uplink/0");
        let first: Vec<_> = (0..3).map(|_| (stream.uniform() * 1e6) as u64).collect();
        assert_eq!(first, FIRST);
        assert_eq!((stream.normal() * 1e6) as i64, NORMAL);
    }

    const FIRST: [u64; 3] = [206_939, 286_400, 675_559];
    const NORMAL: i64 = 182_095;

    #[test]
    fn names_and_seeds_part_streams() {
        let first = |seed, name| Stream::new(seed, name).uniform();
        assert_ne!(first(1, "a"), first(1, "b"));
        assert_ne!(first(1, "a"), first(2, "a"));
    }

    #[test]
    fn moments() {
        let mut stream = Stream::new(7, "moments");
        let n = 200_000;
        let normals: Vec<f64> = (0..n).map(|_| stream.normal()).collect();
        let mean = normals.iter().sum::<f64>() / f64::from(n);
        let variance = normals.iter().map(|x| x * x).sum::<f64>() / f64::from(n);
        assert!(mean.abs() < 0.01 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
        let exponential = (0..n).map(|_| stream.exponential(1_000_000) as f64).sum::<f64>() / f64::from(n);
        assert!((exponential / 1e6 - 1.0).abs() < 0.01, "{exponential}");
    }
}
