//! When a lane wakes for what is due: so much earlier as it usually comes late, and once for what is due at nearly the
//! same time.

use wire::Time;

/// A wake-up costs as much as several packets, and what is handed over together may be merged. So what is due soon after
/// something else waits: no longer than this part of the time that packets take anyway, …
const PART: i64 = 50;
/// … no longer than this, and this long even where packets take no time. What comes alone does not wait.
const TOGETHER_NS: std::ops::RangeInclusive<i64> = 100_000..=500_000;
/// No machine of use comes later than this as a rule.
const MOST_LEAD_NS: i64 = 150_000;
/// By how much one wake-up changes what is taken for usual: the median, whatever the rare ones are.
const STEP_NS: i64 = 1_000;

/// Sets the times at which a lane wakes, and says what time it then takes it to be.
#[derive(Debug)]
pub(crate) struct Pace {
    together_ns: i64,
    /// How late wake-ups usually come.
    lead_ns: i64,
    /// When what was due was last waited for and handed over.
    handed: Time,
    due: Time,
    at: Time,
    /// Nothing was handed over shortly before.
    is_alone: bool,
}

impl Pace {
    pub fn new() -> Pace {
        Pace {
            together_ns: *TOGETHER_NS.start(),
            lead_ns: 0,
            handed: Time::default(),
            due: Time::MAX,
            at: Time::MAX,
            is_alone: true,
        }
    }

    /// Packets take at least so long.
    pub fn fit(&mut self, shortest_ns: i64) {
        self.together_ns = (shortest_ns / PART).clamp(*TOGETHER_NS.start(), *TOGETHER_NS.end());
    }

    /// When to wake for what is due.
    pub fn aim(&mut self, due: Time) -> Time {
        let (at, soonest) = (due + -self.lead_ns, self.handed + self.together_ns);
        (self.due, self.at, self.is_alone) = (due, at.max(soonest), at >= soonest);
        self.at
    }

    /// The time after a wait: that of the clock, or when it was due where the thread was awake a little before. `timed`
    /// says that nothing else ended the wait.
    pub fn arrive(&mut self, clock: Time, timed: bool) -> Time {
        if clock < self.at {
            return clock;
        }
        if timed && self.is_alone {
            let change = (clock - self.due).clamp(-STEP_NS, STEP_NS);
            self.lead_ns = (self.lead_ns + change).clamp(0, MOST_LEAD_NS);
        }
        self.handed = clock;
        clock.max(self.due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: i64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn what_comes_alone_is_handed_over_in_its_time() {
        let mut pace = Pace::new();
        for at in 1..100 {
            assert_eq!(pace.aim(ms(at)), ms(at));
            assert_eq!(pace.arrive(ms(at), true), ms(at));
        }
    }

    #[test]
    fn what_is_due_soon_after_something_waits_for_a_part_of_the_delay() {
        for (shortest_ns, together_ns) in [(0, 100_000), (10_000_000, 200_000), (1_000_000_000, 500_000)] {
            let mut pace = Pace::new();
            pace.fit(shortest_ns);
            pace.aim(ms(1));
            pace.arrive(ms(1), true);
            assert_eq!(pace.aim(ms(1) + 50_000), ms(1) + together_ns);
            // What came meanwhile is seen at its own time, and changes nothing.
            assert_eq!(pace.arrive(ms(1) + 20_000, false), ms(1) + 20_000);
            assert_eq!(pace.aim(ms(1) + 50_000), ms(1) + together_ns);
        }
    }

    #[test]
    fn a_thread_that_always_comes_late_is_woken_earlier_by_that() {
        const LATE_NS: i64 = 60_000;
        let mut pace = Pace::new();
        for at in 1..100 {
            let woken = pace.aim(ms(at)) + LATE_NS;
            assert!(pace.arrive(woken, true) >= ms(at), "never early in its own time");
        }
        let error_ns = pace.aim(ms(100)) + LATE_NS - ms(100);
        assert!(error_ns.abs() <= STEP_NS, "{error_ns} ns");
    }

    #[test]
    fn never_is_never() {
        let mut pace = Pace::new();
        assert_eq!(pace.aim(Time::MAX), Time::MAX);
        assert_eq!(pace.arrive(ms(1), false), ms(1));
        assert_eq!(pace.aim(Time::MAX), Time::MAX);
    }
}
