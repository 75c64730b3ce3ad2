//! A subflow: what passed in short times, its time-outs, and silences of a path that held packets up or brought nothing.

use super::bins::Runs;
use super::{Bin, Losses};
use crate::event::Data;
use wire::Time;

/// Linux's least retransmission time-out, and by how much it is longer than a round trip: it waits for 200 ms more, of which some
/// may have passed before the last segment left.
const TIME_OUT_NANOS: i64 = 200_000_000;
const BEYOND_RTT_NANOS: i64 = 100_000_000;
/// So much in flight, and no answer to any of it: a path that brings nothing, not a queue that takes some.
const DEAD_BYTES: u32 = 5000;
/// Where most of that is acknowledged within two round trips of the first answer, and little of it was sent again, it had been held
/// up and not lost.
const UNKNOWN_ANSWER_NANOS: i64 = 200_000_000;
/// An answer is late that takes half as long again as the last round trip, and this much more.
const LATE_NANOS: i64 = 25_000_000;

/// A subflow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flow {
    /// Once all is known.
    pub(crate) bins: Vec<Bin>,
    /// Until then.
    pub(super) filled: Runs<Bin>,
    /// What the time that passes has had so far.
    pub(super) now: Bin,
    /// Segments sent again; none where there were none.
    pub(crate) losses: Option<Box<Losses>>,
    pub(super) last_sent: Option<Time>,
    pub(crate) last_answer: Option<Time>,
    /// Segments came after a gap that nothing has filled yet: what the time-out waits for was lost.
    pub(super) has_gap: bool,
    silence: Option<Silence>,
    /// How long the silence was that the last time-out ended, and no answer since.
    last_silent_nanos: i64,
    pub(super) last_rtt_us: u32,
    /// No round trip was measured since a time-out.
    pub(super) is_rtt_old: bool,
    pub(super) in_flight_bytes: u32,
    /// The last segment came in a gap of the subflow: it was sent again.
    pub(super) fills_gap: bool,
}

/// A path answered to nothing of what was in flight, and a time-out passed.
#[derive(Clone, Copy, Debug)]
struct Silence {
    in_flight_bytes: u32,
    had_gap: bool,
    /// Sent again since, and acknowledged.
    resent_bytes: u32,
    acked_bytes: u32,
    /// Acknowledged by the first answer.
    first_bytes: u32,
    /// The first answer came so long after the last segment that something had been held up on the way; and the receiver reported that
    /// a segment which was sent before had come twice.
    late: bool,
    came_twice: bool,
    /// Two round trips after the first answer, once that came, and no later than all that was in flight is acknowledged: what is
    /// lost then was sent later.
    over: Option<Time>,
}

impl Silence {
    /// Whether what was in flight came through late: the first of it is answered first. A first answer to most of it is one to
    /// what was sent again; the rest had come long before, and its answers were lost on a dead path. But a receiver answers at once
    /// to what comes twice (RFC 2883): where that takes longer than a round trip, the path held it.
    fn was_held(&self) -> bool {
        !self.had_gap
            && (self.first_bytes <= self.in_flight_bytes / 2 || self.late && self.came_twice)
            && self.acked_bytes / 3 >= self.in_flight_bytes / 4
            && self.resent_bytes <= self.in_flight_bytes / 4
    }

    /// Whether an answer may yet come that shows it.
    fn may_show(&self) -> bool {
        self.late && !self.was_held()
    }
}

impl Flow {
    pub(super) fn answered(&mut self, at: Time, acked_bytes: u32) {
        self.now.answered = true;
        self.last_silent_nanos = 0;
        self.last_answer = Some(at);
        if self.silence.is_some() {
            self.broken(at, acked_bytes);
        }
    }

    /// The receiver reported a segment.
    pub(super) fn reported(&mut self, at: Time, twice: bool, gap: bool) {
        self.has_gap |= gap;
        if let Some(silence) = &mut self.silence {
            silence.came_twice |= twice && silence.over.is_none_or(|over| at <= over);
        }
        self.answered(at, 0);
    }

    /// An answer came after a silence.
    #[cold]
    fn broken(&mut self, at: Time, acked_bytes: u32) {
        let Some(silence) = &mut self.silence else { return };
        if silence.over.is_none() {
            let rtt_nanos = i64::from(self.last_rtt_us) * 1000;
            silence.over = Some(at + UNKNOWN_ANSWER_NANOS.max(2 * rtt_nanos));
            // Without a round trip to compare with, no answer is late.
            let is_late = |last| at - last >= rtt_nanos / 2 * 3 + LATE_NANOS;
            silence.late = rtt_nanos > 0 && self.last_sent.is_some_and(is_late);
        }
        if silence.over.is_some_and(|over| at <= over) {
            if silence.acked_bytes == 0 {
                silence.first_bytes = acked_bytes;
            }
            silence.acked_bytes = silence.acked_bytes.saturating_add(acked_bytes);
            if silence.acked_bytes < silence.in_flight_bytes || silence.may_show() {
                return;
            }
        }
        self.now.spurious += u8::from(silence.was_held());
        self.silence = None;
    }

    #[cold]
    pub(super) fn resent(&mut self, at: Time, data: &Data, last: Option<Time>, start: Time) {
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
                    first_bytes: 0,
                    late: false,
                    came_twice: false,
                    over: None,
                });
            }
            let longer = self.last_silent_nanos > 0 && silent_nanos / 3 >= self.last_silent_nanos / 2;
            // An answer to what was sent last: the path works, and lost what came before.
            let works = self.has_gap && last.zip(self.last_answer).is_some_and(|(last, answer)| last < answer);
            self.now.timeouts = self.now.timeouts.saturating_add(u8::from(!works));
            self.now.backed_off = self.now.backed_off.saturating_add(u8::from(longer));
            self.last_silent_nanos = silent_nanos;
            self.is_rtt_old = true;
        }
        if let Some(silence) = &mut self.silence {
            silence.resent_bytes = silence.resent_bytes.saturating_add(data.resent_bytes());
            // That this one came twice would show nothing.
            silence.late &= silence.over.is_none();
            if silence.resent_bytes <= silence.in_flight_bytes {
                return;
            }
            self.silence = None;
        }
        self.now.resent = self.now.resent.saturating_add(1);
        // How long the queue was that lost it, an older round trip does not tell.
        if self.is_rtt_old {
            return;
        }
        let losses = self.losses.get_or_insert_with(|| Losses::new(at));
        losses.add(at, data, self.last_rtt_us, self.in_flight_bytes, start);
    }
}
