//! What passed in short times, by subflow and as a whole: what findings are drawn from. Times grow with the transfer, so that
//! a timeline holds at most 512 of them.

use crate::event::{FlowEvent, Kind};
use wire::Time;

const FIRST_WIDTH_NANOS: i64 = 20_000_000;
const MOST_BINS: usize = 512;
const MOST_STALLS: usize = 256;
const MOST_LOSSES: usize = 1024;
/// A shorter wait for earlier data is no stall.
const STALL_NANOS: u64 = 100_000_000;
/// A window that takes not even two segments is as good as closed.
const CLOSED_BYTES: u64 = 3000;
/// Linux's least retransmission time-out.
const TIME_OUT_NANOS: i64 = 200_000_000;

/// One direction, as its sender or its receiver saw it.
#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    pub(crate) start: Time,
    pub(crate) width_nanos: i64,
    /// Of the connection: `came_bytes` are those acknowledged at its level, or in order.
    pub(crate) whole: Vec<Bin>,
    pub(crate) flows: Vec<Flow>,
    /// At the receiver: times in which data waited for earlier data.
    pub(crate) stalls: Vec<Stall>,
    /// The time that passes: its place, its end, and what it has had of the connection so far.
    index: usize,
    end: Time,
    now: Bin,
    /// Sent and not yet acknowledged at connection level.
    outstanding_bytes: i64,
    idle_since: Option<Time>,
    window_bytes: Option<u64>,
    filler: (usize, Time),
}

/// A subflow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flow {
    pub(crate) bins: Vec<Bin>,
    /// What the time that passes has had so far.
    now: Bin,
    /// Bytes that another subflow, or this one, had brought before.
    pub(crate) again_bytes: u64,
    /// Segments sent again, with the round-trip time measured last before each, in microseconds.
    pub(crate) losses: Vec<(Time, u32)>,
    /// When segments were sent again after a silence.
    pub(crate) timeouts: Vec<Time>,
    last_sent: Option<Time>,
    last_rtt_us: u32,
    in_flight_bytes: u32,
}

/// A short time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Bin {
    pub(crate) sent_bytes: u32,
    pub(crate) resent_bytes: u32,
    /// New bytes that arrived; at the sender, once all is known, those acknowledged.
    pub(crate) came_bytes: u32,
    confirmed_bytes: u32,
    /// Of the connection, at the sender: time without unacknowledged data.
    pub(crate) idle_us: u32,
    /// Of the connection, at the sender: segments sent, and those of them that filled the window.
    pub(crate) segments: u32,
    pub(crate) limited: u32,
    /// Of a subflow, at the sender: acknowledgements of data, and most bytes in flight.
    pub(crate) answers: u32,
    pub(crate) in_flight_bytes: u32,
    /// In flight when last known, and one more; 0: nothing told.
    pub(crate) left_bytes: u32,
    /// Least round-trip time; 0: none measured.
    pub(crate) rtt_us: u32,
}

/// Data that had arrived waited for data that had not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stall {
    pub(crate) from: Time,
    pub(crate) to: Time,
    /// The subflow that brought what was missing.
    pub(crate) filler: usize,
}

impl Timeline {
    pub(crate) fn new(start: Time) -> Box<Self> {
        Box::new(Timeline {
            start,
            width_nanos: FIRST_WIDTH_NANOS,
            whole: Vec::new(),
            flows: Vec::new(),
            stalls: Vec::new(),
            index: 0,
            end: start + FIRST_WIDTH_NANOS,
            now: Bin::default(),
            outstanding_bytes: 0,
            idle_since: None,
            window_bytes: None,
            filler: (0, start),
        })
    }

    #[inline(always)]
    pub(crate) fn on(&mut self, event: &FlowEvent) {
        let at = event.seen.at;
        if at >= self.end || event.subflow >= self.flows.len() {
            self.make_room(event.subflow, at);
        }
        let flow = &mut self.flows[event.subflow];
        match event.kind {
            Kind::Data(data) if data.has_payload() => {
                flow.now.sent_bytes = flow.now.sent_bytes.saturating_add(data.new_bytes);
                let last = flow.last_sent.replace(at);
                let resent = data.resent_bytes();
                if resent > 0 {
                    flow.now.resent_bytes = flow.now.resent_bytes.saturating_add(resent);
                    flow.resent(at, last);
                }
            }
            Kind::Flight { in_flight_bytes, window_bytes } => {
                if window_bytes.is_some() && window_bytes != self.window_bytes {
                    self.window_bytes = window_bytes;
                    if window_bytes.is_some_and(|window| window < CLOSED_BYTES) {
                        self.idle_since = None; // the receiver's doing
                    }
                }
                let bytes = in_flight_bytes.min(u64::from(u32::MAX) - 1) as u32;
                flow.now.in_flight_bytes = flow.now.in_flight_bytes.max(bytes);
                flow.now.left_bytes = bytes + 1;
                let is_answer = bytes < flow.in_flight_bytes;
                flow.now.answers += u32::from(is_answer);
                flow.in_flight_bytes = bytes;
            }
            Kind::Rtt { nanos } => {
                let rtt_us = (nanos / 1000).clamp(1, u64::from(u32::MAX)) as u32;
                flow.now.rtt_us = if flow.now.rtt_us == 0 { rtt_us } else { flow.now.rtt_us.min(rtt_us) };
                flow.last_rtt_us = rtt_us;
            }
            Kind::Arrived { bytes } => {
                flow.now.arrived_bytes(bytes);
                self.outstanding_bytes += bytes as i64;
                let full = self.window_bytes.is_some_and(|window| self.outstanding_bytes as u64 >= window / 10 * 9);
                self.now.segments += 1;
                self.now.limited += u32::from(full);
                if let Some(since) = self.idle_since.take() {
                    self.idle(since, at);
                }
            }
            Kind::Confirmed { bytes } => flow.now.confirmed_bytes(bytes),
            Kind::DataAcked { bytes } => {
                self.now.confirmed_bytes(bytes);
                self.outstanding_bytes = (self.outstanding_bytes - bytes as i64).max(0);
                if self.outstanding_bytes == 0 && self.window_bytes.is_none_or(|window| window >= CLOSED_BYTES) {
                    self.idle_since = Some(at);
                }
            }
            Kind::Progress { bytes } => self.now.arrived_bytes(bytes),
            Kind::InOrder { delay_nanos: 0, .. } => self.filler = (event.subflow, at),
            Kind::InOrder { delay_nanos, .. } if delay_nanos >= STALL_NANOS => self.stall(at),
            Kind::Reinjected { bytes } => flow.again_bytes += bytes,
            _ => {}
        }
    }

    /// Begins the time that `at` lies in, where another one passed, and makes room for a subflow.
    #[cold]
    fn make_room(&mut self, subflow: usize, at: Time) {
        if subflow >= self.flows.len() {
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
            halve(&mut self.whole);
            self.flows.iter_mut().for_each(|flow| halve(&mut flow.bins));
        }
        self.index = index;
        self.end = self.end_of(index);
    }

    /// Puts what the time that passes has had in its place.
    pub(crate) fn keep(&mut self) {
        let now = std::mem::take(&mut self.now);
        put(&mut self.whole, self.index, now);
        for flow in self.flows.iter_mut().filter(|flow| flow.now != Bin::default()) {
            let now = std::mem::take(&mut flow.now);
            put(&mut flow.bins, self.index, now);
        }
    }

    fn index_of(&self, at: Time) -> usize {
        ((at - self.start).max(0) / self.width_nanos) as usize
    }

    /// No time is beyond the last one that there is.
    fn end_of(&self, index: usize) -> Time {
        Time::from_nanos(self.width_nanos.saturating_mul(index as i64 + 1).saturating_add(self.start.as_nanos()))
    }

    #[cold]
    fn idle(&mut self, since: Time, until: Time) {
        self.whole.resize(self.index, Bin::default());
        let mut at = since;
        while at < until {
            let index = self.index_of(at).min(self.index);
            let end = if index == self.index { until } else { self.end_of(index) };
            let bin = if index == self.index { &mut self.now } else { &mut self.whole[index] };
            bin.idle_us += ((end - at) / 1000) as u32;
            at = end;
        }
    }

    #[cold]
    fn stall(&mut self, from: Time) {
        let (filler, to) = self.filler;
        if let Some(last) = self.stalls.last_mut().filter(|last| from < last.to && last.filler == filler) {
            last.from = last.from.min(from);
            last.to = last.to.max(to);
        } else if self.stalls.len() < MOST_STALLS {
            self.stalls.push(Stall { from, to, filler });
        }
    }
}

impl Flow {
    #[cold]
    fn resent(&mut self, at: Time, last: Option<Time>) {
        let silent_nanos = last.map_or(0, |last| at - last);
        if silent_nanos >= TIME_OUT_NANOS && self.timeouts.len() < MOST_LOSSES {
            self.timeouts.push(at);
        }
        if self.losses.len() < MOST_LOSSES {
            self.losses.push((at, self.last_rtt_us));
        }
    }
}

impl Bin {
    #[inline(always)]
    fn arrived_bytes(&mut self, bytes: u64) {
        self.came_bytes = self.came_bytes.saturating_add(bytes as u32);
    }

    #[inline(always)]
    fn confirmed_bytes(&mut self, bytes: u64) {
        self.confirmed_bytes = self.confirmed_bytes.saturating_add(bytes as u32);
    }

    /// What left is no news there; what was acknowledged is.
    pub(crate) fn at_sender(&mut self) {
        self.came_bytes = self.confirmed_bytes;
    }

    fn and(self, other: Bin) -> Bin {
        Bin {
            sent_bytes: self.sent_bytes.saturating_add(other.sent_bytes),
            resent_bytes: self.resent_bytes.saturating_add(other.resent_bytes),
            came_bytes: self.came_bytes.saturating_add(other.came_bytes),
            confirmed_bytes: self.confirmed_bytes.saturating_add(other.confirmed_bytes),
            idle_us: self.idle_us.saturating_add(other.idle_us),
            segments: self.segments + other.segments,
            limited: self.limited + other.limited,
            answers: self.answers + other.answers,
            in_flight_bytes: self.in_flight_bytes.max(other.in_flight_bytes),
            left_bytes: if other.left_bytes > 0 { other.left_bytes } else { self.left_bytes },
            rtt_us: match (self.rtt_us, other.rtt_us) {
                (0, rtt_us) | (rtt_us, 0) => rtt_us,
                (one, other) => one.min(other),
            },
        }
    }
}

/// Puts a bin in a place behind all others.
fn put(bins: &mut Vec<Bin>, index: usize, bin: Bin) {
    bins.resize(index, Bin::default());
    bins.push(bin);
}

fn halve(bins: &mut Vec<Bin>) {
    let halves: Vec<Bin> =
        bins.chunks(2).map(|pair| pair.iter().fold(Bin::default(), |sum, &bin| sum.and(bin))).collect();
    *bins = halves;
}
