//! What a subflow sent again.

use crate::event::Data;
use wire::Time;

/// Losses further apart than a round trip are of different bursts; of this time where no round trip was measured.
const UNKNOWN_RTT_US: u32 = 100_000;

/// A queue whose emptying takes no longer, nor longer than this part of the round trip, shows in none.
const ALONE_US: u32 = 3000;
const ALONE_PART: u32 = 20;

/// What a loss leaves in flight shows in the round trips from the second to the fourth after it.
const LEFT_FROM: i64 = 2;
const LEFT_UNTIL: i64 = 4;

/// Segments are next to each other with so many others between them, and fewer.
const BETWEEN: i64 = 4;

/// What was sent again on a subflow, but for what was in flight when the path brought nothing.
#[derive(Clone, Debug)]
pub(crate) struct Losses {
    pub(crate) count: u64,
    /// Of segments within a round trip of each other.
    pub(crate) bursts: u64,
    /// Of segments next to each other, but for a few that came.
    pub(crate) runs: u64,
    /// Whole seconds that had some.
    pub(crate) seconds: u64,
    pub(crate) first: Time,
    pub(crate) last: Time,
    /// Where the last one ends in the subflow.
    end: i64,
    /// The round-trip times measured last before each, by parts of octaves of microseconds.
    rtts: [u32; RTTS],
    /// How long after the segment before them those had left that left after a pause.
    pauses: [u32; RTTS],
    /// The burst whose trace is looked for, and what was in flight at those before it and, on average, after them, bytes in all.
    traced: Traced,
    before_bytes: u64,
    after_bytes: u64,
}

/// What was in flight when a burst of losses was repaired, and from when until when what it left is looked for.
#[derive(Clone, Copy, Debug)]
struct Traced {
    before_bytes: u32,
    seen: u32,
    sum_bytes: u64,
    from: Time,
    until: Time,
}

const PARTS: u32 = 32;
const RTTS: usize = PARTS as usize * 32;

impl Losses {
    pub(super) fn new(first: Time) -> Box<Losses> {
        Box::new(Losses {
            count: 0,
            bursts: 0,
            runs: 0,
            seconds: 0,
            first,
            last: first,
            end: 0,
            rtts: [0; RTTS],
            pauses: [0; RTTS],
            traced: Traced { before_bytes: 0, seen: 0, sum_bytes: 0, from: first, until: first },
            before_bytes: 0,
            after_bytes: 0,
        })
    }

    pub(super) fn add(&mut self, at: Time, data: &Data, rtt_us: u32, in_flight_bytes: u32, start: Time) {
        let second = |time: Time| (time - start) / 1_000_000_000;
        let round_trip = i64::from(if rtt_us == 0 { UNKNOWN_RTT_US } else { rtt_us }) * 1000;
        self.seconds += u64::from(self.count == 0 || second(at) != second(self.last));
        let is_burst = self.count == 0 || at - self.last > round_trip;
        self.bursts += u64::from(is_burst);
        if is_burst && at >= self.traced.until {
            let [from, until] = [LEFT_FROM, LEFT_UNTIL].map(|count| at + count * round_trip);
            self.traced = Traced { before_bytes: in_flight_bytes, seen: 0, sum_bytes: 0, from, until };
        }
        let bytes = i64::from(data.bytes);
        let is_next = (0..BETWEEN * bytes).contains(&(data.offset - self.end));
        self.runs += u64::from(self.count == 0 || !is_next);
        self.count += 1;
        (self.last, self.end) = (at, data.offset + bytes);
        self.rtts[part(rtt_us)] += 1;
        let pause_us = (data.apart_nanos / 1000).min(u32::MAX.into()) as u32;
        self.pauses[part(pause_us)] += u32::from(pause_us > ALONE_US.max(rtt_us / ALONE_PART));
    }

    /// So much is in flight.
    #[inline(always)]
    pub(super) fn left(&mut self, at: Time, bytes: u32) {
        if at >= self.traced.from && self.traced.before_bytes > 0 {
            self.trace(at, bytes);
        }
    }

    fn trace(&mut self, at: Time, bytes: u32) {
        self.traced.seen += 1;
        self.traced.sum_bytes += u64::from(bytes);
        if at >= self.traced.until {
            self.before_bytes += u64::from(std::mem::take(&mut self.traced.before_bytes));
            self.after_bytes += self.traced.sum_bytes / u64::from(self.traced.seen);
        }
    }

    /// What part of what was in flight at losses was in flight on average in the round trips after their repair.
    pub(crate) fn left_after(&self) -> f64 {
        if self.before_bytes > 0 { self.after_bytes as f64 / self.before_bytes as f64 } else { 0.0 }
    }

    /// How many had left so long after the segment before them, and longer, that a queue which holds that one for this time at most
    /// was empty.
    pub(crate) fn alone(&self, holds_us: f64) -> u64 {
        self.pauses[part(holds_us as u32)..].iter().map(|&count| u64::from(count)).sum()
    }

    /// The round-trip time, microseconds, that this part of them had at most.
    pub(crate) fn quantile(&self, part: f64) -> f64 {
        let rank = (part * self.count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        let reached = |&count: &u32| {
            seen += u64::from(count);
            seen >= rank
        };
        self.rtts.iter().position(reached).map_or(0.0, middle)
    }

    /// How many there were at a round-trip time as long as this and longer.
    pub(crate) fn above(&self, rtt_us: f64) -> u64 {
        self.rtts[part(rtt_us as u32)..].iter().map(|&count| u64::from(count)).sum()
    }
}

/// The part of an octave that a time lies in.
fn part(us: u32) -> usize {
    let us = us.max(PARTS);
    let octave = us.ilog2();
    (octave * PARTS + ((us >> (octave - PARTS.ilog2())) & (PARTS - 1))) as usize
}

/// The time, microseconds, in the middle of a part of an octave.
fn middle(part: usize) -> f64 {
    let (octave, within) = (part as u32 / PARTS, part as u32 % PARTS);
    f64::from(octave).exp2() * (1.0 + (f64::from(within) + 0.5) / f64::from(PARTS))
}
