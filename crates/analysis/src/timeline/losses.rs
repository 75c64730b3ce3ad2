//! What a subflow sent again.

use crate::event::Data;
use wire::Time;

/// Losses further apart than a round trip are of different bursts; of this time where no round trip was measured.
const UNKNOWN_RTT_US: u32 = 100_000;

/// A queue whose emptying takes no longer, nor longer than this part of the round trip, shows in none.
const ALONE_US: u32 = 3000;
const ALONE_PART: u32 = 20;

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
        })
    }

    pub(super) fn add(&mut self, at: Time, data: &Data, rtt_us: u32, start: Time) {
        let second = |time: Time| (time - start) / 1_000_000_000;
        let round_trip = i64::from(if rtt_us == 0 { UNKNOWN_RTT_US } else { rtt_us }) * 1000;
        self.seconds += u64::from(self.count == 0 || second(at) != second(self.last));
        self.bursts += u64::from(self.count == 0 || at - self.last > round_trip);
        let bytes = i64::from(data.bytes);
        let is_next = (0..BETWEEN * bytes).contains(&(data.offset - self.end));
        self.runs += u64::from(self.count == 0 || !is_next);
        self.count += 1;
        (self.last, self.end) = (at, data.offset + bytes);
        self.rtts[part(rtt_us)] += 1;
        let pause_us = (data.apart_nanos / 1000).min(u32::MAX.into()) as u32;
        self.pauses[part(pause_us)] += u32::from(pause_us > ALONE_US.max(rtt_us / ALONE_PART));
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
