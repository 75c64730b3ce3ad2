//! One direction of a connection's data, as seen at one end: what arrived, in which order, over which subflow.

use super::carriers::{Carriers, Counted};
use crate::event::Seen;
use crate::ranges::Ranges;
use std::collections::VecDeque;
use wire::Time;

/// Offsets count from the connection's first byte.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    arrived: Ranges,
    confirmed: Ranges,
    carriers: Carriers,
    /// Segments that wait for earlier data, per subflow by offset: on each they mostly come in order.
    waiting: Vec<VecDeque<Waiting>>,
    waiting_count: usize,
    /// Where the data begins: 0, or the first offset seen where the connection's start was not.
    origin: Option<i64>,
    /// The capture began before the data.
    from_first_byte: bool,
    in_order: i64,
    data_ack: Option<i64>,
    /// Where the receiver's window ends, as announced so far, and a DATA_ACK beyond it that no other bears out yet.
    window_end: Option<i64>,
    doubted: Option<i64>,
    /// Acknowledged beyond what had arrived, and when. Packets of one time have no order, so data may still come then.
    beyond: Option<(i64, Time)>,
    /// Offset of DATA_FIN.
    pub(super) fin: Option<i64>,
}

#[derive(Debug)]
struct Waiting {
    start: i64,
    end: i64,
    seen: Seen,
}

/// A segment whose new bytes are in order now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InOrder {
    pub(super) seen: Seen,
    pub(super) subflow: usize,
    pub(super) offset: i64,
    pub(super) bytes: u32,
    pub(super) delay_nanos: u64,
}

/// Segments waiting beyond this are given up, oldest first: what they wait for is not in the capture.
const MOST_WAITING: usize = 1 << 16;

impl Stream {
    /// The connection's first byte has offset 0 for certain.
    pub(super) fn begin(&mut self) {
        self.origin = Some(0);
        self.from_first_byte = true;
    }

    /// `[start, end)` arrived. Returns how many bytes are new; `in_order` gets the segments that are in order now.
    pub(super) fn arrive(
        &mut self,
        (start, end): (i64, i64),
        seen: Seen,
        subflow: usize,
        mut in_order: impl FnMut(InOrder),
    ) -> u64 {
        self.give_up_missed(seen.at);
        let origin = self.origin.unwrap_or_else(|| self.start(self.data_ack.unwrap_or(start).min(start)));
        self.in_order = self.in_order.max(origin);
        if start == self.in_order
            && self.waiting_count == 0
            && self.arrived.end().is_none_or(|highest| highest == start)
        {
            self.arrived.insert(start, end, |_, _| ());
            self.carriers.passed(start, end, subflow);
            self.in_order = end;
            in_order(InOrder { seen, subflow, offset: start, bytes: (end - start) as u32, delay_nanos: 0 });
            return (end - start) as u64;
        }
        if subflow >= self.waiting.len() {
            self.waiting.resize_with(subflow + 1, VecDeque::new);
        }
        let waiting = &mut self.waiting[subflow];
        let (next, before) = (self.in_order, waiting.len());
        let carriers = &mut self.carriers;
        let mut at_once = None;
        let new = self.arrived.insert(start, end, |start, end| {
            carriers.passed(start, end, subflow);
            if start == next {
                at_once = Some(end);
            } else if end > next {
                let index = match waiting.back() {
                    Some(last) if last.start > start => waiting.partition_point(|other| other.start < start),
                    _ => waiting.len(),
                };
                waiting.insert(index, Waiting { start, end, seen });
            }
        });
        self.waiting_count += waiting.len() - before;
        if new < (end - start) as u64 {
            self.carriers.passed_again(start, end, subflow);
        }
        if let Some(end) = at_once {
            in_order(InOrder { seen, subflow, offset: next, bytes: (end - next) as u32, delay_nanos: 0 });
        }
        let to = self.arrived.contiguous_from(self.in_order);
        if to > self.in_order {
            self.advance(to, seen, in_order);
        }
        if self.waiting_count > MOST_WAITING {
            self.first_waiting_before(i64::MAX);
        }
        new
    }

    /// The data begins here, as far as the capture shows.
    #[cold]
    fn start(&mut self, origin: i64) -> i64 {
        self.carriers.begin(origin);
        *self.origin.insert(origin)
    }

    fn advance(&mut self, to: i64, now: Seen, mut in_order: impl FnMut(InOrder)) {
        self.in_order = to;
        while let Some((subflow, Waiting { start, end, seen })) = self.first_waiting_before(to) {
            let delay_nanos = (now.at - seen.at).max(0) as u64;
            in_order(InOrder { seen, subflow, offset: start, bytes: (end - start) as u32, delay_nanos });
        }
    }

    /// Takes the first segment that ends at or before `limit`.
    fn first_waiting_before(&mut self, limit: i64) -> Option<(usize, Waiting)> {
        if self.waiting_count == 0 {
            return None;
        }
        let fronts = self.waiting.iter().enumerate().filter_map(|(subflow, queue)| Some((subflow, queue.front()?)));
        let (subflow, first) = fronts.min_by_key(|(_, first)| first.start)?;
        if first.end > limit {
            return None;
        }
        self.waiting_count -= 1;
        self.waiting[subflow].pop_front().map(|first| (subflow, first))
    }

    /// Bytes of `[start, end)` that came first over a subflow, those that came just now too.
    pub(super) fn brought(&self, (start, end): (i64, i64), subflow: usize) -> u64 {
        self.carriers.brought(start, end, subflow)
    }

    /// Data in order by arrival, offset.
    pub(super) fn in_order(&self) -> i64 {
        self.in_order
    }

    /// `[start, end)` was acknowledged on a subflow. Returns how many bytes no subflow had acknowledged before.
    pub(super) fn confirm(&mut self, start: i64, end: i64, subflow: usize) -> u64 {
        self.carriers.confirmed(start, end, subflow);
        self.confirmed.insert(start, end, |_, _| ())
    }

    /// Whether a DATA_ACK with a window of `window_bytes` can be true: nobody sends beyond what was announced (RFC 8684
    /// §3.3.5). Those that announced it may be missing in the capture; then the next one says the same.
    pub(super) fn may_acknowledge(&mut self, ack: i64, window_bytes: Option<i64>) -> bool {
        let doubted = self.doubted.take();
        let borne_out = doubted.is_some_and(|doubted| ack >= doubted) || self.fin == Some(ack - 1);
        // DATA_FIN needs no window.
        if !borne_out && self.window_end.is_some_and(|end| ack > end + 1) {
            self.doubted = Some(ack);
            return false;
        }
        if let Some(bytes) = window_bytes {
            self.window_end = self.window_end.max(Some(ack + bytes));
        }
        true
    }

    /// DATA_ACK passed. Returns the bytes of data that it newly acknowledged, DATA_FIN not counted.
    pub(super) fn data_ack(&mut self, ack: i64, at: Time) -> u64 {
        self.give_up_missed(at);
        let before = self.data_ack.unwrap_or_else(|| self.origin.unwrap_or(ack).min(ack));
        if self.data_ack.is_some_and(|before| ack <= before) {
            return 0;
        }
        self.data_ack = Some(ack);
        self.carriers.delivered(self.without_fin(ack));
        if ack > self.in_order && self.origin.is_some() {
            self.beyond = Some((ack, at));
        }
        (self.without_fin(ack) - self.without_fin(before)).max(0) as u64
    }

    /// What was acknowledged before now and had not arrived then is not in the capture: nothing waits for it any longer.
    fn give_up_missed(&mut self, now: Time) {
        if let Some((ack, _)) = self.beyond.take_if(|(_, at)| *at < now)
            && ack > self.in_order
        {
            self.in_order = ack;
            while self.first_waiting_before(ack).is_some() {}
        }
    }

    fn without_fin(&self, offset: i64) -> i64 {
        self.fin.map_or(offset, |fin| offset.min(fin))
    }

    /// DATA_FIN is acknowledged.
    pub(super) fn is_closed(&self) -> bool {
        matches!((self.fin, self.data_ack), (Some(fin), Some(ack)) if ack > fin)
    }

    /// Bytes delivered in order to the application: what was acknowledged at connection level, or, where no
    /// acknowledgement was seen, what arrived in order.
    pub(crate) fn delivered_bytes(&self) -> u64 {
        let Some(origin) = self.origin else { return 0 };
        (self.delivered_to() - origin).max(0) as u64
    }

    fn delivered_to(&self) -> i64 {
        let end = self.without_fin(self.data_ack.unwrap_or(self.in_order));
        // One number more than all that came, where no DATA_FIN was read: its option was cut.
        let one_more = self.fin.is_none() && self.arrived.end().or(self.origin) == Some(end - 1);
        end - i64::from(one_more)
    }

    /// Which subflows brought the delivered bytes.
    pub(crate) fn carried(&mut self) -> &Counted {
        if self.data_ack.is_none() {
            self.carriers.delivered(self.in_order);
        }
        self.carriers.counted()
    }

    /// Bytes acknowledged that never passed: the capture missed them. A capture that began midway did not miss what was in
    /// flight then: what is absent there lies before the first half is over, and all that follows is whole.
    pub(super) fn missed_bytes(&self) -> u64 {
        let Some((origin, _)) = self.origin.zip(self.data_ack) else { return 0 };
        let end = self.delivered_to();
        if !self.from_first_byte && 2 * (self.arrived.whole_from(end) - origin) <= end - origin {
            return 0;
        }
        ((end - origin).max(0) as u64).saturating_sub(self.arrived.total_below(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::PointId;

    fn at(nanos: i64) -> Seen {
        Seen { at: Time::from_nanos(nanos), point: PointId(0), record: 0 }
    }

    /// A segment waits until the one before it has come; one that came twice waits once.
    #[test]
    fn out_of_order_delay_ends_when_the_gap_is_filled() {
        let mut stream = Stream::default();
        stream.begin();
        let mut delays = Vec::new();
        for (start, end, time, subflow) in
            [(0, 10, 0, 0), (20, 30, 5, 0), (30, 40, 6, 1), (20, 30, 7, 1), (10, 20, 9, 1)]
        {
            stream.arrive((start, end), at(time), subflow, |s| delays.push((s.offset, s.subflow, s.delay_nanos)));
        }
        assert_eq!(delays, [(0, 0, 0), (10, 1, 0), (20, 0, 4), (30, 1, 3)]);
        assert_eq!(stream.in_order(), 40);
    }

    #[test]
    fn what_the_capture_missed_is_not_waited_for() {
        let mut stream = Stream::default();
        stream.begin();
        let mut delays = Vec::new();
        for (range, time) in [((0, 10), 0), ((20, 30), 5)] {
            stream.arrive(range, at(time), 0, |s| delays.push(s.offset));
        }
        assert_eq!(stream.data_ack(30, Time::from_nanos(6)), 30);
        stream.arrive((30, 40), at(9), 0, |s| delays.push(s.offset));
        assert_eq!(delays, [0, 30]);
        assert_eq!((stream.delivered_bytes(), stream.missed_bytes()), (30, 10));
    }
}
