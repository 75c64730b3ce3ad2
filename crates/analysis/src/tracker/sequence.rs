//! One direction of one subflow, as seen at one end: which sequence numbers passed, which are acknowledged, and how
//! long that took.

use super::sizes::{Sizes, Windows};
use crate::ranges::Ranges;
use std::collections::VecDeque;
use wire::{Time, seq};

/// Positions count from the first byte after the SYN; where the SYN was not seen, from the first byte that was.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    /// Sequence number of position 0.
    base: Option<u32>,
    /// Position 0 is the first byte of the subflow.
    pub(super) from_syn: bool,
    seen: Ranges,
    outstanding: VecDeque<Sent>,
    /// Highest position acknowledged.
    acked: Option<i64>,
    /// The block that the receiver acknowledged selectively last: the first one holds what came last (RFC 2018 §4).
    pub(super) sacked: Option<(u32, u32)>,
    /// When anything acknowledged was sent last.
    acked_sent_at: Option<Time>,
    /// The shortest round-trip time.
    least_rtt_nanos: Option<u64>,
    /// Position of the FIN.
    pub(super) fin: Option<i64>,
    /// Maximum segment size that the receiver announced.
    pub(super) mss_bytes: Option<u16>,
    /// Receive window that the receiver announced last, scaled.
    pub(super) window_bytes: Option<u64>,
    pub(super) windows: Windows,
    pub(super) sizes: Sizes,
    /// A packet without payload came from behind the first data, of which nothing had passed.
    skips: bool,
}

/// A packet that is not yet acknowledged, or several that the sender's offloads merged: they leave, and are acknowledged, one
/// by one.
#[derive(Clone, Copy, Debug)]
struct Sent {
    start: i64,
    end: i64,
    at: Time,
    /// Payload of each but the last.
    packet_bytes: u32,
    /// Carries payload, not only FIN.
    data: bool,
    /// Sent more than once, or acknowledged in part: gives no round-trip time.
    ambiguous: bool,
}

impl Sent {
    /// Where the packet begins and ends that holds a position. A FIN is in the last one, which has payload too.
    fn packet_of(&self, position: i64, fin: Option<i64>) -> (i64, i64) {
        let bytes = i64::from(self.packet_bytes.max(1));
        let mut start = self.start + (position - self.start).max(0) / bytes * bytes;
        if fin == Some(start) && start > self.start {
            start -= bytes;
        }
        let end = (start + bytes).min(self.end);
        (start, if fin == Some(end) { self.end } else { end })
    }
}

/// What a segment was, compared with what had passed before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Novelty {
    pub(super) new_bytes: u32,
    pub(super) resent_bytes: u32,
    /// New bytes below the highest seen.
    pub(super) fills_gap: bool,
    /// They came at least a round trip after what follows them: the sender sent them again, and the capture never saw them go
    /// before. Sooner it cannot know of a loss, and they were overtaken.
    pub(super) lost_before: bool,
    /// How long after the segment before it what comes again had left first; 0: not known.
    pub(super) apart_nanos: u64,
}

/// What an acknowledgement acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Acknowledged {
    /// Positions acknowledged for the first time.
    pub(super) newly: Option<(i64, i64)>,
    pub(super) rtt_nanos: Option<u64>,
    /// The round-trip time is that of data, not of a FIN alone.
    pub(super) of_data: bool,
}

/// Segments without an acknowledgement beyond this are forgotten, oldest first: the acknowledgements are not in the capture.
const MOST_OUTSTANDING: usize = 1 << 16;

/// Bytes; a window of which the scale is not known may be as wide (RFC 7323 §2.2).
const LARGEST_UNSCALED_WINDOW: u64 = u16::MAX as u64;

impl Sequence {
    /// The SYN passed.
    pub(super) fn begin(&mut self, initial: u32) {
        self.base = Some(initial.wrapping_add(1));
        self.from_syn = true;
    }

    /// What to add to the other end's position to have that of the same byte here: without the SYN, an end counts from
    /// what it saw first.
    #[cold]
    pub(super) fn apart(&self, other: &Sequence) -> i64 {
        match (self.base, other.base) {
            (Some(base), Some(other_base)) if !self.from_syn || !other.from_syn => seq::diff(other_base, base).into(),
            _ => 0,
        }
    }

    /// The end of what was seen.
    pub(super) fn highest(&self) -> Option<i64> {
        self.seen.end()
    }

    /// Sequence number of position 0.
    pub(super) fn base(&self) -> Option<u32> {
        self.base
    }

    /// Position of a sequence number near those seen last.
    pub(super) fn position(&mut self, number: u32) -> i64 {
        let base = *self.base.get_or_insert(number);
        self.near(base, number)
    }

    fn near(&self, base: u32, number: u32) -> i64 {
        let near = self.seen.end().or(self.acked).unwrap_or(0);
        near + i64::from(seq::diff(number, base.wrapping_add(near as u32)))
    }

    /// Whether the side that sends these numbers may say this one next, or have it acknowledged, although the capture lacks
    /// a window of what it sent.
    pub(super) fn may_go_on_with(&self, number: u32) -> bool {
        self.base.is_some_and(|base| {
            let window = self.windows.widest_bytes().max(LARGEST_UNSCALED_WINDOW);
            (-1..=self.seen.end().unwrap_or(0) + window as i64).contains(&self.near(base, number))
        })
    }

    /// A segment passed: `len` bytes of payload from `start`, perhaps with FIN, as packets with `packet_bytes` of it. `new`
    /// gets the new pieces of payload.
    pub(super) fn sent(
        &mut self,
        at: Time,
        start: i64,
        len: u32,
        packet_bytes: u32,
        fin: bool,
        mut new: impl FnMut(i64, i64),
    ) -> Novelty {
        let payload_end = start + i64::from(len);
        let end = payload_end + i64::from(fin);
        if fin {
            self.fin = Some(payload_end);
        }
        if end == start {
            return Novelty::default();
        }
        if self.seen.end().is_none_or(|highest| start >= highest) {
            self.seen.insert(start, end, |_, _| ());
            self.outstanding.push_back(Sent { start, end, at, packet_bytes, data: len > 0, ambiguous: false });
            self.bound();
            if len > 0 {
                new(start, payload_end);
            }
            return Novelty { new_bytes: len, ..Novelty::default() };
        }
        self.sent_again(at, (start, payload_end, end), packet_bytes, new)
    }

    fn sent_again(
        &mut self,
        at: Time,
        (start, payload_end, end): (i64, i64, i64),
        packet_bytes: u32,
        mut new: impl FnMut(i64, i64),
    ) -> Novelty {
        let highest = self.seen.end().unwrap_or(start);
        let mut pieces = Vec::new();
        let new_positions = self.seen.insert(start, end, |from, to| pieces.push((from, to)));
        let old_positions = (end - start) as u64 - new_positions;
        let mut novelty = Novelty::default();
        if old_positions > 0 {
            novelty.apart_nanos = self.apart_nanos(start);
            self.resent(at, start, end, old_positions);
        }
        for (from, to) in pieces {
            let index = self.outstanding.partition_point(|sent| sent.start < from);
            let behind = self.outstanding.get(index).filter(|behind| !behind.ambiguous);
            let late_nanos = behind.map(|behind| (at - behind.at).max(0) as u64);
            novelty.lost_before |= late_nanos.zip(self.least_rtt_nanos).is_some_and(|(late, least)| late >= least);
            let data = from < payload_end;
            self.outstanding.insert(index, Sent { start: from, end: to, at, packet_bytes, data, ambiguous: false });
            let to = to.min(payload_end);
            if from < to {
                new(from, to);
                novelty.new_bytes += (to - from) as u32;
                novelty.fills_gap |= from < highest;
            }
        }
        novelty.resent_bytes = (payload_end - start) as u32 - novelty.new_bytes;
        self.bound();
        novelty
    }

    /// How long after the segment before it the one that holds `start` had left, where neither was sent again; else 0.
    fn apart_nanos(&self, start: i64) -> u64 {
        let first = self.outstanding.partition_point(|sent| sent.end <= start);
        let Some(sent) = self.outstanding.get(first).filter(|sent| sent.start <= start && !sent.ambiguous) else {
            return 0;
        };
        if sent.packet_of(start, self.fin).0 > sent.start {
            return 0;
        }
        let before = match first.checked_sub(1).map(|before| &self.outstanding[before]) {
            Some(before) => Some(before.at).filter(|_| !before.ambiguous),
            None => self.acked_sent_at,
        };
        before.map_or(0, |before| (sent.at - before).max(0) as u64)
    }

    /// Marks what `[start, end)` sends again: nothing of it gives a round-trip time any more, and nothing sent before now
    /// and after it does. As in tcptrace, the time counts for the first segment that is touched.
    fn resent(&mut self, at: Time, start: i64, end: i64, mut positions: u64) {
        let mut first = self.outstanding.partition_point(|sent| sent.end <= start);
        // Of merged packets only those that it touches.
        if let Some(sent) = self.outstanding.get(first) {
            first += usize::from(self.cut(first, sent.packet_of(start, self.fin).0));
        }
        let last = self.outstanding.partition_point(|sent| sent.start < end).saturating_sub(1);
        if let Some(sent) = self.outstanding.get(last) {
            self.cut(last, sent.packet_of(end - 1, self.fin).1);
        }
        let touched = || self.outstanding.range(first..).take_while(|sent| sent.start < end);
        let waiting: i64 = touched().map(|sent| sent.end.min(end) - sent.start.max(start)).sum();
        positions -= waiting as u64;
        let mut timed = positions > 0;
        if timed {
            self.acked_sent_at = Some(at);
        }
        for sent in self.outstanding.range_mut(first..).take_while(|sent| sent.start < end) {
            sent.ambiguous = true;
            if !timed {
                sent.at = at;
                timed = true;
            }
        }
    }

    /// Parts merged packets at a position inside; tells whether it is inside.
    fn cut(&mut self, index: usize, position: i64) -> bool {
        let sent = &mut self.outstanding[index];
        if position <= sent.start || position >= sent.end {
            return false;
        }
        let behind = Sent { start: position, ..*sent };
        sent.end = position;
        self.outstanding.insert(index + 1, behind);
        true
    }

    /// An acknowledgement of everything before `ack` passed.
    ///
    /// A round-trip time is taken from a packet to the first acknowledgement of exactly its end, unless the packet, or
    /// one before it meanwhile, was sent again (Karn's rule, as tcptrace has it).
    pub(super) fn acknowledged(&mut self, at: Time, ack: i64) -> Acknowledged {
        let (mut rtt_nanos, mut of_data) = (None, false);
        let mut sent_at = self.acked_sent_at;
        while let Some(front) = self.outstanding.front_mut() {
            if front.start >= ack {
                break;
            }
            if front.end > ack && !front.ambiguous {
                // Merged packets before the one that it acknowledges in part, or that one, by itself.
                let (from, to) = front.packet_of(ack, self.fin);
                if self.cut(0, from) || self.cut(0, to) {
                    continue;
                }
                self.outstanding[0].ambiguous = true;
                break;
            }
            sent_at = sent_at.max(Some(front.at));
            if front.end == ack && !front.ambiguous && sent_at == Some(front.at) {
                // Before it was sent: the clock was set.
                rtt_nanos = u64::try_from(at - front.at).ok();
                if let Some(nanos) = rtt_nanos {
                    self.least_rtt_nanos = Some(self.least_rtt_nanos.map_or(nanos, |least| least.min(nanos)));
                }
                of_data = front.data;
            }
            if front.end > ack {
                break;
            }
            self.acked_sent_at = sent_at;
            self.outstanding.pop_front();
        }
        let before =
            self.acked.unwrap_or_else(|| if self.from_syn { 0 } else { ack.min(self.seen.start().unwrap_or(ack)) });
        let newly = (ack > before).then_some((before, ack));
        self.acked = Some(before.max(ack));
        Acknowledged { newly, rtt_nanos, of_data }
    }

    /// Whether the number can be the next one of a sender whose SYN was seen, or be acknowledged, when the capture lacks no
    /// more than so many bytes. One less is the SYN's own.
    pub(super) fn may_hold(&mut self, number: u32, lacks_bytes: i64) -> bool {
        let position = self.position(number);
        (-1..=self.seen.end().unwrap_or(0) + lacks_bytes).contains(&position)
    }

    /// Whether an acknowledgement can be true: nobody acknowledges more than was sent (RFC 9293 §3.10.7.4). What the capture
    /// lacks of it may be a window, of which the widest is known but for a quarter; unknown, it is the widest that can be.
    pub(super) fn may_acknowledge(&self, position: i64) -> bool {
        const WIDEST: u64 = (u16::MAX as u64) << 14;
        let Some(highest) = self.seen.end() else { return true };
        if position <= highest {
            return true;
        }
        let known = self.window_bytes.map(|now| 2 * self.windows.widest_bytes().max(now).max(u16::MAX.into()));
        position <= highest.max(self.acked.unwrap_or(highest)) + known.unwrap_or(WIDEST) as i64
    }

    pub(super) fn acked(&self) -> Option<i64> {
        self.acked
    }

    /// Positions acknowledged that never passed: the capture dropped them.
    pub(super) fn missed_bytes(&self) -> u64 {
        let Some(acked) = self.acked else { return 0 };
        let from = if self.from_syn { 0 } else { self.seen.start().unwrap_or(acked).min(acked) };
        ((acked - from).max(0) as u64).saturating_sub(self.seen.total_below(acked))
    }

    /// Whether the receiver's window holds the position, so that a RST there is believed (RFC 9293 §3.5.2). What of the
    /// window is not known holds everything.
    pub(super) fn in_window(&self, position: i64) -> bool {
        let (Some(acked), Some(highest)) = (self.acked, self.seen.end()) else { return true };
        let window = self.window_bytes.unwrap_or(0).max(LARGEST_UNSCALED_WINDOW) as i64;
        (acked..=highest.max(acked.saturating_add(window))).contains(&position)
    }

    /// A packet without payload passed.
    #[inline]
    pub(super) fn bare(&mut self, number: u32) {
        if self.sizes.packets == 0 && self.from_syn && self.base != Some(number) && self.may_go_on_with(number) {
            self.skips |= self.base.is_some_and(|base| self.near(base, number) > 0);
        }
    }

    /// Whether packets without payload, or the FIN, passed from behind data of which nothing did.
    pub(super) fn skips_data(&self) -> bool {
        self.sizes.packets == 0 && (self.skips || self.fin.is_some_and(|fin| fin > 0))
    }

    /// Bytes sent and not yet acknowledged.
    pub(super) fn in_flight_bytes(&self) -> u64 {
        let (Some(end), Some(start)) = (self.seen.end(), self.seen.start()) else {
            return 0;
        };
        (end - self.acked.unwrap_or(start)).max(0) as u64
    }

    pub(super) fn shrink(&mut self) {
        self.outstanding.shrink_to_fit();
    }

    fn bound(&mut self) {
        while self.outstanding.len() > MOST_OUTSTANDING {
            self.outstanding.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn t(nanos: i64) -> Time {
        Time::from_nanos(nanos)
    }

    fn sequence(sent: &[(i64, i64, u32)]) -> Sequence {
        let mut sequence = Sequence::default();
        sequence.begin(u32::MAX - 5);
        for &(at, start, len) in sent {
            sequence.sent(t(at), start, len, len, false, |_, _| ());
        }
        sequence
    }

    #[test]
    fn takes_the_time_to_the_exact_acknowledgement_only() {
        let mut sequence = sequence(&[(0, 0, 10), (1, 10, 10), (2, 20, 10)]);
        assert_eq!(sequence.acknowledged(t(7), 15).rtt_nanos, None, "inside a segment");
        assert_eq!(sequence.acknowledged(t(8), 20).rtt_nanos, None, "after it was acknowledged in part");
        assert_eq!(sequence.acknowledged(t(9), 30).rtt_nanos, Some(7));
        assert_eq!(sequence.acknowledged(t(9), 30).rtt_nanos, None, "duplicate");
    }

    #[test]
    fn what_was_merged_is_acknowledged_packet_by_packet() {
        let mut sequence = Sequence::default();
        sequence.begin(0);
        sequence.sent(t(0), 0, 25, 10, true, |_, _| ());
        assert_eq!(sequence.acknowledged(t(3), 10).rtt_nanos, Some(3));
        assert_eq!(sequence.acknowledged(t(4), 15).rtt_nanos, None, "inside a packet");
        assert_eq!(sequence.acknowledged(t(5), 26).rtt_nanos, Some(5), "the last one, with FIN");
        sequence.sent(t(6), 30, 25, 10, false, |_, _| ());
        // The packet in the middle was lost: what left behind it may have waited for it.
        sequence.sent(t(7), 40, 10, 10, false, |_, _| ());
        assert_eq!(sequence.acknowledged(t(8), 40).rtt_nanos, Some(2));
        assert_eq!(sequence.acknowledged(t(9), 55).rtt_nanos, None);
    }

    #[test]
    fn of_what_was_merged_and_overtaken_or_sent_again_the_other_packets_count() {
        let mut overtaken = sequence(&[(0, 20, 5)]);
        overtaken.sent(t(1), 0, 20, 10, false, |_, _| ());
        assert_eq!(overtaken.acknowledged(t(4), 10).rtt_nanos, Some(3));
        let mut again = Sequence::default();
        again.begin(0);
        again.sent(t(0), 0, 40, 10, false, |_, _| ());
        again.sent(t(5), 20, 10, 10, false, |_, _| ());
        assert_eq!(again.acknowledged(t(6), 10).rtt_nanos, Some(6));
        assert_eq!(again.acknowledged(t(7), 20).rtt_nanos, Some(7));
        assert_eq!(again.acknowledged(t(8), 30).rtt_nanos, None, "sent twice");
        assert_eq!(again.acknowledged(t(9), 40).rtt_nanos, None, "waited for it");
    }

    /// Karn: nothing from what was sent twice, nor from what waited behind it.
    #[test]
    fn takes_no_time_across_a_retransmission() {
        let mut lost = sequence(&[(0, 0, 10), (1, 10, 10), (5, 0, 10), (6, 20, 10)]);
        assert_eq!(lost.acknowledged(t(8), 10).rtt_nanos, None);
        assert_eq!(lost.acknowledged(t(8), 20).rtt_nanos, None);
        assert_eq!(lost.acknowledged(t(9), 30).rtt_nanos, Some(3));
        let mut spurious = sequence(&[(0, 0, 10), (1, 10, 10)]);
        spurious.acknowledged(t(4), 10);
        spurious.sent(t(5), 0, 10, 10, false, |_, _| ());
        assert_eq!(spurious.acknowledged(t(8), 20).rtt_nanos, None);
    }

    #[test]
    fn tells_new_from_old_from_gap() {
        let mut sequence = sequence(&[(0, 0, 10), (1, 20, 10)]);
        let mut pieces = Vec::new();
        let novelty = sequence.sent(t(2), 5, 10, 10, false, |from, to| pieces.push((from, to)));
        assert_eq!(novelty, Novelty { new_bytes: 5, resent_bytes: 5, fills_gap: true, ..Novelty::default() });
        assert_eq!(pieces, [(10, 15)]);
        assert_eq!(sequence.in_flight_bytes(), 30);
    }

    #[test]
    fn what_is_sent_again_had_left_so_long_after_the_segment_before() {
        let apart =
            |sequence: &mut Sequence, at, start| sequence.sent(t(at), start, 10, 10, false, |_, _| ()).apart_nanos;
        let mut sequence = sequence(&[(0, 0, 10), (5, 10, 10), (6, 20, 10)]);
        assert_eq!(apart(&mut sequence, 9, 20), (t(6) - t(5)) as u64);
        assert_eq!(apart(&mut sequence, 10, 20), 0, "not once more");
        sequence.acknowledged(t(11), 10);
        assert_eq!(apart(&mut sequence, 12, 10), (t(5) - t(0)) as u64, "the one before is acknowledged");
    }

    #[test]
    fn positions_survive_wrap_around() {
        let mut sequence = sequence(&[(0, 0, 10)]);
        assert_eq!(sequence.position(4), 9);
        assert_eq!(sequence.position(u32::MAX - 4), 0);
    }
}
