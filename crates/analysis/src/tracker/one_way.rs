//! One-way delay, where both ends were captured: the same segment, leaving here and arriving there.

use super::subflow::Subflow;
use crate::histogram::Histogram;
use crate::metrics::PerFlow;
use crate::report::Report;
use std::collections::VecDeque;
use tables::{Diagnostic, Direction};
use wire::Time;

/// It is fed segments of both ends, where metrics are fed flow events of one.
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

/// A segment that passed an end for the first time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    /// Where it begins.
    pub(crate) position: i64,
    pub(crate) at: Time,
    /// The sender's clock, as its option says (RFC 7323 §3).
    pub(crate) stamp: Option<u32>,
}

#[derive(Debug, Default)]
struct Flow {
    /// Segments seen at each end and not yet at the other, and how many data packets had passed the end with each.
    waiting: [VecDeque<(Segment, u64)>; 2],
    passed: [u64; 2],
    /// How many had passed each end with the first segment that both show, and with the last.
    shared: Option<[[u64; 2]; 2]>,
    stamps: Stamps,
    /// Delays of late that a retransmission may still call in question: position and nanoseconds.
    recent: VecDeque<(i64, u64)>,
    delays: Histogram,
    /// Whether end 1 is where the segments arrive.
    towards_1: Option<bool>,
}

/// Whether the clock's values that left are those that arrived, or, where a middlebox moves them, as far apart always.
#[derive(Debug, Default)]
struct Stamps {
    apart: Option<u32>,
    like: u32,
    unlike: u32,
}

/// Captures of one connection show one value for one segment, but for those that a capture dropped and that were sent
/// again: of so many, more than this part are unlike.
const MANY: u32 = 16;
const UNLIKE_PART: u32 = 8;

/// Segments waiting beyond this are given up, oldest first.
const MOST_WAITING: usize = 1 << 16;
/// So many segments later nobody sends one again.
const MOST_RECENT: usize = 1 << 12;

impl ClockOffset {
    /// Of ends that share a clock.
    pub(super) const NONE: ClockOffset = ClockOffset { nanos: 0, error_nanos: 0 };

    /// From the times at both ends of a packet each way.
    pub(crate) fn of(there: [Time; 2], back: [Time; 2]) -> Self {
        let (there, back) = (there[1] - there[0], back[1] - back[0]);
        ClockOffset {
            nanos: there.midpoint(back),
            error_nanos: (there.abs_diff(back) / 2).try_into().unwrap_or(i64::MAX),
        }
    }

    /// What is to be said of it, `client` being the client's end; that it fits not all packets, where it is contradicted.
    pub(super) fn remark(self, client: usize, contradicted: bool) -> Option<Diagnostic> {
        if contradicted {
            let message = "no single clock offset fits all packets, since some would arrive before they were sent: a clock drifts or was set; one-way delays are left out";
            return Some(Diagnostic { diagnostic: "clock_drift", message: message.into(), ..Diagnostic::default() });
        }
        let ClockOffset { nanos, error_nanos } = self;
        let ahead = if client == 0 { nanos } else { nanos.saturating_neg() };
        let message = format!(
            "the server's clock is {:.3} ms {} the client's, at most {:.3} ms more or less; one-way delays are corrected by it",
            ahead.unsigned_abs() as f64 / 1e6,
            if ahead < 0 { "behind" } else { "ahead of" },
            error_nanos as f64 / 1e6
        );
        let diagnostic = Diagnostic { diagnostic: "clock_offset", message: message.into(), ..Diagnostic::default() };
        (self != ClockOffset::NONE).then_some(diagnostic)
    }

    /// Of the subflows whose handshake both ends saw, the one with the shortest round trip tells the clocks' offset best.
    pub(super) fn between(subflows: &[Subflow]) -> Option<Self> {
        let offsets = subflows.iter().filter_map(|subflow| {
            let [Some(a), Some(b)] = &subflow.views else { return None };
            let (a, b) = (&a.handshake, &b.handshake);
            (a.syn_count == 1 && b.syn_count == 1 && a.syn_ack_count == 1 && b.syn_ack_count == 1).then_some(())?;
            Some(ClockOffset::of([a.syn?.at, b.syn?.at], [a.syn_ack?.at, b.syn_ack?.at]))
        });
        offsets.min_by_key(|offset| offset.error_nanos)
    }
}

impl OneWay {
    pub(crate) fn new(one_clock: bool) -> OneWay {
        OneWay { offset: one_clock.then_some(ClockOffset::NONE), ..OneWay::default() }
    }

    /// A segment passed an end for the first time.
    pub(crate) fn passed(
        &mut self,
        (subflow, direction): (usize, Direction),
        end: usize,
        segment: Segment,
        offset: impl FnOnce() -> Option<ClockOffset>,
    ) {
        let Segment { position, at, .. } = segment;
        let flow = self.flows.at(subflow, direction);
        flow.passed[end] += 1;
        let there = &mut flow.waiting[1 - end];
        while there.front().is_some_and(|(other, _)| other.position < position) {
            there.pop_front();
        }
        match there.front() {
            Some(&(other, other_passed)) if other.position == position => {
                there.pop_front();
                let mut passed = flow.passed;
                passed[1 - end] = other_passed;
                flow.shared = Some([flow.shared.map_or(passed, |[first, _]| first), passed]);
                let other_at = other.at;
                let stamps = if end == 1 { (other.stamp, segment.stamp) } else { (segment.stamp, other.stamp) };
                flow.stamps.compare(stamps);
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
                if here.back().is_none_or(|(last, _)| last.position < position) {
                    here.push_back((segment, flow.passed[end]));
                }
                if here.len() > MOST_WAITING {
                    here.pop_front();
                }
            }
        }
    }

    /// `[start, end)` passed an end again: which of the times arrived is not known, as in Karn's rule.
    pub(crate) fn passed_again(&mut self, (subflow, direction): (usize, Direction), at: usize, range: (i64, i64)) {
        let flow = self.flows.at(subflow, direction);
        flow.passed[at] += 1;
        flow.waiting.iter_mut().for_each(|queue| forget(queue, range, |(segment, _)| segment.position));
        forget(&mut flow.recent, range, |(position, _)| *position);
    }

    /// The segments of the two ends are not the same ones, though numbered alike.
    pub(crate) fn shows_two_connections(&self) -> bool {
        let stamps = self.flows.iter().flatten().map(|flow| &flow.stamps);
        let (like, unlike) = stamps.fold((0, 0), |all, stamps| (all.0 + stamps.like, all.1 + stamps.unlike));
        unlike >= MANY && unlike > (like + unlike) / UNLIKE_PART
    }

    /// Data packets that left and did not arrive, where `end` is the sender's, from the first segment that both ends show
    /// to the last; from the beginning, and to the end, where both captures reach there.
    pub(crate) fn lost_packets(
        &mut self,
        (subflow, direction): (usize, Direction),
        end: usize,
        (from_start, to_end): (bool, bool),
    ) -> Option<u64> {
        let flow = self.flows.at(subflow, direction);
        let (first, last) = match flow.shared {
            _ if from_start && to_end => ([0; 2], flow.passed),
            Some([first, last]) => (if from_start { [0; 2] } else { first }, if to_end { flow.passed } else { last }),
            None if flow.passed == [0; 2] => return Some(0),
            None => return None,
        };
        Some((last[end] - first[end]).saturating_sub(last[1 - end] - first[1 - end]))
    }

    /// How far the server's clock is ahead, nanoseconds, where that is known; `client` is the client's end.
    pub(crate) fn ahead_nanos(&self, client: usize) -> Option<i64> {
        let nanos = self.offset.filter(|_| !self.contradicted)?.nanos;
        Some(if client == 0 { nanos } else { nanos.saturating_neg() })
    }

    /// The same where it is more than the estimate errs, also where a clock drifts; else 0.
    pub(crate) fn surely_ahead_nanos(&self, client: usize) -> i64 {
        let is_sure = |offset: &ClockOffset| offset.nanos.unsigned_abs() > offset.error_nanos.unsigned_abs();
        let nanos = self.offset.filter(is_sure).map_or(0, |offset| offset.nanos);
        if client == 0 { nanos } else { nanos.saturating_neg() }
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
            }
        }
        let offset = self.offset.or(self.contradicted.then_some(ClockOffset::NONE));
        report.diagnostics.extend(offset.and_then(|offset| offset.remark(client, self.contradicted)));
    }
}

impl Stamps {
    /// A segment's values at the ends.
    #[inline]
    fn compare(&mut self, values: (Option<u32>, Option<u32>)) {
        let (Some(a), Some(b)) = values else { return };
        let apart = b.wrapping_sub(a);
        *(if *self.apart.get_or_insert(apart) == apart { &mut self.like } else { &mut self.unlike }) += 1;
    }
}

/// Takes what begins in `[start, end)` out of a queue ordered by position.
fn forget<T>(queue: &mut VecDeque<T>, (start, end): (i64, i64), position: impl Fn(&T) -> i64) {
    let first = queue.partition_point(|one| position(one) < start);
    let last = queue.partition_point(|one| position(one) < end);
    queue.drain(first..last);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn t(nanos: i64) -> Time {
        Time::from_nanos(nanos)
    }

    fn segment(position: i64, at: i64) -> Segment {
        Segment { position, at: t(at), stamp: None }
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
        one_way.passed((0, Direction::Up), 0, segment(0, 5), never);
        one_way.passed((0, Direction::Up), 1, segment(0, 12), never);
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
            one_way.passed(flow, 0, segment(position, left), offset);
            one_way.passed(flow, 1, segment(position, arrived), offset);
        }
        assert!(one_way.contradicted);
    }

    #[test]
    fn a_lost_segment_gives_no_delay() {
        let mut one_way = OneWay::default();
        let offset = || Some(ClockOffset { nanos: 1000, error_nanos: 0 });
        let flow = (0, Direction::Down);
        for (position, at) in [(0, 1000), (10, 1001), (20, 1002)] {
            one_way.passed(flow, 1, segment(position, at), offset);
        }
        for (position, at) in [(0, 7), (20, 8)] {
            one_way.passed(flow, 0, segment(position, at), offset);
        }
        assert_eq!(one_way.flows.at(0, Direction::Down).recent, [(0, 7), (20, 6)]);
        // Sent again: nobody knows which of the two arrived.
        one_way.passed_again(flow, 0, (15, 25));
        assert_eq!(one_way.flows.at(0, Direction::Down).recent, [(0, 7)]);
    }
}
