//! One-way delay, where both ends were captured: the same segment, leaving here and arriving there.

use super::PerFlow;
use crate::histogram::Histogram;
use crate::report::Report;
use std::collections::VecDeque;
use tables::{Diagnostic, Direction};
use wire::Time;

/// Not fed by flow events of one end, as the other metrics are, but by segments of both.
#[derive(Debug, Default)]
pub(crate) struct OneWay {
    flows: PerFlow<Flow>,
    offset: Option<ClockOffset>,
    /// A segment seemed to arrive before it left.
    contradicted: bool,
}

/// How far the clock of end 1 is ahead of that of end 0: as in NTP (RFC 5905 §8), from a packet each way, taking both
/// ways to be equally long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockOffset {
    pub(crate) nanos: i64,
    /// The error is at most this: half the round-trip time.
    pub(crate) error_nanos: i64,
}

#[derive(Debug, Default)]
struct Flow {
    /// Segments seen at each end and not yet at the other: position and time.
    waiting: [VecDeque<(i64, Time)>; 2],
    /// Delays of late that a retransmission may still call in question: position and nanoseconds.
    recent: VecDeque<(i64, u64)>,
    delays: Histogram,
    /// Whether end 1 is where the segments arrive.
    towards_1: Option<bool>,
}

/// Segments waiting beyond this are given up, oldest first.
const MOST_WAITING: usize = 1 << 16;
/// So many segments later nobody sends one again.
const MOST_RECENT: usize = 1 << 12;

impl ClockOffset {
    /// Of ends that share a clock.
    const NONE: ClockOffset = ClockOffset { nanos: 0, error_nanos: 0 };

    /// From the times at both ends of a packet each way.
    pub(crate) fn of(there: [Time; 2], back: [Time; 2]) -> Self {
        let (there, back) = (there[1] - there[0], back[1] - back[0]);
        ClockOffset {
            nanos: there.midpoint(back),
            error_nanos: (there.abs_diff(back) / 2).try_into().unwrap_or(i64::MAX),
        }
    }
}

impl OneWay {
    pub(crate) fn new(one_clock: bool) -> OneWay {
        OneWay { offset: one_clock.then_some(ClockOffset::NONE), ..OneWay::default() }
    }

    /// A segment that begins at `position` passed an end for the first time.
    pub(crate) fn passed(
        &mut self,
        (subflow, direction): (usize, Direction),
        end: usize,
        (position, at): (i64, Time),
        offset: impl FnOnce() -> Option<ClockOffset>,
    ) {
        let flow = self.flows.at(subflow, direction);
        let there = &mut flow.waiting[1 - end];
        while there.front().is_some_and(|(other, _)| *other < position) {
            there.pop_front();
        }
        match there.front() {
            Some(&(other, other_at)) if other == position => {
                there.pop_front();
                if self.offset.is_none() {
                    self.offset = offset();
                }
                let Some(offset) = self.offset else { return };
                let ahead = if end == 1 { at - other_at } else { other_at - at };
                let delay = ahead.saturating_sub(offset.nanos);
                if delay != 0 {
                    self.contradicted |= *flow.towards_1.get_or_insert(delay > 0) != (delay > 0);
                }
                flow.recent.push_back((position, delay.unsigned_abs()));
                if flow.recent.len() > MOST_RECENT
                    && let Some((_, nanos)) = flow.recent.pop_front()
                {
                    flow.delays.add(nanos);
                }
            }
            _ => {
                let here = &mut flow.waiting[end];
                if here.back().is_none_or(|(last, _)| *last < position) {
                    here.push_back((position, at));
                }
                if here.len() > MOST_WAITING {
                    here.pop_front();
                }
            }
        }
    }

    /// `[start, end)` passed an end again: which of the times arrived is not known, as in Karn's rule.
    pub(crate) fn passed_again(&mut self, (subflow, direction): (usize, Direction), (start, end): (i64, i64)) {
        let flow = self.flows.at(subflow, direction);
        flow.waiting.iter_mut().for_each(|queue| forget(queue, start, end));
        forget(&mut flow.recent, start, end);
    }

    /// Fills the rows; `client` is the client's end.
    pub(crate) fn finish(&mut self, client: usize, report: &mut Report) {
        for (subflow, rows) in report.flows.iter_mut().enumerate() {
            for direction in Direction::BOTH {
                let flow = self.flows.at(subflow, direction);
                flow.recent.drain(..).for_each(|(_, nanos)| flow.delays.add(nanos));
                let delays = &flow.delays;
                let row = &mut rows[direction as usize];
                if !self.contradicted {
                    row.one_way_delay_ms_median = delays.quantile_ms(0.5);
                    row.one_way_delay_ms_p95 = delays.quantile_ms(0.95);
                }
                let [arrived, sent] = report.data_packets[subflow][direction as usize];
                row.lost_packets = (row.merged_segments == 0).then(|| sent.saturating_sub(arrived));
            }
        }
        if self.contradicted {
            let message = "with one clock offset packets would arrive before they left: a clock drifts or was set; one-way delays are left out";
            report.diagnostics.push(Diagnostic {
                diagnostic: "clock_drift",
                message: message.into(),
                ..Diagnostic::default()
            });
        } else if let Some(ClockOffset { nanos, error_nanos }) =
            self.offset.filter(|offset| *offset != ClockOffset::NONE)
        {
            let ahead = if client == 0 { nanos } else { nanos.saturating_neg() };
            let message = format!(
                "the server's clock is {:.3} ms {} the client's, at most {:.3} ms more or less; one-way delays are corrected by it",
                ahead.unsigned_abs() as f64 / 1e6,
                if ahead < 0 { "behind" } else { "ahead of" },
                error_nanos as f64 / 1e6
            );
            report.diagnostics.push(Diagnostic {
                diagnostic: "clock_offset",
                message: message.into(),
                ..Diagnostic::default()
            });
        }
    }
}

/// Takes what begins in `[start, end)` out of a queue ordered by position.
fn forget<T>(queue: &mut VecDeque<(i64, T)>, start: i64, end: i64) {
    let first = queue.partition_point(|(position, _)| *position < start);
    let last = queue.partition_point(|(position, _)| *position < end);
    queue.drain(first..last);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn t(nanos: i64) -> Time {
        Time::from_nanos(nanos)
    }

    /// End 1's clock is 1000 ahead; a packet takes 30 there and 10 back: the estimate errs by 10, within 20.
    #[test]
    fn the_offset_errs_by_half_the_asymmetry() {
        let offset = ClockOffset::of([t(0), t(1030)], [t(50), t(1040)]);
        assert_eq!(offset, ClockOffset { nanos: 1010, error_nanos: 20 });
    }

    #[test]
    fn ends_with_one_clock_need_no_estimate() {
        let mut one_way = OneWay::new(true);
        let never = || unreachable!("nothing is to be estimated");
        one_way.passed((0, Direction::Up), 0, (0, t(5)), never);
        one_way.passed((0, Direction::Up), 1, (0, t(12)), never);
        assert_eq!(one_way.flows.at(0, Direction::Up).recent, [(0, 7)]);
        assert_eq!(one_way.offset, Some(ClockOffset::NONE));
    }

    /// Delays of 10 and then, end 1's clock having been set back by 25, of −15.
    #[test]
    fn a_clock_that_was_set_gives_itself_away() {
        let mut one_way = OneWay::default();
        let offset = || Some(ClockOffset { nanos: 0, error_nanos: 10 });
        let flow = (0, Direction::Down);
        for (position, left, arrived) in [(0, 0, 10), (10, 100, 110), (20, 200, 185)] {
            assert!(!one_way.contradicted);
            one_way.passed(flow, 0, (position, t(left)), offset);
            one_way.passed(flow, 1, (position, t(arrived)), offset);
        }
        assert!(one_way.contradicted);
    }

    #[test]
    fn a_lost_segment_gives_no_delay() {
        let mut one_way = OneWay::default();
        let offset = || Some(ClockOffset { nanos: 1000, error_nanos: 0 });
        let flow = (0, Direction::Down);
        for (position, at) in [(0, 1000), (10, 1001), (20, 1002)] {
            one_way.passed(flow, 1, (position, t(at)), offset);
        }
        for (position, at) in [(0, 7), (20, 8)] {
            one_way.passed(flow, 0, (position, t(at)), offset);
        }
        assert_eq!(one_way.flows.at(0, Direction::Down).recent, [(0, 7), (20, 6)]);
        // Sent again: nobody knows which of the two arrived.
        one_way.passed_again(flow, (15, 25));
        assert_eq!(one_way.flows.at(0, Direction::Down).recent, [(0, 7)]);
    }
}
