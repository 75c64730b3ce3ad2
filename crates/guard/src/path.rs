//! What the guard knows of one path.

use crate::{Cause, Decision, Seen, Settings, Verdict};
use std::collections::VecDeque;
use wire::Time;

/// Of a path whose round-trip time is not known yet (RFC 6298 §2.1 waits for a second).
const UNKNOWN_RTT_NS: i64 = 250_000_000;
/// What a suspicion that proved wrong adds to the margin, at most: so often twice.
const MOST_DOUBTS: u32 = 3;
/// A path that others have overtaken is looked at after so long, twice as long each time that it answers.
const OVERTAKEN_NS: i64 = 1_000_000_000;
/// Probes that are remembered.
const MOST_PROBES: usize = 32;

/// What is made of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It may carry data.
    Good,
    /// It is suspect, and probes are under way.
    Probed,
    /// It is not to carry data.
    Suspended,
    /// Not yet, but it answers.
    OnTrial,
}

pub(crate) struct Path {
    pub state: State,
    /// Whether the host has it.
    pub up: bool,
    pub seen: Seen,
    /// When something was acknowledged last, or data became outstanding; when something came.
    acked: Time,
    received: Option<Time>,
    /// Time between arrivals, as the round-trip time is smoothed.
    gap_ns: i64,
    gap_var_ns: i64,
    /// It answered, or its silence was looked at, since something came.
    is_cleared: bool,
    /// Suspicions that proved wrong lately.
    doubts: u32,
    /// How often it answered since others overtook it.
    overtaken: u32,
    /// Probes that wait for an answer: number and time.
    waiting: VecDeque<(u16, Time)>,
    /// The last probe's round-trip time, and when its answer came.
    probe_rtt_ns: Option<i64>,
    pub answered: Option<Time>,
    /// Since when it is in its state.
    since: Time,
    sent: u32,
    answers: u32,
    last_sent: Time,
    within_ns: i64,
    decision: Decision,
    suspensions: u32,
    suspended: Time,
}

impl Path {
    pub fn new(now: Time) -> Path {
        let decision = Decision {
            verdict: Verdict::Cleared,
            cause: Cause::Silent,
            still_ns: 0,
            patience_ns: 0,
            probes: 0,
            answers: 0,
            within_ns: 0,
        };
        Path {
            state: State::Good,
            up: true,
            seen: Seen::default(),
            acked: now,
            received: None,
            gap_ns: 0,
            gap_var_ns: 0,
            is_cleared: false,
            doubts: 0,
            overtaken: 0,
            waiting: VecDeque::new(),
            probe_rtt_ns: None,
            answered: None,
            since: now,
            sent: 0,
            answers: 0,
            last_sent: now,
            within_ns: 0,
            decision,
            suspensions: 0,
            suspended: now,
        }
    }

    /// It came again: what it was is past, but not how often it failed.
    pub fn came(&mut self, now: Time) {
        let (suspensions, suspended) = (self.suspensions, self.suspended);
        *self = Path { suspensions, suspended, ..Path::new(now) };
    }

    /// Whether it may carry data, as far as is known.
    pub fn is_good(&self) -> bool {
        self.up && self.state == State::Good && self.seen.carries
    }

    /// Takes what is known now; says whether something moved.
    pub fn see(&mut self, now: Time, seen: Seen) -> bool {
        let before = std::mem::replace(&mut self.seen, seen);
        // Sums shrink where a subflow ended.
        let acked = seen.acked_bytes > before.acked_bytes;
        let received = seen.received_bytes > before.received_bytes;
        if acked || seen.outstanding && !before.outstanding || seen.acked_bytes < before.acked_bytes {
            self.acked = now;
        }
        if received {
            if let Some(last) = self.received {
                self.smooth(now - last);
            }
            self.received = Some(now);
            (self.is_cleared, self.overtaken) = (false, 0);
        }
        acked || received
    }

    fn smooth(&mut self, gap_ns: i64) {
        // A pause of the application says nothing of how dense data comes while it does.
        if gap_ns > self.usual_gap_ns().max(50_000_000).saturating_mul(4) {
            return;
        }
        self.gap_var_ns += ((gap_ns - self.gap_ns).abs() - self.gap_var_ns) / 4;
        self.gap_ns += (gap_ns - self.gap_ns) / 8;
    }

    fn usual_gap_ns(&self) -> i64 {
        self.gap_ns + 4 * self.gap_var_ns
    }

    /// The present round-trip time with what it may vary by.
    fn rtt_ns(&self) -> i64 {
        let smooth = self.seen.srtt_ns.map(|srtt| srtt + 4 * self.seen.rttvar_ns);
        smooth.max(self.probe_rtt_ns).unwrap_or(UNKNOWN_RTT_NS)
    }

    fn patience_ns(&self, settings: &Settings) -> i64 {
        self.rtt_ns() + self.margin_ns(settings)
    }

    fn margin_ns(&self, settings: &Settings) -> i64 {
        settings.margin.nanos() << self.doubts
    }

    /// Why it is suspect, if it is; `other` is when data came over another path last.
    pub fn suspicion(&self, now: Time, settings: &Settings, other: Option<Time>) -> Option<Decision> {
        let patience_ns = self.patience_ns(settings);
        let about = |cause, still_ns, patience_ns| Decision {
            verdict: Verdict::Suspect,
            cause,
            still_ns,
            patience_ns,
            probes: 0,
            answers: 0,
            within_ns: 0,
        };
        let stalled_ns = now - self.acked.max(self.since);
        if self.seen.outstanding && stalled_ns > patience_ns {
            return Some(about(Cause::Unacknowledged, stalled_ns, patience_ns));
        }
        let received = self.received?;
        let silent_ns = now - received;
        // Who receives waits for no round trip: data comes as densely as it did, whatever the way is long.
        let patience_ns = self.usual_gap_ns() + self.margin_ns(settings);
        if !self.is_cleared && silent_ns > patience_ns {
            return Some(about(Cause::Silent, silent_ns, patience_ns));
        }
        let patience_ns = patience_ns.max(OVERTAKEN_NS << self.overtaken.min(5));
        let overtaken = other.is_some_and(|other| other > received && other > self.since);
        let still_ns = now - received.max(self.since);
        (overtaken && still_ns > patience_ns).then(|| about(Cause::Overtaken, still_ns, patience_ns))
    }

    /// Probes are to tell.
    pub fn suspect(&mut self, now: Time, settings: &Settings, suspicion: Decision) -> Decision {
        let factor = (settings.probe_factor.0 * 16.0) as i64;
        self.within_ns = settings.probe_timeout.nanos().max(self.rtt_ns() / 16 * factor);
        self.enter(now, State::Probed);
        self.decision = suspicion;
        self.decision
    }

    fn enter(&mut self, now: Time, state: State) {
        (self.state, self.since, self.sent, self.answers) = (state, now, 0, 0);
    }

    /// Whether another probe is due.
    pub fn wants_probe(&self, now: Time, settings: &Settings) -> bool {
        let waited = now - self.last_sent;
        match self.state {
            State::Good => self.answered.is_none() && self.sent < 5 && (self.sent == 0 || waited >= 1_000_000_000),
            State::Probed => {
                // What is not decided after them may stay so for long.
                let spacing = self.within_ns / settings.probes.0 as i64;
                let late = i64::from(self.sent) >= 2 * settings.probes.0 as i64;
                self.sent == 0 || waited >= if late { spacing.max(500_000_000) } else { spacing }
            }
            State::Suspended | State::OnTrial => waited >= settings.trial_interval.nanos().max(self.round_ns() / 4),
        }
    }

    /// In what time an answer is expected of a path on trial.
    fn round_ns(&self) -> i64 {
        self.probe_rtt_ns.map_or(UNKNOWN_RTT_NS, |rtt| rtt * 3).clamp(100_000_000, 2_000_000_000)
    }

    /// A probe goes out.
    pub fn sent(&mut self, now: Time, number: u16) {
        self.sent += 1;
        self.last_sent = now;
        self.waiting.push_back((number, now));
        if self.waiting.len() > MOST_PROBES {
            self.waiting.pop_front();
        }
    }

    /// A probe was answered.
    pub fn answer(&mut self, now: Time, number: u16) {
        let Some(at) = self.waiting.iter().position(|&(waiting, _)| waiting == number) else { return };
        let Some((_, sent)) = self.waiting.remove(at) else { return };
        self.probe_rtt_ns = Some(now - sent);
        self.answered = Some(now);
        if sent >= self.since {
            self.answers += 1;
        }
        if self.state == State::Suspended && sent >= self.since {
            let sent = self.sent;
            self.enter(now, State::OnTrial);
            (self.answers, self.sent) = (1, sent.min(1));
        }
    }

    /// It moved or answered while it was probed.
    pub fn clear(&mut self, now: Time, moved: bool) -> Decision {
        let decision = self.decided(now, Verdict::Cleared);
        if self.decision.cause == Cause::Overtaken {
            self.overtaken += 1;
        }
        self.doubts = (self.doubts + 1).min(MOST_DOUBTS);
        self.is_cleared = !moved;
        self.enter(now, State::Good);
        decision
    }

    pub fn has_answered(&self) -> bool {
        self.answers > 0
    }

    /// Whether probes have had their time.
    pub fn is_overdue(&self, now: Time) -> bool {
        now - self.since >= self.within_ns
    }

    pub fn suspend(&mut self, now: Time, settings: &Settings) -> Decision {
        let decision = self.decided(now, Verdict::Suspended);
        let forgiven = now - self.suspended >= settings.forgive.nanos().max(self.hold_down_ns(settings) * 2);
        self.suspensions = if forgiven { 1 } else { self.suspensions + 1 };
        self.suspended = now;
        self.enter(now, State::Suspended);
        self.waiting.clear();
        decision
    }

    fn hold_down_ns(&self, settings: &Settings) -> i64 {
        let doubled = settings.hold_down.nanos() << self.suspensions.saturating_sub(1).min(16);
        doubled.min(settings.longest_hold_down.nanos())
    }

    /// What a path on trial has come to: whether it may be used again. `alone`: there is no other.
    pub fn judge_trial(&mut self, now: Time, settings: &Settings, alone: bool) -> Option<Decision> {
        let round_ns = self.round_ns();
        let missing = self.waiting.iter().any(|&(_, sent)| sent >= self.since && now - sent > round_ns);
        if missing && !alone {
            // What was answered no more counts for nothing.
            self.enter(now, State::Suspended);
            self.waiting.clear();
            return None;
        }
        let enough =
            f64::from(self.answers) >= settings.trial_answers.0 && now - self.since >= self.hold_down_ns(settings);
        (enough || alone).then(|| self.resume(now, settings, alone))
    }

    /// It may be used again.
    pub fn resume(&mut self, now: Time, settings: &Settings, alone: bool) -> Decision {
        self.within_ns = self.hold_down_ns(settings);
        if alone {
            self.decision.cause = Cause::Alone;
        }
        let decision = self.decided(now, Verdict::Resumed);
        self.enter(now, State::Good);
        (self.acked, self.received, self.doubts) = (now, None, 0);
        self.is_cleared = false;
        decision
    }

    fn decided(&self, now: Time, verdict: Verdict) -> Decision {
        let last = match self.decision.cause {
            Cause::Unacknowledged => self.acked,
            _ => self.received.unwrap_or(self.since),
        };
        Decision {
            verdict,
            still_ns: now - last,
            probes: self.sent,
            answers: self.answers,
            within_ns: self.within_ns,
            ..self.decision
        }
    }

    pub fn received(&self) -> Option<Time> {
        self.received
    }

    pub fn since(&self) -> Time {
        self.since
    }

    /// It moves without having been suspected for long.
    pub fn calm(&mut self, now: Time) {
        if self.doubts > 0 && now - self.since > 10_000_000_000 {
            self.doubts -= 1;
            self.since = now;
        }
    }
}
