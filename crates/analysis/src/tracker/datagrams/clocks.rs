//! How long datagrams took from end to end. Their clocks' offset is known once some have gone each way; those before wait.

use crate::histogram::Histogram;
use crate::metrics::PerFlow;
use crate::tracker::one_way::ClockOffset;
use tables::Direction;
use wire::Time;

/// Between the clocks of two ends.
pub(super) struct Clocks {
    pub(super) offset: Option<ClockOffset>,
    flows: PerFlow<Flow>,
    paths: usize,
    early: usize,
    /// A datagram seemed to arrive before it left.
    pub(super) contradicted: bool,
}

#[derive(Default)]
struct Flow {
    /// Times at end 1 less those at end 0.
    early: Vec<i64>,
    delays: Histogram,
    /// Whether end 1 is where they arrive.
    towards_1: Option<bool>,
}

/// So many that crossed are looked at before the offset is estimated, if some went each way.
const ENOUGH: usize = 64;
/// So many wait at most.
const MOST_EARLY: usize = 1 << 16;

impl Clocks {
    pub(super) fn new(one_clock: bool) -> Clocks {
        let offset = one_clock.then_some(ClockOffset::NONE);
        Clocks { offset, flows: PerFlow::default(), paths: 0, early: 0, contradicted: false }
    }

    /// A datagram passed both ends: end 1 at this time after end 0.
    pub(super) fn crossed(&mut self, (path, direction): (usize, Direction), apart_nanos: i64) {
        self.paths = self.paths.max(path + 1);
        let flow = self.flows.at(path, direction);
        match self.offset {
            Some(offset) => self.contradicted |= flow.add(apart_nanos, offset),
            None if self.early < MOST_EARLY => {
                flow.early.push(apart_nanos);
                self.early += 1;
                if self.early.is_power_of_two() && self.early >= ENOUGH {
                    self.estimate();
                }
            }
            None => {}
        }
    }

    /// Estimates the offset from the datagrams that took the least time each way, as NTP does (RFC 5905 §8), and puts an end
    /// to waiting.
    pub(super) fn estimate(&mut self) {
        let range = |flow: &Flow| Some((*flow.early.iter().min()?, *flow.early.iter().max()?));
        let offsets = self.flows.iter().filter_map(|[up, down]| {
            let (up, down) = (range(up)?, range(down)?);
            // Whatever the offset, those that go from end 0 to end 1 have the larger differences.
            let (there, back) =
                if up.0.saturating_add(up.1) > down.0.saturating_add(down.1) { (up, down) } else { (down, up) };
            Some(ClockOffset::of(
                [Time::default(), Time::default() + there.0],
                [Time::default(), Time::default() + back.1],
            ))
        });
        let Some(offset) = self.offset.or(offsets.min_by_key(|offset| offset.error_nanos)) else { return };
        self.offset = Some(offset);
        for (path, direction) in (0..self.paths).flat_map(|path| Direction::BOTH.map(|direction| (path, direction))) {
            let flow = self.flows.at(path, direction);
            for apart in std::mem::take(&mut flow.early) {
                self.contradicted |= flow.add(apart, offset);
            }
        }
    }

    /// Whether what goes in a direction goes from end 0 to end 1, where that is known.
    pub(super) fn towards_1(&mut self, direction: Direction) -> Option<bool> {
        (0..self.paths).find_map(|path| {
            let there = self.flows.at(path, direction).towards_1;
            there.or_else(|| self.flows.at(path, direction.reverse()).towards_1.map(|towards| !towards))
        })
    }

    pub(super) fn delays(&mut self, path: usize, direction: Direction) -> &Histogram {
        &self.flows.at(path, direction).delays
    }
}

impl Flow {
    /// Adds a delay; true if it contradicts the others.
    fn add(&mut self, apart_nanos: i64, offset: ClockOffset) -> bool {
        let delay = apart_nanos.saturating_sub(offset.nanos);
        self.delays.add(delay.unsigned_abs());
        delay != 0 && *self.towards_1.get_or_insert(delay > 0) != (delay > 0)
    }
}
