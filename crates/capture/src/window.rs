use std::ops::Range;

use wire::{Observation, Point, Time};

use crate::{FileStatistics, order};

/// Observations held at first.
const INITIAL: usize = 1024;

/// How far a capture is read ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Horizon {
    /// A packet that stands behind others is put right when it is older than them by no more than this.
    reordered_ns: i64,
    /// Observations held at most when so many fall into that time: half of them are given then.
    most: usize,
}

/// One interface's packets stand nearly in order.
const ONE_INTERFACE: Horizon = Horizon { reordered_ns: 10_000_000, most: 32 * 1024 };

/// Where a capture has several interfaces, dumpcap writes what they hold in turns, block by block: some 200 ms of one,
/// then the same 200 ms of the next.
const SEVERAL_INTERFACES: Horizon = Horizon { reordered_ns: 2_000_000_000, most: 64 * 1024 };

/// Observations of one capture on their way into time order.
///
/// `..next` were given, `next..ready` are in order and may be given, `ready..` wait for what may have to go before them.
pub(crate) struct Window {
    observations: Vec<Observation>,
    horizon: Horizon,
    capacity: usize,
    next: usize,
    ready: usize,
    /// What stands before will not be mixed with what comes.
    barrier: usize,
    /// The newest since the barrier.
    newest: Time,
    /// The newest before the barrier.
    newest_before: Time,
    /// Time of the last given before the present ones.
    given: Time,
    /// Where observations must be sorted; outside of these they stand in strict order of time.
    disorders: Vec<Disorder>,
}

struct Disorder {
    range: Range<usize>,
    newest: Time,
}

impl Window {
    pub fn new() -> Window {
        let never = Time::from_nanos(i64::MIN);
        Window {
            observations: Vec::new(),
            horizon: ONE_INTERFACE,
            capacity: INITIAL,
            next: 0,
            ready: 0,
            barrier: 0,
            newest: never,
            newest_before: never,
            given: never,
            disorders: Vec::new(),
        }
    }

    /// The next in order, if it is known.
    #[inline]
    pub fn first(&self) -> Option<&Observation> {
        self.observations[..self.ready].get(self.next)
    }

    /// Gives the next in order, which must be known.
    #[inline]
    pub fn take(&mut self) -> &Observation {
        self.next += 1;
        &self.observations[..self.ready][self.next - 1]
    }

    /// Forgets what was given, to have room for more.
    pub fn recycle(&mut self) {
        if let Some(last) = self.observations[..self.ready].last() {
            self.given = last.at;
        }
        self.observations.drain(..self.ready);
        self.observations.reserve_exact(self.capacity - self.observations.len());
        (self.next, self.ready, self.barrier) = (0, 0, 0);
    }

    #[inline]
    pub fn is_full(&self) -> bool {
        self.observations.len() >= self.capacity
    }

    /// Takes the next of a capture that has so many interfaces.
    #[inline]
    pub fn push(&mut self, observation: Observation, interfaces: usize, statistics: &mut FileStatistics) {
        let at = observation.at;
        self.observations.push(observation);
        if at > self.newest {
            self.newest = at;
            if at < self.newest_before {
                self.count_late(at, statistics);
            }
        } else {
            self.look_ahead(interfaces);
            self.note_disorder(at, statistics);
        }
    }

    /// The last one pushed.
    pub fn last_mut(&mut self) -> Option<&mut Observation> {
        self.observations.last_mut()
    }

    /// Reads on as far as so many interfaces ask for.
    pub fn look_ahead(&mut self, interfaces: usize) {
        if interfaces > 1 {
            self.horizon = SEVERAL_INTERFACES;
        }
    }

    /// Counts the last one pushed, if it is older than one before it.
    #[cold]
    fn count_late(&self, at: Time, statistics: &mut FileStatistics) {
        let late = self.newest.max(self.newest_before) - at;
        if late > 0 {
            statistics.out_of_order += 1;
            statistics.out_of_order_most_ns = statistics.out_of_order_most_ns.max(late as u64);
            let is_lost = self.newest - at > self.horizon.reordered_ns || at < self.newest_before || at < self.given;
            statistics.not_reordered += u64::from(is_lost);
        }
    }

    /// The last one pushed is not newer than all before: finds those with which it must be sorted.
    fn note_disorder(&mut self, at: Time, statistics: &mut FileStatistics) {
        let last = self.observations.len() - 1;
        self.count_late(at, statistics);
        if self.newest - at > self.horizon.reordered_ns {
            self.newest_before = self.newest_before.max(self.newest);
            (self.barrier, self.newest) = (last, at);
            return;
        }
        let mut start = last;
        while start > self.barrier {
            match self.disorders.last() {
                Some(Disorder { range, newest }) if range.end == start => {
                    if *newest < at {
                        break;
                    }
                    start = range.start;
                    self.disorders.pop();
                }
                _ if self.observations[start - 1].at < at => break,
                _ => start -= 1,
            }
        }
        self.disorders.push(Disorder { range: start..last + 1, newest: self.newest });
    }

    /// Puts in order what is there, and finds how much of it may be given: what can have no earlier one behind it.
    pub fn settle(&mut self, points: &[Point], at_end: bool) {
        for Disorder { range, .. } in self.disorders.drain(..) {
            order::sort(&mut self.observations[range], points);
        }
        let length = self.observations.len();
        if at_end {
            self.ready = length;
            return;
        }
        let waiting = self.newest + -self.horizon.reordered_ns;
        self.ready = self.barrier + self.observations[self.barrier..].partition_point(|one| one.at < waiting);
        if self.ready < length / 2 {
            if self.capacity < self.horizon.most {
                self.capacity *= 2;
            } else {
                self.ready = length / 2;
            }
        }
    }
}
