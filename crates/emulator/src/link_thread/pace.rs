//! When a link thread wakes for what is due: so much earlier as it usually comes late, and once for what is due at
//! nearly the same time.

use wire::Time;

/// A wake-up costs as much as several packets, and what is handed over together may be merged. So where one thing is due
/// soon after another, the link thread coalesces wake-ups, in and out: it pauses for this part of the time that packets take anyway, …
const PART: i64 = 20;
/// … no longer than this, and this long even where packets take no time. What comes alone does not wait.
const PAUSE_NS: std::ops::RangeInclusive<i64> = 100_000..=500_000;
/// No machine of use comes later than this as a rule.
const MOST_LEAD_NS: i64 = 150_000;
/// By how much one wake-up changes what is taken for usual: the median, whatever the rare ones are.
const STEP_NS: i64 = 1_000;

/// Sets the times at which a link thread wakes, and says what time it then takes it to be.
#[derive(Debug)]
pub(crate) struct Pace {
    pause_ns: i64,
    /// How late wake-ups usually come.
    lead_ns: i64,
    /// Up to when what was due is handed over, if that was what the link thread last woke for.
    handed: Option<Time>,
    due: Time,
    at: Time,
    coalescing: bool,
}

impl Pace {
    pub fn new() -> Pace {
        Pace { pause_ns: *PAUSE_NS.start(), lead_ns: 0, handed: None, due: Time::MAX, at: Time::MAX, coalescing: false }
    }

    /// Packets take at least so long.
    pub fn fit(&mut self, shortest_ns: i64) {
        self.pause_ns = (shortest_ns / PART).clamp(*PAUSE_NS.start(), *PAUSE_NS.end());
    }

    /// When to wake for what is due. `may_coalesce` says that nothing waits already.
    pub fn aim(&mut self, due: Time, may_coalesce: bool) -> Time {
        self.due = due;
        let until = self.handed.map(|handed| handed + self.pause_ns / 2);
        let until = until.filter(|until| may_coalesce && due < *until);
        self.coalescing = until.is_some();
        self.at = until.unwrap_or(due + -self.lead_ns);
        self.at
    }

    /// Whether nothing but that time is to be waited for.
    pub fn is_coalescing(&self) -> bool {
        self.coalescing
    }

    /// Up to which time to hand over what is due after a wait. After a coalescing pause that is as far ahead as what is due waited on
    /// average. `timed` says that nothing else ended the wait.
    pub fn arrive(&mut self, clock: Time, timed: bool) -> Time {
        if self.coalescing {
            // In steps of the pause's own length, so that what answers at once has its delay exactly; however late we are.
            let ahead = clock.max(self.at + self.pause_ns / 2);
            self.handed = Some(ahead);
            return ahead;
        }
        if clock < self.at {
            self.handed = None;
            return clock;
        }
        if timed {
            let change = (clock - self.due).clamp(-STEP_NS, STEP_NS);
            self.lead_ns = (self.lead_ns + change).clamp(0, MOST_LEAD_NS);
        }
        // Or when it was due, where the thread was awake a little before.
        let now = clock.max(self.due);
        self.handed = Some(now);
        now
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
            assert_eq!(pace.aim(ms(at), true), ms(at));
            assert!(!pace.is_coalescing());
            assert_eq!(pace.arrive(ms(at), true), ms(at));
        }
    }

    #[test]
    fn what_follows_soon_is_handed_over_in_steps_around_its_time() {
        for (shortest_ns, pause_ns) in [(0, 100_000), (5_000_000, 250_000), (1_000_000_000, 500_000)] {
            let mut pace = Pace::new();
            pace.fit(shortest_ns);
            pace.aim(ms(1), true);
            let mut handed = pace.arrive(ms(1), true);
            for _ in 0..10 {
                let woken = pace.aim(handed + 40_000, true);
                assert!(pace.is_coalescing());
                let next = pace.arrive(woken, true);
                assert_eq!(next - handed, pause_ns, "steps have one length");
                assert_eq!(woken - handed, next - woken, "half of what is handed over was due, half will be");
                handed = next;
            }
            // The next is not soon: it is handed over in its time.
            let due = handed + pause_ns / 2;
            assert_eq!(pace.aim(due, true), due);
            assert!(!pace.is_coalescing());
        }
    }

    #[test]
    fn after_something_came_or_while_something_waits_there_is_no_pause() {
        let mut pace = Pace::new();
        pace.aim(ms(2), true);
        assert_eq!(pace.arrive(ms(1), false), ms(1));
        assert_eq!(pace.aim(ms(1) + 10_000, true), ms(1) + 10_000);
        pace.arrive(ms(1) + 10_000, true);
        pace.aim(ms(1) + 20_000, false);
        assert!(!pace.is_coalescing());
    }

    #[test]
    fn a_pause_that_lasted_too_long_is_made_up_for_at_once() {
        let mut pace = Pace::new();
        pace.aim(ms(1), true);
        pace.arrive(ms(1), true);
        pace.aim(ms(1) + 10_000, true);
        assert_eq!(pace.arrive(ms(9), true), ms(9));
    }

    #[test]
    fn a_thread_that_always_comes_late_is_woken_earlier_by_that() {
        const LATE_NS: i64 = 60_000;
        let mut pace = Pace::new();
        for at in 1..100 {
            let woken = pace.aim(ms(at), true) + LATE_NS;
            assert!(pace.arrive(woken, true) >= ms(at), "never early in its own time");
        }
        let error_ns = pace.aim(ms(100), true) + LATE_NS - ms(100);
        assert!(error_ns.abs() <= STEP_NS, "{error_ns} ns");
    }

    #[test]
    fn never_is_never() {
        let mut pace = Pace::new();
        assert_eq!(pace.aim(Time::MAX, true), Time::MAX);
        assert_eq!(pace.arrive(ms(1), false), ms(1));
        assert_eq!(pace.aim(Time::MAX, true), Time::MAX);
    }
}
