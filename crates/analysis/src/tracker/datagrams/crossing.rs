//! Datagrams of a path and direction that pass both ends, known again by what they begin with.

use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use wire::Time;

/// A datagram that passes an end.
#[derive(Clone, Copy)]
pub(super) struct Passed {
    pub(super) digest: u64,
    pub(super) at: Time,
    pub(super) bytes: u32,
}

/// It is fed datagrams of both ends. Which of them is the sender's may be known only at the end.
#[derive(Default)]
pub(super) struct Crossing {
    /// So many passed each end.
    passed: [u64; 2],
    /// Seen at each end and not yet at the other.
    waiting: [Waiting; 2],
    crossed: u64,
    /// The numbers at each end of the first and the last datagram that both show.
    shared: [Option<(u64, u64)>; 2],
    first_at: [Option<Time>; 2],
    last_at: [Option<Time>; 2],
    /// By the end that is taken for the receiver's.
    order: [Order; 2],
    /// Datagrams that an end shows as one were these more at the other.
    merged: [Merged; 2],
    /// More waited than could be kept: what is lost is not known.
    overflowed: bool,
}

/// Offloads of a host that captures show datagrams merged (UDP_SEGMENT, UDP_GRO).
#[derive(Clone, Copy, Default)]
pub(super) struct Merged {
    pub(super) datagrams: u64,
    pub(super) further: u64,
}

#[derive(Default)]
struct Waiting {
    /// Several of one content are numbered behind one another.
    known: FxHashMap<(u64, u32), Entry>,
    order: VecDeque<(u64, u64)>,
}

#[derive(Clone, Copy)]
struct Entry {
    number: u64,
    at: Time,
    bytes: u32,
}

/// Datagrams that arrived after one that was sent later (RFC 4737 §3.3).
#[derive(Default)]
struct Order {
    /// By number at the receiver, then at the sender: clocks may bring them in any order.
    heap: BinaryHeap<Reverse<(u64, u64)>>,
    latest: Option<u64>,
    reordered: u64,
}

/// What lost and reordered datagrams come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    /// None: not known.
    pub(super) lost: Option<u64>,
    pub(super) reordered: Option<u64>,
}

/// Waiting beyond this are given up, oldest first.
const MOST_WAITING: usize = 1 << 16;
/// What was sent so many before one that arrived does not arrive any more.
const MOST_LATE: u64 = 1 << 12;
const MOST_UNORDERED: usize = 1 << 12;
/// Datagrams with one digest that wait.
const MOST_ALIKE: u32 = 8;

impl Crossing {
    /// A datagram passes an end. Where it passed the other, how much later it passes end 1 than end 0, by their clocks.
    pub(super) fn passed(&mut self, end: usize, passed: Passed) -> Option<i64> {
        let number = self.passed[end];
        self.passed[end] += 1;
        self.first_at[end].get_or_insert(passed.at);
        self.last_at[end] = Some(passed.at);
        let expected = self.shared[1 - end].map_or(0, |(_, last)| last + 1);
        let Some(other) = self.waiting[1 - end].take(passed.digest, expected) else {
            let entry = Entry { number, at: passed.at, bytes: passed.bytes };
            self.overflowed |= self.waiting[end].put(passed.digest, entry);
            return None;
        };
        self.crossed += 1;
        let (mut numbers, mut times) = ([number; 2], [passed.at; 2]);
        (numbers[1 - end], times[1 - end]) = (other.number, other.at);
        for (shared, number) in self.shared.iter_mut().zip(numbers) {
            let (first, last) = shared.get_or_insert((number, number));
            (*first, *last) = ((*first).min(number), (*last).max(number));
        }
        self.waiting[1 - end].give_up(other.number.saturating_sub(MOST_LATE));
        for (receiver, order) in self.order.iter_mut().enumerate() {
            order.add(numbers[receiver], numbers[1 - receiver]);
        }
        if passed.bytes != other.bytes {
            let (large, small) = (passed.bytes.max(other.bytes), passed.bytes.min(other.bytes));
            let merged = &mut self.merged[if passed.bytes > other.bytes { end } else { 1 - end }];
            merged.datagrams += 1;
            merged.further += u64::from(large.div_ceil(small.max(1)) - 1);
        }
        Some(times[1] - times[0])
    }

    /// Whether one waits that passed the other end.
    pub(super) fn is_waiting(&self, digest: u64) -> bool {
        self.waiting.iter().any(|waiting| waiting.known.contains_key(&(digest, 0)))
    }

    pub(super) fn merged(&self, end: usize) -> Merged {
        self.merged[end]
    }

    /// When the first and the last datagram passed an end.
    pub(super) fn span(&self, end: usize) -> Option<(Time, Time)> {
        self.first_at[end].zip(self.last_at[end])
    }

    /// What became of the datagrams: lost are those that passed the sender's end between the first and the last that both ends
    /// show, and not the other; before and after these, too, where the receiver's capture was on.
    pub(super) fn outcome(&mut self, sender: usize, (from_start, to_end): (bool, bool)) -> Outcome {
        let receiver = 1 - sender;
        let reordered = (self.crossed > 0).then(|| self.order[receiver].finish());
        let window = |end: usize| {
            let (first, last) = self.shared[end].unwrap_or((0, self.passed[end].saturating_sub(1)));
            let from = if from_start { 0 } else { first };
            let to = if to_end { self.passed[end] } else { last + 1 };
            to.saturating_sub(from)
        };
        let is_merged = self.merged.iter().any(|merged| merged.datagrams > 0);
        let lost = match () {
            () if self.overflowed => None,
            () if self.crossed == 0 && !(from_start && to_end) => None,
            () if is_merged => {
                let [sent, arrived] = [sender, receiver].map(|end| window(end) + self.merged[end].further);
                Some(sent.saturating_sub(arrived))
            }
            () => Some(window(sender).saturating_sub(self.crossed)),
        };
        Outcome { lost, reordered }
    }
}

impl Waiting {
    /// The datagram with this content that was sent nearest to the one expected.
    fn take(&mut self, digest: u64, expected: u64) -> Option<Entry> {
        let alike = (0..MOST_ALIKE).map_while(|n| Some((n, *self.known.get(&(digest, n))?)));
        let (n, entry) = alike.min_by_key(|(_, entry)| entry.number.abs_diff(expected))?;
        self.remove(digest, n);
        Some(entry)
    }

    /// Keeps one; true if that made another go.
    fn put(&mut self, digest: u64, entry: Entry) -> bool {
        let Some(n) = (0..MOST_ALIKE).find(|&n| !self.known.contains_key(&(digest, n))) else { return true };
        self.known.insert((digest, n), entry);
        self.order.push_back((digest, entry.number));
        let mut gone = false;
        while self.known.len() > MOST_WAITING
            && let Some((digest, number)) = self.order.pop_front()
        {
            gone |= self.forget(digest, number);
        }
        gone
    }

    /// Forgets those that have a lower number.
    fn give_up(&mut self, number: u64) {
        while let Some(&(digest, first)) = self.order.front()
            && first < number
        {
            self.order.pop_front();
            self.forget(digest, first);
        }
        // Those that were taken are still in line.
        if self.order.len() > 2 * MOST_WAITING {
            self.order.retain(|(digest, _)| self.known.contains_key(&(*digest, 0)));
        }
    }

    fn forget(&mut self, digest: u64, number: u64) -> bool {
        let n = (0..MOST_ALIKE).find(|&n| self.known.get(&(digest, n)).is_some_and(|entry| entry.number == number));
        n.inspect(|&n| self.remove(digest, n)).is_some()
    }

    /// Takes one out, so that those behind it are still found.
    fn remove(&mut self, digest: u64, n: u32) {
        self.known.remove(&(digest, n));
        for behind in n + 1..MOST_ALIKE {
            let Some(entry) = self.known.remove(&(digest, behind)) else { break };
            self.known.insert((digest, behind - 1), entry);
        }
    }
}

impl Order {
    fn add(&mut self, at_receiver: u64, at_sender: u64) {
        self.heap.push(Reverse((at_receiver, at_sender)));
        if self.heap.len() > MOST_UNORDERED {
            self.next();
        }
    }

    fn next(&mut self) -> bool {
        let Some(Reverse((_, at_sender))) = self.heap.pop() else { return false };
        if self.latest.is_some_and(|latest| at_sender < latest) {
            self.reordered += 1;
        } else {
            self.latest = Some(at_sender);
        }
        true
    }

    fn finish(&mut self) -> u64 {
        while self.next() {}
        self.reordered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cross(sent: &[(u64, i64)], arrived: &[(u64, i64)], receiver_first: bool) -> (Vec<i64>, Outcome) {
        let mut crossing = Crossing::default();
        let mut apart = Vec::new();
        let mut pass = |end, list: &[(u64, i64)]| {
            for &(digest, at) in list {
                apart.extend(crossing.passed(end, Passed { digest, at: Time::from_nanos(at), bytes: 100 }));
            }
        };
        if receiver_first {
            pass(1, arrived);
            pass(0, sent);
        } else {
            pass(0, sent);
            pass(1, arrived);
        }
        apart.sort_unstable();
        (apart, crossing.outcome(0, (true, true)))
    }

    /// RFC 4737 §3.3: of 2, 3, 4, 1 only the last came after one that was sent later; clocks change nothing of that.
    #[test]
    fn what_arrives_after_a_later_one_is_reordered() {
        let sent = [(1, 0), (2, 10), (3, 20), (4, 30), (5, 40)];
        let arrived = [(2, 15), (3, 25), (4, 35), (1, 36)];
        for receiver_first in [false, true] {
            let (apart, outcome) = cross(&sent, &arrived, receiver_first);
            assert_eq!(apart, [5, 5, 5, 36]);
            assert_eq!(outcome, Outcome { lost: Some(1), reordered: Some(1) });
        }
    }

    /// Keep-alives are all the same: each goes with the next one.
    #[test]
    fn of_equal_ones_the_nearest_is_taken() {
        let (apart, outcome) = cross(&[(7, 0), (7, 100), (8, 200)], &[(7, 3), (7, 103), (8, 203)], false);
        assert_eq!(apart, [3, 3, 3]);
        assert_eq!(outcome, Outcome { lost: Some(0), reordered: Some(0) });
    }

    #[test]
    fn before_the_receiver_s_capture_nothing_is_lost() {
        let mut crossing = Crossing::default();
        let passed = |digest| Passed { digest, at: Time::from_nanos(digest as i64), bytes: 100 };
        (0..20).for_each(|digest| assert_eq!(crossing.passed(0, passed(digest)), None));
        [10, 12].iter().for_each(|&digest| assert_eq!(crossing.passed(1, passed(digest)), Some(0)));
        assert_eq!(crossing.outcome(0, (false, false)).lost, Some(1));
        assert_eq!(crossing.outcome(0, (false, true)).lost, Some(8));
        assert_eq!(crossing.outcome(0, (true, true)).lost, Some(18));
    }

    /// A sender's capture before its offload cuts: 3 000 bytes that are 1 200, 1 200 and 600 on the way.
    #[test]
    fn merged_ones_count_as_what_they_were() {
        let mut crossing = Crossing::default();
        let at = Time::from_nanos(0);
        assert_eq!(crossing.passed(0, Passed { digest: 1, at, bytes: 3000 }), None);
        for (digest, bytes) in [(1, 1200), (2, 1200), (3, 600)] {
            crossing.passed(1, Passed { digest, at, bytes });
        }
        assert_eq!(crossing.merged(0).further, 2);
        assert_eq!(crossing.outcome(0, (true, true)).lost, Some(0));
    }

    #[test]
    fn memory_is_bounded() {
        let mut crossing = Crossing::default();
        let at = Time::from_nanos(0);
        for digest in 0..3 * MOST_WAITING as u64 {
            crossing.passed(0, Passed { digest, at, bytes: 1 });
            crossing.passed(1, Passed { digest: !digest, at, bytes: 1 });
        }
        assert!(
            crossing
                .waiting
                .iter()
                .all(|waiting| waiting.known.len() <= MOST_WAITING && waiting.order.len() <= MOST_WAITING)
        );
        assert_eq!(crossing.outcome(0, (true, true)).lost, None);
    }
}
