//! What passed in short times, by subflow and as a whole: what findings are drawn from. Times grow with the transfer, so that
//! a timeline holds at most 512 of them, however long it takes and however much happens.

mod bins;
mod flow;
mod losses;
mod reading;
#[cfg(test)]
mod tests;

pub(crate) use bins::{Bin, Whole};
pub(crate) use flow::Flow;
pub(crate) use losses::Losses;
pub(crate) use reading::{is_bound, silences, usual_rate};

use crate::event::{FlowEvent, Kind};
use bins::Runs;
use wire::Time;

const FIRST_WIDTH_NANOS: i64 = 20_000_000;
const MOST_BINS: usize = 512;
/// A shorter wait for earlier data is no stall.
const STALL_NANOS: u64 = 100_000_000;
/// A window that takes not even two segments is as good as closed.
const CLOSED_BYTES: u64 = 3000;

/// One direction, as its sender or its receiver saw it.
#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    pub(crate) start: Time,
    pub(crate) width_nanos: i64,
    /// Of the connection, once all is known.
    pub(crate) whole: Vec<Whole>,
    /// Until then.
    filled: Runs<Whole>,
    pub(crate) flows: Vec<Flow>,
    /// The time that passes: its index, its end, and what it has had of the connection so far.
    index: usize,
    end: Time,
    now: Whole,
    /// Sent and not yet acknowledged at connection level.
    pub(crate) outstanding_bytes: u64,
    /// Nine tenths of the window, from which on it counts as full; none known: never.
    full_bytes: u64,
    shut_since: Option<Time>,
    window_bytes: Option<u64>,
    idle_since: Option<Time>,
    /// The segment that came in order last, and what had waited for it.
    filler: (usize, Time),
    filler_again: bool,
    stall: Option<Stall>,
    /// Until here waiting was counted.
    waited_until: Time,
}

/// Data that had arrived waited for the segment that came in order last.
#[derive(Clone, Copy, Debug)]
struct Stall {
    from: Time,
    /// The subflow that brought what was missing had brought later data before: it sent this again, for itself or another.
    own: bool,
}

impl Timeline {
    pub(crate) fn new(start: Time) -> Box<Self> {
        Box::new(Timeline {
            start,
            width_nanos: FIRST_WIDTH_NANOS,
            whole: Vec::new(),
            filled: Runs::default(),
            flows: Vec::new(),
            index: 0,
            end: start + FIRST_WIDTH_NANOS,
            now: Whole::default(),
            outstanding_bytes: 0,
            full_bytes: u64::MAX,
            shut_since: None,
            window_bytes: None,
            idle_since: None,
            filler: (0, start),
            filler_again: false,
            stall: None,
            waited_until: start,
        })
    }

    #[inline(always)]
    pub(crate) fn on(&mut self, event: &FlowEvent) {
        let at = event.seen.at;
        if at >= self.end || event.subflow >= self.flows.len() {
            return self.on_with_room(*event);
        }
        self.take(event);
    }

    /// Makes room first; the event is a copy, so that its caller need not keep its own in memory.
    #[cold]
    fn on_with_room(&mut self, event: FlowEvent) {
        self.make_room(event.subflow, event.seen.at);
        self.take(&event);
    }

    #[inline(always)]
    fn take(&mut self, event: &FlowEvent) {
        let at = event.seen.at;
        let flow = &mut self.flows[event.subflow];
        match event.kind {
            Kind::Data(data) if data.has_payload() => {
                let last = flow.last_sent.replace(at);
                flow.fills_gap = data.fills_gap;
                if data.resent_bytes() > 0 {
                    flow.resent(at, &data, last, self.start);
                }
            }
            Kind::Flight { in_flight_bytes, window_bytes } => {
                let bytes = in_flight_bytes as u32;
                flow.now.left_bytes = bytes.saturating_add(1);
                if let Some(losses) = &mut flow.losses {
                    losses.left(at, bytes);
                }
                if bytes < flow.in_flight_bytes {
                    flow.answered(at, flow.in_flight_bytes - bytes);
                    flow.has_gap = false;
                }
                flow.in_flight_bytes = bytes;
                if window_bytes != self.window_bytes {
                    self.window(at, window_bytes);
                }
            }
            // The path brings data and answers, however long the gap stays.
            Kind::Sacked { twice, gap } => flow.reported(at, twice, gap),
            Kind::Rtt { nanos } => {
                let rtt_us = (nanos / 1000).clamp(1, u64::from(u32::MAX)) as u32;
                flow.now.rtt_us = if flow.now.rtt_us == 0 { rtt_us } else { flow.now.rtt_us.min(rtt_us) };
                flow.last_rtt_us = rtt_us;
                flow.is_rtt_old = false;
            }
            Kind::Arrived { bytes } => {
                flow.now.came_bytes = flow.now.came_bytes.saturating_add(bytes as u32);
                self.outstanding_bytes += bytes;
                self.now.segments += 1;
                // What came behind a gap fills the window until that is repaired: the loss is to blame.
                let is_limited = self.outstanding_bytes >= self.full_bytes && !flow.has_gap;
                self.now.limited += u32::from(is_limited);
                if let Some(since) = self.idle_since.take() {
                    self.idle(since, at);
                }
            }
            Kind::Confirmed { bytes } => {
                flow.now.confirmed_bytes = flow.now.confirmed_bytes.saturating_add(bytes as u32);
            }
            Kind::DataAcked { bytes } => {
                self.now.confirmed_bytes = self.now.confirmed_bytes.saturating_add(bytes as u32);
                self.outstanding_bytes = self.outstanding_bytes.saturating_sub(bytes);
                if self.outstanding_bytes == 0 && self.shut_since.is_none() {
                    self.idle_since = Some(at);
                }
            }
            Kind::Progress { bytes } => self.now.came_bytes = self.now.came_bytes.saturating_add(bytes as u32),
            Kind::InOrder { delay_nanos: 0, .. } => {
                let again = flow.fills_gap;
                if self.stall.is_some() {
                    self.waited();
                }
                self.filler = (event.subflow, at);
                self.filler_again = again;
            }
            Kind::InOrder { delay_nanos, .. } if delay_nanos >= STALL_NANOS => {
                let own = self.filler_again || event.subflow == self.filler.0;
                let stall = self.stall.get_or_insert(Stall { from: at, own });
                *stall = Stall { from: stall.from.min(at), own: stall.own || own };
            }
            Kind::Reinjected { bytes, own_bytes } => {
                flow.now.again_bytes = flow.now.again_bytes.saturating_add(bytes as u32);
                flow.now.own_again_bytes = flow.now.own_again_bytes.saturating_add(own_bytes as u32);
            }
            _ => {}
        }
    }

    /// Begins the time that `at` lies in, where another one passed, and makes room for a subflow.
    fn make_room(&mut self, subflow: usize, at: Time) {
        if subflow >= self.flows.len() {
            // Most connections have one.
            self.flows.reserve_exact(usize::from(self.flows.is_empty()));
            self.flows.resize_with(subflow + 1, Flow::default);
        }
        if at < self.end {
            return;
        }
        self.keep();
        let mut index = self.index_of(at);
        while index >= MOST_BINS {
            self.width_nanos *= 2;
            index /= 2;
            self.filled.halve();
            self.flows.iter_mut().for_each(|flow| flow.filled.halve());
        }
        self.index = index;
        self.end = self.end_of(index);
    }

    /// Counts what lasts to the end.
    pub(crate) fn finish(&mut self) {
        self.waited();
        self.opened(self.end);
        self.keep();
        self.whole = std::mem::take(&mut self.filled).all();
        self.flows.iter_mut().for_each(|flow| flow.bins = std::mem::take(&mut flow.filled).all());
    }

    /// Puts what the time that passes has had in its place.
    fn keep(&mut self) {
        let mut now = std::mem::take(&mut self.now);
        now.window_bytes = self.window_bytes.unwrap_or(0).min(u32::MAX.into()) as u32;
        self.filled.put(self.index, now);
        for flow in self.flows.iter_mut().filter(|flow| flow.now != Bin::default()) {
            let now = std::mem::take(&mut flow.now);
            flow.filled.put(self.index, now);
        }
    }

    /// What left is no news at the sender; what was acknowledged is.
    pub(crate) fn at_sender(&mut self) {
        self.whole.iter_mut().for_each(|bin| bin.came_bytes = bin.confirmed_bytes);
        let bins = self.flows.iter_mut().flat_map(|flow| &mut flow.bins);
        bins.for_each(|bin| bin.came_bytes = bin.confirmed_bytes);
    }

    /// Moves all of it to a later time.
    pub(crate) fn shift(&mut self, nanos: i64) {
        self.start = self.start + nanos;
        for flow in &mut self.flows {
            flow.last_answer = flow.last_answer.map(|at| at + nanos);
            if let Some(losses) = &mut flow.losses {
                losses.first = losses.first + nanos;
                losses.last = losses.last + nanos;
            }
        }
    }

    fn index_of(&self, at: Time) -> usize {
        ((at - self.start).max(0) / self.width_nanos) as usize
    }

    /// No time is beyond the last one that there is.
    fn end_of(&self, index: usize) -> Time {
        Time::from_nanos(self.width_nanos.saturating_mul(index as i64 + 1).saturating_add(self.start.as_nanos()))
    }

    /// The receiver announces another window.
    #[cold]
    fn window(&mut self, at: Time, window_bytes: Option<u64>) {
        let Some(window) = window_bytes else { return };
        self.window_bytes = window_bytes;
        self.full_bytes = window / 10 * 9;
        if window < CLOSED_BYTES {
            self.idle_since = None; // the receiver's doing
            self.shut_since.get_or_insert(at);
        } else {
            self.opened(at);
        }
    }

    /// Counts for how long the window was shut.
    #[cold]
    fn opened(&mut self, at: Time) {
        let Some(since) = self.shut_since.take() else { return };
        self.over(since, at, |timeline, index, us| {
            let bin = timeline.bin(index);
            bin.shut_us = bin.shut_us.saturating_add(us);
        });
    }

    #[cold]
    fn idle(&mut self, since: Time, until: Time) {
        self.over(since, until, |timeline, index, us| {
            let bin = timeline.bin(index);
            bin.idle_us = bin.idle_us.saturating_add(us);
        });
    }

    /// Counts what waited for the segment that came in order last. Of times that several waited through, the first counts.
    #[cold]
    fn waited(&mut self) {
        let Some(Stall { from, own }) = self.stall.take() else { return };
        let ((filler, to), again) = (self.filler, self.filler_again);
        let from = from.max(self.waited_until);
        self.waited_until = to.max(self.waited_until);
        self.over(from, to, |timeline, index, us| {
            let bin = timeline.bin(index);
            bin.waited_us = bin.waited_us.saturating_add(us);
            let bin = timeline.flow_bin(filler, index);
            if !own {
                bin.waited_us = bin.waited_us.saturating_add(us);
            } else if again {
                bin.repaired_us = bin.repaired_us.saturating_add(us);
            }
        });
    }

    /// Goes through the times of a span that is over, each with how long it was in it.
    fn over(&mut self, from: Time, until: Time, mut each: impl FnMut(&mut Timeline, usize, u32)) {
        let mut at = from;
        while at < until {
            let index = self.index_of(at).min(self.index);
            let end = if index == self.index { until } else { self.end_of(index).min(until) };
            each(self, index, ((end - at) / 1000).min(i64::from(u32::MAX)) as u32);
            at = end;
        }
    }

    fn bin(&mut self, index: usize) -> &mut Whole {
        if index == self.index {
            return &mut self.now;
        }
        self.filled.at(index)
    }

    fn flow_bin(&mut self, subflow: usize, index: usize) -> &mut Bin {
        let flow = &mut self.flows[subflow];
        if index == self.index {
            return &mut flow.now;
        }
        flow.filled.at(index)
    }
}
