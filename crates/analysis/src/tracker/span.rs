//! When a capture was taken, and how finely its clock tells.

use wire::Time;

/// When a capture begins and ends: its first packet, of whatever connection, and its last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) first: Time,
    pub(super) last: Time,
    /// All times are whole steps from the first: 0, where none differs; 1, once they are known to be fine.
    step_nanos: u64,
    /// So often the time went on.
    steps: u32,
}

/// A clock with steps below this is fine.
const COARSE_NANOS: u64 = 1_000_000;
/// So many times are no multiples of a step by chance.
const ENOUGH_STEPS: u32 = 24;

impl Span {
    pub(super) fn new(at: Time) -> Self {
        Span { first: at, last: at, step_nanos: 0, steps: 0 }
    }

    #[inline]
    pub(super) fn add(&mut self, at: Time) {
        if self.step_nanos != 1 && at != self.last {
            self.add_step(at);
        }
        self.last = at;
    }

    #[cold]
    fn add_step(&mut self, at: Time) {
        let (mut a, mut b) = (self.step_nanos, (at - self.last).unsigned_abs());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        self.step_nanos = if a < COARSE_NANOS { 1 } else { a };
        self.steps = self.steps.saturating_add(1);
    }

    /// The clock's step, where it is coarse for certain.
    pub(super) fn coarse_nanos(&self) -> Option<u64> {
        (self.step_nanos >= COARSE_NANOS && self.steps >= ENOUGH_STEPS).then_some(self.step_nanos)
    }
}
