//! The flight: what was sent and is not acknowledged, a record per segment, and which of it is thought lost.
//!
//! Every counter is kept as records change. Scans remember where they stopped, so that an ACK costs constant time on
//! average: originals are in the order of sending, copies are kept in a queue of their own.

use super::ranges::Ranges;
use crate::subflow::{Piece, cut};
use std::collections::VecDeque;
use std::ops::Range;
use wire::Time;

/// Discontiguous ranges, and one more than full segments, above a segment that make it lost (RFC 6675 §2).
const THRESHOLD: u64 = 3;

/// A segment in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Offset of its first byte.
    pub offset: u64,
    /// What it carries; no bytes for a FIN alone.
    pub piece: Piece,
    /// Whether it carries the FIN.
    pub fin: bool,
    /// When it was sent first.
    pub first_sent: Time,
    /// When it was sent last.
    pub last_sent: Time,
    /// How often it was sent.
    pub transmissions: u32,
    /// Selectively acknowledged.
    pub sacked: bool,
    /// Thought lost.
    pub lost: bool,
    /// A copy of it was sent that is not thought lost.
    pub resent: bool,
}

impl Record {
    /// A segment that is sent now for the first time.
    pub fn new(now: Time, offset: u64, piece: Piece, fin: bool) -> Record {
        let (sacked, lost, resent) = (false, false, false);
        Record { offset, piece, fin, first_sent: now, last_sent: now, transmissions: 1, sacked, lost, resent }
    }

    /// Offset after it.
    pub fn end(&self) -> u64 {
        self.offset + u64::from(self.piece.len) + u64::from(self.fin)
    }

    fn waits(&self) -> bool {
        self.lost && !self.resent
    }
}

/// What a detector thinks of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is lost.
    Lost,
    /// It is if nothing is heard of it for so many nanoseconds.
    Wait(i64),
    /// Nothing says so.
    Unknown,
}

/// The flight.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    records: VecDeque<Record>,
    /// Number of the first record; numbers go up by one for each segment ever sent.
    base: u64,
    counts: Counts,
    lost_ever: u64,
    ranges: Ranges,
    /// No record below is lost and not sent again.
    first_waiting: u64,
    /// No original below is without a verdict.
    first_unjudged: u64,
    /// Copies in the order of sending: number of the record, which transmission.
    copies: VecDeque<(u64, u32)>,
    /// After the highest record sent again (RFC 6675's HighRxt).
    after_resent: u64,
}

/// How many records are so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    sacked: u32,
    lost: u32,
    resent: u32,
    waiting: u32,
}

impl Counts {
    fn come(&mut self, record: &Record) {
        self.sacked += u32::from(record.sacked);
        self.lost += u32::from(record.lost);
        self.resent += u32::from(record.resent);
        self.waiting += u32::from(record.waits());
    }

    fn leave(&mut self, record: &Record) {
        // Nearly all are nothing of that.
        if record.sacked | record.lost | record.resent {
            self.sacked -= u32::from(record.sacked);
            self.lost -= u32::from(record.lost);
            self.resent -= u32::from(record.resent);
            self.waiting -= u32::from(record.waits());
        }
    }
}

impl Scoreboard {
    /// A segment is sent that lies after all others.
    pub fn sent(&mut self, record: Record) {
        self.records.push_back(record);
    }

    /// Everything below `acked` is acknowledged; `delivered` is called with each segment of which this is news. How many
    /// records went.
    pub fn acknowledge(&mut self, acked: u64, mut delivered: impl FnMut(&Record)) -> u32 {
        let mut gone = 0;
        while let Some(record) = self.records.front()
            && record.end() <= acked
        {
            if !record.sacked {
                delivered(record);
            }
            self.counts.leave(record);
            self.records.pop_front();
            self.base += 1;
            gone += 1;
        }
        if !self.ranges.is_empty() {
            self.ranges.trim(acked);
        }
        while self.copies.front().is_some_and(|&(number, _)| number < self.base) {
            self.copies.pop_front();
        }
        gone
    }

    /// The peer says that it has `range`; `delivered` is called with each segment of which this is news.
    #[inline(never)] // only after losses
    pub fn sack(&mut self, range: Range<u64>, mut delivered: impl FnMut(&Record)) {
        let (mut first, mut end) = (u64::MAX, 0);
        let held = self.ranges.insert(range, |new| (first, end) = (first.min(new.start), new.end));
        let at = self.records.partition_point(|record| record.end() <= first);
        for i in at..self.records.len() {
            let record = self.records[i];
            if record.offset >= end {
                break;
            }
            // A segment counts once all of it is there.
            if !record.sacked && held.start <= record.offset && record.end() <= held.end {
                delivered(&record);
                self.change(i, |record| (record.sacked, record.lost, record.resent) = (true, false, false));
            }
        }
    }

    /// Judges, oldest first, what was sent once and then the copies, until nothing more is known. Whether to look again
    /// and when, nanoseconds from now: once the last of those is due that may have been overtaken (RFC 8985 §6.2 step 5).
    pub fn judge(&mut self, verdict: impl Fn(&Record) -> Verdict) -> Option<i64> {
        let mut again: Option<i64> = None;
        let mut at = self.index(self.first_unjudged);
        let mut first_waiting = None;
        while let Some(record) = self.records.get(at) {
            if !record.sacked && !record.lost && record.transmissions == 1 {
                match verdict(record) {
                    Verdict::Lost => self.lose(at),
                    Verdict::Wait(ns) => {
                        again = again.max(Some(ns));
                        first_waiting.get_or_insert(at);
                    }
                    Verdict::Unknown => break,
                }
            }
            at += 1;
        }
        self.first_unjudged = self.base + first_waiting.unwrap_or(at) as u64;
        let mut next = 0;
        while let Some(&(number, transmission)) = self.copies.get(next) {
            let at = number.checked_sub(self.base).map(|at| at as usize);
            if let Some((at, record)) = at.and_then(|at| Some((at, self.records.get(at)?)))
                && record.transmissions == transmission
                && record.resent
            {
                match verdict(record) {
                    Verdict::Lost => self.lose(at),
                    Verdict::Wait(ns) => again = again.max(Some(ns)),
                    Verdict::Unknown => break,
                }
            }
            if next == 0 && !matches!(self.copy_in_flight(number, transmission), Some(true)) {
                self.copies.pop_front();
            } else {
                next += 1;
            }
        }
        again
    }

    /// Whether that transmission of a segment may be in the network; nothing if it was acknowledged.
    fn copy_in_flight(&self, number: u64, transmission: u32) -> Option<bool> {
        let record = self.records.get(number.checked_sub(self.base)? as usize)?;
        Some(record.transmissions == transmission && record.resent)
    }

    /// Takes for lost what has enough selectively acknowledged above it (RFC 6675 §4, IsLost).
    pub fn lose_below_sacked(&mut self, mss_bytes: u32) {
        let (mut ranges, mut bytes) = (0, 0);
        let below = self.ranges.iter().rev().find_map(|range| {
            (ranges, bytes) = (ranges + 1, bytes + range.end - range.start);
            (ranges >= THRESHOLD || bytes > (THRESHOLD - 1) * u64::from(mss_bytes)).then_some(range.start)
        });
        let Some(below) = below else { return };
        let mut at = self.index(self.first_unjudged);
        while let Some(record) = self.records.get(at).filter(|record| record.offset < below) {
            if !record.sacked && !record.lost && record.transmissions == 1 {
                self.lose(at);
            }
            at += 1;
        }
        self.first_unjudged = self.base + at as u64;
    }

    /// Takes the first segment for lost, unless a copy of it is on its way.
    pub fn lose_first(&mut self) {
        if self.records.front().is_some_and(|record| !record.lost && !record.sacked) {
            self.lose(0);
        }
    }

    /// The retransmission timer expired: the first segment is lost, and what is `overdue` of the others but what the peer has.
    /// If it does not have the first segment, that is; if it says that it does, it has thrown away what it had out of order
    /// (RFC 2018 §8).
    pub fn time_out(&mut self, overdue: impl Fn(&Record) -> bool) {
        let thrown_away = self.records.front().is_some_and(|record| record.sacked);
        if thrown_away {
            self.ranges.clear();
            for at in 0..self.records.len() {
                self.change(at, |record| record.sacked = false);
            }
        }
        for at in 0..self.records.len() {
            let record = &self.records[at];
            if !record.sacked && (at == 0 || thrown_away || overdue(record)) {
                self.lose(at);
            }
        }
        (self.first_unjudged, self.after_resent) = (self.base, self.base);
    }

    /// Segments of more than `mss_bytes` did not pass: they are lost, and cut into such as do. Says whether there was one.
    #[cold]
    #[inline(never)]
    pub fn cut(&mut self, mss_bytes: u32) -> bool {
        let is_too_big = |record: &Record| record.piece.len > mss_bytes && !record.sacked;
        if !self.records.iter().any(is_too_big) {
            return false;
        }
        // Where each record comes to be.
        let mut numbers = Vec::with_capacity(self.records.len());
        for record in std::mem::take(&mut self.records) {
            numbers.push(self.base + self.records.len() as u64);
            if !is_too_big(&record) {
                self.records.push_back(record);
                continue;
            }
            self.counts.leave(&record);
            for piece in cut(record.piece, mss_bytes) {
                let offset = record.offset + (piece.data_offset - record.piece.data_offset);
                let is_last = offset + u64::from(piece.len) + u64::from(record.fin) == record.end();
                let part = Record { offset, piece, fin: record.fin && is_last, lost: true, resent: false, ..record };
                self.counts.come(&part);
                self.lost_ever += 1;
                self.records.push_back(part);
            }
        }
        self.copies.retain_mut(|(number, _)| {
            let new = number.checked_sub(self.base).and_then(|at| numbers.get(at as usize));
            new.map(|new| *number = *new).is_some()
        });
        (self.first_waiting, self.first_unjudged, self.after_resent) = (self.base, self.base, self.base);
        true
    }

    /// Nothing was lost: what was thought to be is in the network, or has arrived by now.
    pub fn find_all(&mut self) {
        for at in 0..self.records.len() {
            self.change(at, |record| record.lost = false);
        }
        self.first_unjudged = self.base;
    }

    /// The first segment that is lost and not sent again.
    #[inline]
    pub fn next_lost(&mut self) -> Option<usize> {
        if self.counts.waiting == 0 {
            return None;
        }
        let mut at = self.index(self.first_waiting);
        while !self.records[at].waits() {
            at += 1;
        }
        self.first_waiting = self.base + at as u64;
        Some(at)
    }

    /// RFC 6675 §4 NextSeg rule 3: what was not sent again yet below what the peer has.
    pub fn next_unsure(&mut self) -> Option<usize> {
        let high = self.ranges.end()?;
        let mut at = self.index(self.after_resent);
        while self.records.get(at)?.sacked {
            at += 1;
        }
        self.after_resent = self.base + at as u64;
        (self.records[at].end() <= high).then_some(at)
    }

    /// The last segment that the peer does not have (RFC 6675 §4 NextSeg rule 4; tail loss probes).
    pub fn last_unsacked(&self) -> Option<usize> {
        (0..self.records.len()).rev().find(|&at| !self.records[at].sacked)
    }

    /// A segment, by its index in the flight, is sent again now. The record as it is then.
    pub fn resend(&mut self, at: usize, now: Time, rescue: bool) -> Record {
        self.change(at, |record| {
            (record.last_sent, record.resent) = (now, true);
            record.transmissions += 1;
        });
        let number = self.base + at as u64;
        if !rescue {
            self.after_resent = self.after_resent.max(number + 1);
        }
        self.copies.push_back((number, self.records[at].transmissions));
        self.records[at]
    }

    /// Recovery starts: what was sent again in an earlier one may be again.
    pub fn start_recovery(&mut self) {
        self.after_resent = self.base;
    }

    /// Segments in the flight, arrived or not.
    #[inline]
    pub fn len(&self) -> u32 {
        self.records.len() as u32
    }

    /// Whether everything sent is acknowledged.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Segments thought to be in the network (RFC 6675 §4, in segments as Linux counts).
    #[inline]
    pub fn pipe(&self) -> u32 {
        self.records.len() as u32 + self.counts.resent - self.counts.sacked - self.counts.lost
    }

    /// Segments that were sent again and whose last copy is not thought lost.
    pub fn copies(&self) -> u32 {
        self.counts.resent
    }

    /// Whether nothing in flight was sent more than once, as far as its first segment tells (tcp_any_retrans_done).
    pub fn is_clean(&self) -> bool {
        self.counts.resent == 0 && self.records.front().is_none_or(|record| record.transmissions == 1)
    }

    /// Of the segments in `range` those that were sent again.
    pub fn resent_in(&self, range: &Range<u64>) -> u32 {
        let from = self.records.partition_point(|record| record.offset < range.start);
        let inside = self.records.range(from..).take_while(|record| record.end() <= range.end);
        inside.filter(|record| record.transmissions > 1).count() as u32
    }

    /// Segments selectively acknowledged.
    pub fn sacked(&self) -> u32 {
        self.counts.sacked
    }

    /// Segments thought lost, sent again or not.
    pub fn lost(&self) -> u32 {
        self.counts.lost
    }

    /// Segments lost and not sent again.
    #[inline]
    pub fn waiting(&self) -> u32 {
        self.counts.waiting
    }

    /// Verdicts of loss so far, of originals and copies.
    pub fn lost_ever(&self) -> u64 {
        self.lost_ever
    }

    /// The first segment.
    #[inline]
    pub fn first(&self) -> Option<&Record> {
        self.records.front()
    }

    /// The segments in order.
    pub fn records(&self) -> impl DoubleEndedIterator<Item = &Record> + '_ {
        self.records.iter()
    }

    fn index(&self, number: u64) -> usize {
        number.saturating_sub(self.base) as usize
    }

    fn lose(&mut self, at: usize) {
        if self.records[at].waits() {
            return;
        }
        self.lost_ever += 1;
        self.change(at, |record| (record.lost, record.resent) = (true, false));
        self.first_waiting = self.first_waiting.min(self.base + at as u64);
    }

    fn change(&mut self, at: usize, change: impl FnOnce(&mut Record)) {
        let record = &mut self.records[at];
        self.counts.leave(record);
        change(record);
        self.counts.come(record);
    }
}
