use std::ops::{Add, Sub};

/// A point in time: nanoseconds since the Unix epoch for real runs, since a declared epoch in simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

impl Time {
    /// Later than everything: "never".
    pub const MAX: Time = Time(i64::MAX);

    /// From nanoseconds since the epoch.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the epoch.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }
}

/// Time plus nanoseconds, saturating.
impl Add<i64> for Time {
    type Output = Time;
    fn add(self, nanos: i64) -> Time {
        Time(self.0.saturating_add(nanos))
    }
}

/// Nanoseconds between two times, saturating.
impl Sub for Time {
    type Output = i64;
    fn sub(self, earlier: Time) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}
