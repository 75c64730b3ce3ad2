//! What passed in short times, by subflow and as a whole: what findings are drawn from. Times grow with the transfer, so that
//! a timeline holds at most 512 of them, however long it takes and however much happens.

use crate::event::{Data, FlowEvent, Kind};
use wire::Time;

const FIRST_WIDTH_NANOS: i64 = 20_000_000;
const MOST_BINS: usize = 512;
/// A shorter wait for earlier data is no stall.
const STALL_NANOS: u64 = 100_000_000;
/// A window that takes not even two segments is as good as closed.
const CLOSED_BYTES: u64 = 3000;
/// Linux's least retransmission time-out, and by how much it is longer than a round trip: it waits for 200 ms more, of which some
/// may have passed before the last segment left.
const TIME_OUT_NANOS: i64 = 200_000_000;
const BEYOND_RTT_NANOS: i64 = 100_000_000;
/// So much in flight, and no answer to any of it: a path that brings nothing, not a queue that takes some.
const DEAD_BYTES: u32 = 5000;
/// Where most of that is acknowledged within two round trips of the first answer, and little of it was sent again, it had been held
/// up and not lost.
const UNKNOWN_ANSWER_NANOS: i64 = 200_000_000;
/// Losses further apart than a round trip are of different bursts; of this time where no round trip was measured.
const UNKNOWN_RTT_US: u32 = 100_000;
/// A queue whose emptying takes no longer, nor longer than this part of the round trip, shows in none.
const ALONE_US: u64 = 3000;
const ALONE_PART: u64 = 20;

/// One direction, as its sender or its receiver saw it.
#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    pub(crate) start: Time,
    pub(crate) width_nanos: i64,
    /// Of the connection.
    pub(crate) whole: Vec<Whole>,
    pub(crate) flows: Vec<Flow>,
    /// The time that passes: its place, its end, and what it has had of the connection so far.
    index: usize,
    end: Time,
    now: Whole,
    /// Sent and not yet acknowledged at connection level.
    outstanding_bytes: u64,
    /// Nine tenths of the window, from which on it counts as full; none known: never.
    full_bytes: u64,
    closed: bool,
    window_bytes: Option<u64>,
    idle_since: Option<Time>,
    /// The segment that came in order last, and what had waited for it.
    filler: (usize, Time),
    filler_again: bool,
    stall: Option<Stall>,
    /// Until here waiting was counted.
    waited_until: Time,
}

/// A subflow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flow {
    pub(crate) bins: Vec<Bin>,
    /// What the time that passes has had so far.
    now: Bin,
    /// Segments sent again; none where there were none.
    pub(crate) losses: Option<Box<Losses>>,
    last_sent: Option<Time>,
    last_answer: Option<Time>,
    /// Segments came after a gap that nothing has filled yet: what the time-out waits for was lost.
    has_gap: bool,
    silence: Option<Silence>,
    /// How long the silence was that the last time-out ended, and no answer since.
    last_silent_nanos: i64,
    last_rtt_us: u32,
    in_flight_bytes: u32,
    /// The last segment came in a gap of the subflow: it was sent again.
    fills_gap: bool,
}

/// A path answered to nothing of what was in flight, and a time-out passed.
#[derive(Clone, Copy, Debug)]
struct Silence {
    in_flight_bytes: u32,
    had_gap: bool,
    /// Sent again since, and acknowledged.
    resent_bytes: u32,
    acked_bytes: u32,
    /// Two round trips after the first answer, once that came.
    over: Option<Time>,
}

impl Silence {
    /// Whether what was in flight came through.
    fn was_held(&self) -> bool {
        !self.had_gap
            && self.acked_bytes / 3 >= self.in_flight_bytes / 4
            && self.resent_bytes <= self.in_flight_bytes / 4
    }
}

/// A short time of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Whole {
    /// Bytes in order; at the sender, once all is known, those acknowledged at connection level.
    pub(crate) came_bytes: u32,
    confirmed_bytes: u32,
    /// At the sender: time without unacknowledged data.
    pub(crate) idle_us: u32,
    /// At the sender: segments sent, and those of them that filled the window.
    pub(crate) segments: u32,
    pub(crate) limited: u32,
    /// At the sender: the receive window, as it was last announced.
    pub(crate) window_bytes: u32,
    /// At the receiver: time in which data waited for earlier data.
    pub(crate) waited_us: u32,
}

/// A short time of a subflow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Bin {
    /// New bytes that arrived; at the sender, once all is known, those acknowledged.
    pub(crate) came_bytes: u32,
    confirmed_bytes: u32,
    /// Bytes that another subflow, or this one, had brought before.
    pub(crate) again_bytes: u32,
    /// At the sender: in flight when last known, and one more; 0: nothing told.
    pub(crate) left_bytes: u32,
    /// Least round-trip time; 0: none measured.
    pub(crate) rtt_us: u32,
    /// At the receiver: time in which other subflows' data waited for what this one was slow to bring.
    pub(crate) waited_us: u32,
    /// At the sender: some data was acknowledged, be it selectively.
    pub(crate) answered: bool,
    /// At the sender: segments sent again after a silence, and those of them whose silence was half as long again as the last.
    pub(crate) timeouts: u8,
    pub(crate) backed_off: u8,
    /// At the sender: silences with time-outs of which it turned out that the path had held packets up and lost none.
    pub(crate) spurious: u8,
}

/// What was sent again on a subflow, but for what was in flight when the path brought nothing.
#[derive(Clone, Debug)]
pub(crate) struct Losses {
    pub(crate) count: u64,
    /// Of segments within a round trip of each other.
    pub(crate) bursts: u64,
    /// Those that had left so long after the segment before them that no short queue still held that one.
    pub(crate) alone: u64,
    /// Whole seconds that had some.
    pub(crate) seconds: u64,
    pub(crate) first: Time,
    pub(crate) last: Time,
    /// The round-trip times measured last before each, by parts of octaves of microseconds.
    rtts: [u32; RTTS],
}

const PARTS: u32 = 32;
const RTTS: usize = PARTS as usize * 32;

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
            flows: Vec::new(),
            index: 0,
            end: start + FIRST_WIDTH_NANOS,
            now: Whole::default(),
            outstanding_bytes: 0,
            full_bytes: u64::MAX,
            closed: false,
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
                if bytes < flow.in_flight_bytes {
                    flow.answered(at, flow.in_flight_bytes - bytes);
                    flow.has_gap = false;
                }
                flow.in_flight_bytes = bytes;
                if window_bytes != self.window_bytes {
                    self.window(window_bytes);
                }
            }
            // The path brings data and answers, however long the gap stays.
            Kind::Sacked => {
                flow.answered(at, 0);
                flow.has_gap = true;
            }
            Kind::Rtt { nanos } => {
                let rtt_us = (nanos / 1000).clamp(1, u64::from(u32::MAX)) as u32;
                flow.now.rtt_us = if flow.now.rtt_us == 0 { rtt_us } else { flow.now.rtt_us.min(rtt_us) };
                flow.last_rtt_us = rtt_us;
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
                if self.outstanding_bytes == 0 && !self.closed {
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
            Kind::Reinjected { bytes } => flow.now.again_bytes = flow.now.again_bytes.saturating_add(bytes as u32),
            _ => {}
        }
    }

    /// Begins the time that `at` lies in, where another one passed, and makes room for a subflow.
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
        let mut now = std::mem::take(&mut self.now);
        now.window_bytes = self.window_bytes.unwrap_or(0).min(u32::MAX.into()) as u32;
        put(&mut self.whole, self.index, now);
        for flow in self.flows.iter_mut().filter(|flow| flow.now != Bin::default()) {
            let now = std::mem::take(&mut flow.now);
            put(&mut flow.bins, self.index, now);
        }
    }

    /// What left is no news at the sender; what was acknowledged is.
    pub(crate) fn at_sender(&mut self) {
        self.whole.iter_mut().for_each(|bin| bin.came_bytes = bin.confirmed_bytes);
        let bins = self.flows.iter_mut().flat_map(|flow| &mut flow.bins);
        bins.for_each(|bin| bin.came_bytes = bin.confirmed_bytes);
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
    fn window(&mut self, window_bytes: Option<u64>) {
        let Some(window) = window_bytes else { return };
        self.window_bytes = window_bytes;
        self.full_bytes = window / 10 * 9;
        self.closed = window < CLOSED_BYTES;
        if self.closed {
            self.idle_since = None; // the receiver's doing
        }
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
    pub(crate) fn waited(&mut self) {
        let Some(Stall { from, own }) = self.stall.take() else { return };
        let (filler, to) = self.filler;
        let from = from.max(self.waited_until);
        self.waited_until = to.max(self.waited_until);
        self.over(from, to, |timeline, index, us| {
            let bin = timeline.bin(index);
            bin.waited_us = bin.waited_us.saturating_add(us);
            if !own {
                let bin = timeline.flow_bin(filler, index);
                bin.waited_us = bin.waited_us.saturating_add(us);
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
        if index >= self.whole.len() {
            self.whole.resize(index + 1, Whole::default());
        }
        &mut self.whole[index]
    }

    fn flow_bin(&mut self, subflow: usize, index: usize) -> &mut Bin {
        let flow = &mut self.flows[subflow];
        if index == self.index {
            return &mut flow.now;
        }
        if index >= flow.bins.len() {
            flow.bins.resize(index + 1, Bin::default());
        }
        &mut flow.bins[index]
    }
}

impl Flow {
    fn answered(&mut self, at: Time, acked_bytes: u32) {
        self.now.answered = true;
        self.last_silent_nanos = 0;
        self.last_answer = Some(at);
        if self.silence.is_some() {
            self.broken(at, acked_bytes);
        }
    }

    /// An answer came after a silence.
    #[cold]
    fn broken(&mut self, at: Time, acked_bytes: u32) {
        let Some(silence) = &mut self.silence else { return };
        let round_trips = UNKNOWN_ANSWER_NANOS.max(i64::from(self.last_rtt_us) * 2000);
        if at <= *silence.over.get_or_insert(at + round_trips) {
            silence.acked_bytes = silence.acked_bytes.saturating_add(acked_bytes);
            return;
        }
        self.now.spurious += u8::from(silence.was_held());
        self.silence = None;
    }

    #[cold]
    fn resent(&mut self, at: Time, data: &Data, last: Option<Time>, start: Time) {
        let silent_nanos = last.map_or(0, |last| at - last);
        let time_out_nanos = TIME_OUT_NANOS.max(i64::from(self.last_rtt_us) * 1000 + BEYOND_RTT_NANOS);
        if silent_nanos >= time_out_nanos {
            let unanswered = self.last_answer.is_none_or(|answer| at - answer >= time_out_nanos);
            if unanswered && self.in_flight_bytes >= DEAD_BYTES && self.silence.is_none() {
                let in_flight_bytes = self.in_flight_bytes;
                self.silence = Some(Silence {
                    in_flight_bytes,
                    had_gap: self.has_gap,
                    resent_bytes: 0,
                    acked_bytes: 0,
                    over: None,
                });
            }
            let longer = self.last_silent_nanos > 0 && silent_nanos / 3 >= self.last_silent_nanos / 2;
            self.now.timeouts = self.now.timeouts.saturating_add(1);
            self.now.backed_off = self.now.backed_off.saturating_add(u8::from(longer));
            self.last_silent_nanos = silent_nanos;
        }
        if let Some(silence) = &mut self.silence {
            silence.resent_bytes = silence.resent_bytes.saturating_add(data.resent_bytes());
            if silence.resent_bytes <= silence.in_flight_bytes {
                return;
            }
            self.silence = None;
        }
        let rtt_us = self.last_rtt_us;
        let losses = self.losses.get_or_insert_with(|| Losses::new(at));
        losses.add(at, rtt_us, start);
        losses.alone += u64::from(data.apart_nanos / 1000 > ALONE_US.max(u64::from(rtt_us) / ALONE_PART));
    }
}

impl Losses {
    fn new(first: Time) -> Box<Losses> {
        Box::new(Losses { count: 0, bursts: 0, alone: 0, seconds: 0, first, last: first, rtts: [0; RTTS] })
    }

    fn add(&mut self, at: Time, rtt_us: u32, start: Time) {
        let second = |time: Time| (time - start) / 1_000_000_000;
        let round_trip = i64::from(if rtt_us == 0 { UNKNOWN_RTT_US } else { rtt_us }) * 1000;
        self.seconds += u64::from(self.count == 0 || second(at) != second(self.last));
        self.bursts += u64::from(self.count == 0 || at - self.last > round_trip);
        self.count += 1;
        self.last = at;
        self.rtts[part(rtt_us)] += 1;
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

impl And for Whole {
    fn and(self, other: Whole) -> Whole {
        Whole {
            came_bytes: self.came_bytes.saturating_add(other.came_bytes),
            confirmed_bytes: self.confirmed_bytes.saturating_add(other.confirmed_bytes),
            idle_us: self.idle_us.saturating_add(other.idle_us),
            segments: self.segments + other.segments,
            limited: self.limited + other.limited,
            window_bytes: self.window_bytes.max(other.window_bytes),
            waited_us: self.waited_us.saturating_add(other.waited_us),
        }
    }
}

impl And for Bin {
    fn and(self, other: Bin) -> Bin {
        Bin {
            came_bytes: self.came_bytes.saturating_add(other.came_bytes),
            confirmed_bytes: self.confirmed_bytes.saturating_add(other.confirmed_bytes),
            again_bytes: self.again_bytes.saturating_add(other.again_bytes),
            left_bytes: if other.left_bytes > 0 { other.left_bytes } else { self.left_bytes },
            rtt_us: match (self.rtt_us, other.rtt_us) {
                (0, rtt_us) | (rtt_us, 0) => rtt_us,
                (one, other) => one.min(other),
            },
            waited_us: self.waited_us.saturating_add(other.waited_us),
            answered: self.answered || other.answered,
            timeouts: self.timeouts.saturating_add(other.timeouts),
            backed_off: self.backed_off.saturating_add(other.backed_off),
            spurious: self.spurious.saturating_add(other.spurious),
        }
    }
}

/// Two times that follow each other are one.
trait And: Copy + Default {
    fn and(self, other: Self) -> Self;
}

/// Puts a bin in a place behind all others, or adds it to what is there.
fn put<B: And>(bins: &mut Vec<B>, index: usize, bin: B) {
    if index >= bins.len() {
        bins.resize(index, B::default());
        bins.push(bin);
    } else {
        bins[index] = bins[index].and(bin);
    }
}

fn halve<B: And>(bins: &mut Vec<B>) {
    let halves = bins.chunks(2).map(|pair| pair.iter().fold(B::default(), |sum, &bin| sum.and(bin)));
    *bins = halves.collect();
}

#[cfg(test)]
mod tests {
    use super::{Losses, MOST_BINS, Timeline};
    use crate::event::{Data, FlowEvent, Kind, Seen};
    use tables::Direction;
    use wire::{PointId, Time};

    fn at(ms: i64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    fn on(timeline: &mut Timeline, ms: i64, subflow: usize, kind: Kind) {
        let seen = Seen { at: at(ms), point: PointId(0), record: 1 };
        timeline.on(&FlowEvent { seen, subflow, direction: Direction::Down, kind });
    }

    #[test]
    fn losses_are_counted_however_many_there_are() {
        let mut timeline = Timeline::new(at(0));
        on(&mut timeline, 0, 0, Kind::Rtt { nanos: 20_000_000 });
        for ms in (0..50_000).step_by(10) {
            on(&mut timeline, ms, 0, Kind::Data(Data { bytes: 1000, packets: 1, ..Data::default() }));
        }
        let losses = timeline.flows[0].losses.as_ref().unwrap();
        assert_eq!((losses.count, losses.bursts, losses.seconds), (5000, 1, 50));
        assert_eq!((losses.above(19_000.0), losses.above(40_000.0)), (5000, 0));
        assert!(timeline.whole.len() <= MOST_BINS && timeline.flows[0].bins.len() <= MOST_BINS);
    }

    /// New data every 10 ms with answers 20 ms later for half a second; then a window of ten segments that nobody answers.
    fn silent_after_a_window() -> Box<Timeline> {
        let mut timeline = Timeline::new(at(0));
        let new = || Kind::Data(Data { bytes: 1000, new_bytes: 1000, packets: 1, ..Data::default() });
        let flight = |in_flight_bytes| Kind::Flight { in_flight_bytes, window_bytes: None };
        on(&mut timeline, 20, 0, Kind::Rtt { nanos: 20_000_000 });
        for ms in (0..500).step_by(10) {
            on(&mut timeline, ms, 0, new());
            on(&mut timeline, ms, 0, flight(3000));
            on(&mut timeline, ms + 5, 0, flight(2000));
        }
        for number in 0..10 {
            on(&mut timeline, 500 + number, 0, new());
            on(&mut timeline, 500 + number, 0, flight(3000 + 1000 * number as u64));
        }
        timeline
    }

    #[test]
    fn what_a_dead_path_held_is_no_loss_of_a_queue() {
        let again = || Kind::Data(Data { bytes: 1000, packets: 1, ..Data::default() });
        let mut dead = silent_after_a_window();
        for ms in [800, 1400, 2600, 2620, 2620, 2640, 2640, 2640] {
            on(&mut dead, ms, 0, again());
        }
        assert!(dead.flows[0].losses.is_none());
        // Where the path goes on answering meanwhile, a few were lost.
        let mut alive = silent_after_a_window();
        on(&mut alive, 560, 0, Kind::Sacked);
        for ms in [561, 562, 563] {
            on(&mut alive, ms, 0, again());
        }
        assert_eq!(alive.flows[0].losses.as_ref().unwrap().count, 3);
    }

    #[test]
    fn a_time_out_is_spurious_where_the_path_had_held_all_up() {
        let again = || Kind::Data(Data { bytes: 1000, packets: 1, ..Data::default() });
        let flight = |in_flight_bytes| Kind::Flight { in_flight_bytes, window_bytes: None };
        let spurious = |answers: &[(i64, u64)]| {
            let mut timeline = silent_after_a_window();
            on(&mut timeline, 800, 0, again());
            answers.iter().for_each(|&(ms, left_bytes)| on(&mut timeline, ms, 0, flight(left_bytes)));
            timeline.keep();
            timeline.flows[0].bins.iter().map(|bin| bin.spurious).sum::<u8>()
        };
        assert_eq!(spurious(&[(1000, 8000), (1001, 3000), (1002, 0), (1900, 2000), (1990, 0)]), 1);
        // Of a gap that the receiver had told of, the rest had come long before.
        let mut gap = silent_after_a_window();
        on(&mut gap, 530, 0, Kind::Sacked);
        on(&mut gap, 900, 0, again());
        [(1000, 0), (1900, 2000), (1990, 0)].iter().for_each(|&(ms, left)| on(&mut gap, ms, 0, flight(left)));
        gap.keep();
        assert!(gap.flows[0].bins.iter().all(|bin| bin.spurious == 0));
        // What was sent again is acknowledged, and little else.
        assert_eq!(spurious(&[(1000, 11_000), (1020, 10_000), (1900, 9000), (1990, 0)]), 0);
    }

    #[test]
    fn what_is_sent_again_a_round_trip_later_was_no_time_out() {
        let again = || Kind::Data(Data { bytes: 1000, packets: 1, ..Data::default() });
        for (rtt_ms, time_outs) in [(500, 0), (20, 1)] {
            let mut timeline = Timeline::new(at(0));
            on(&mut timeline, 0, 0, Kind::Rtt { nanos: rtt_ms * 1_000_000 });
            on(&mut timeline, 0, 0, again());
            on(&mut timeline, 510, 0, again());
            timeline.keep();
            let sum = timeline.flows[0].bins.iter().map(|bin| bin.timeouts).sum::<u8>();
            assert_eq!(sum, time_outs, "{rtt_ms} ms");
        }
    }

    #[test]
    fn round_trips_before_losses_are_told_apart_to_a_few_percent() {
        let mut losses = Losses::new(at(0));
        for rtt_us in [60_000, 64_000, 69_000] {
            losses.add(at(0), rtt_us, at(0));
        }
        assert_eq!([losses.above(62_000.0), losses.above(66_500.0), losses.above(72_000.0)], [2, 1, 0]);
    }

    #[test]
    fn what_left_after_a_pause_met_no_short_queue() {
        for (rtt_ms, apart_ms, alone) in [(20, 2, 0), (20, 4, 1), (200, 9, 0), (200, 11, 1)] {
            let mut timeline = Timeline::new(at(0));
            on(&mut timeline, 0, 0, Kind::Rtt { nanos: rtt_ms * 1_000_000 });
            let apart_nanos = apart_ms * 1_000_000;
            on(&mut timeline, 1, 0, Kind::Data(Data { bytes: 1000, packets: 1, apart_nanos, ..Data::default() }));
            assert_eq!(timeline.flows[0].losses.as_ref().unwrap().alone, alone, "{rtt_ms} {apart_ms}");
        }
    }

    #[test]
    fn a_window_that_fills_behind_a_gap_is_no_limit() {
        for (gap, limited) in [(false, 10), (true, 1)] {
            let mut timeline = Timeline::new(at(0));
            on(&mut timeline, 0, 0, Kind::Flight { in_flight_bytes: 0, window_bytes: Some(10_000) });
            on(&mut timeline, 1, 0, Kind::Arrived { bytes: 10_000 });
            if gap {
                on(&mut timeline, 2, 0, Kind::Sacked);
            }
            (3..12).for_each(|ms| on(&mut timeline, ms, 0, Kind::Arrived { bytes: 1 }));
            timeline.keep();
            let sum = timeline.whole.iter().map(|bin| bin.limited).sum::<u32>();
            assert_eq!(sum, limited);
        }
    }

    #[test]
    fn waiting_is_counted_however_often_it_happens() {
        let mut timeline = Timeline::new(at(0));
        // Subflow 0 brings what 1 had overtaken by 150 ms; every other time what 0 itself had.
        for turn in 0..1000 {
            let came = 200 * turn + 150;
            on(&mut timeline, came, 0, Kind::InOrder { offset: 0, bytes: 1, delay_nanos: 0 });
            let waited = Kind::InOrder { offset: 1, bytes: 1, delay_nanos: 150_000_000 };
            on(&mut timeline, came - 150, usize::from(turn % 2 == 0), waited);
        }
        timeline.waited();
        timeline.keep();
        let waited_us = |bins: &mut dyn Iterator<Item = u32>| bins.map(u64::from).sum::<u64>();
        assert_eq!(waited_us(&mut timeline.whole.iter().map(|bin| bin.waited_us)), 150_000_000);
        assert_eq!(waited_us(&mut timeline.flows[0].bins.iter().map(|bin| bin.waited_us)), 75_000_000);
        assert_eq!(waited_us(&mut timeline.flows[1].bins.iter().map(|bin| bin.waited_us)), 0);
    }

    #[test]
    fn time_outs_that_double_are_told_from_those_that_do_not() {
        let mut timeline = Timeline::new(at(0));
        let again = || Kind::Data(Data { bytes: 1000, packets: 1, ..Data::default() });
        for ms in [0, 250, 750, 1750] {
            on(&mut timeline, ms, 0, again());
        }
        on(&mut timeline, 1760, 0, Kind::Flight { in_flight_bytes: 1000, window_bytes: None });
        on(&mut timeline, 1800, 0, Kind::Flight { in_flight_bytes: 0, window_bytes: None });
        // An answer came: the next is the first of another row.
        on(&mut timeline, 3000, 0, again());
        timeline.keep();
        let sum = timeline.flows[0]
            .bins
            .iter()
            .fold((0, 0), |(timeouts, backed_off), bin| (timeouts + bin.timeouts, backed_off + bin.backed_off));
        assert_eq!(sum, (4, 2));
    }
}
