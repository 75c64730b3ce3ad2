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
    #[inline]
    fn add(self, nanos: i64) -> Time {
        self.0.checked_add(nanos).map_or_else(|| beyond(self, nanos), Time)
    }
}

/// Nanoseconds between two times, saturating.
impl Sub for Time {
    type Output = i64;
    #[inline]
    fn sub(self, earlier: Time) -> i64 {
        self.0.checked_sub(earlier.0).unwrap_or_else(|| apart(self, earlier))
    }
}

// Apart, as both are seldom: a branch to them takes less than `saturating_add` and `saturating_sub`, which reckon all outcomes.

#[cold]
#[inline(never)]
fn beyond(time: Time, nanos: i64) -> Time {
    Time(time.0.saturating_add(nanos))
}

#[cold]
#[inline(never)]
fn apart(time: Time, earlier: Time) -> i64 {
    time.0.saturating_sub(earlier.0)
}
