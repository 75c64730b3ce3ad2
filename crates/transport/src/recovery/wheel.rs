//! Linux's timer wheel (kernel/time/timer.c, since 4.8): timers are never early, and the longer they run the later they may
//! be, by a step of their level at most: 8/63 of their time, and two ticks.

use wire::Time;

/// A jiffy, with CONFIG_HZ=250 as most distributions have it.
const TICK_NS: i64 = 4_000_000;
/// LVL_CLK_SHIFT: a level counts in steps eight times those of the one below it.
const STEP_BITS: u32 = 3;
/// LVL_SIZE - 1: so many steps of a level are left to the level above.
const STEPS: i64 = 63;

/// When a host's timers end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticks {
    /// How long it ran before time 0, which says when its clock ticks.
    booted_ns: i64,
    /// They end at ticks; otherwise when they are to.
    wheel: bool,
}

impl Ticks {
    /// Of a host that ran for `booted_ns` before time 0, whose timers may be exact.
    pub fn new(booted_ns: i64, wheel: bool) -> Ticks {
        Ticks { booted_ns, wheel }
    }

    /// When a timer ends that runs for `wait_ns`.
    #[inline]
    pub fn after(self, now: Time, wait_ns: i64) -> Time {
        self.ends(now, wait_ns).0
    }

    /// The same, and when it was to end, in ticks: what the kernel knows of a timer that runs (timer_list.expires).
    #[inline]
    pub fn ends(self, now: Time, wait_ns: i64) -> (Time, Time) {
        if !self.wheel {
            return (now + wait_ns, now + wait_ns);
        }
        let wait = ticks(wait_ns);
        let asked = self.tick(now) + wait;
        (self.time(expiry(asked, wait)), self.time(asked))
    }

    /// The time from one instant to another, by the host's clock of ticks (jiffies).
    #[inline]
    pub fn between(self, from: Time, to: Time) -> i64 {
        if self.wheel { (self.tick(to) - self.tick(from)) * TICK_NS } else { to - from }
    }

    /// What whole ticks there are in it.
    #[inline]
    pub fn whole_ns(self, ns: i64) -> i64 {
        if self.wheel { ns - ns % TICK_NS } else { ns }
    }

    #[inline]
    fn tick(self, at: Time) -> i64 {
        (at + self.booted_ns).as_nanos() / TICK_NS
    }

    #[inline]
    fn time(self, ticks: i64) -> Time {
        Time::from_nanos(ticks * TICK_NS - self.booted_ns)
    }
}

/// The time in whole ticks.
pub fn ticks_ns(wait_ns: i64) -> i64 {
    ticks(wait_ns) * TICK_NS
}

/// usecs_to_jiffies
fn ticks(wait_ns: i64) -> i64 {
    (wait_ns.max(0) as u64).div_ceil(TICK_NS as u64) as i64
}

/// The tick at which a timer ends that is to run for `wait` of them and to end at `asked` (calc_wheel_index).
fn expiry(asked: i64, wait: i64) -> i64 {
    let mut shift = 0;
    while wait >= STEPS << shift {
        shift += STEP_BITS;
    }
    ((asked >> shift) + 1) << shift
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Between time-outs of Linux 6.18 on a path that was dead, the first of 66 ticks: 544, 1088, 2144 and 4352 ms. What
    /// follows from a step of 64 ticks, where the third ended, is where the first began.
    #[test]
    fn as_late_as_linux() {
        let mut now = Time::from_nanos((64 * 30 + 16) * TICK_NS);
        for (wait_ticks, between_ms) in [(132, 544), (264, 1088), (528, 2144), (1056, 4352)] {
            let end = Ticks::new(0, true).after(now, wait_ticks * TICK_NS);
            assert_eq!((end - now) / 1_000_000, between_ms);
            now = end;
        }
    }

    proptest! {
        #[test]
        fn never_early_nor_later_than_a_step_of_its_level(now in 0..1i64 << 50, wait in 0..1i64 << 40) {
            let now = Time::from_nanos(now);
            let late = (Ticks::new(0, true).after(now, wait) - now) - wait;
            prop_assert!(late >= 0);
            prop_assert!(late <= ticks_ns(wait) / STEPS * 8 + 2 * TICK_NS, "{}", late);
        }
    }
}
