//! What the guard knows of one path.

use crate::signal::Signal;
use crate::{Cause, Decision, Seen, Settings, Verdict};
use std::collections::VecDeque;
use wire::Time;

/// Of a path whose round-trip time is not known yet (RFC 6298 §2.1 waits for a second).
const UNKNOWN_RTT_NS: i64 = 250_000_000;
/// What a suspicion that proved wrong adds to the margin, at most: so often twice.
const MOST_DOUBTS: u32 = 3;
/// A path that others have overtaken is looked at after so long, twice as long each time that it answers, so often.
const OVERTAKEN_NS: i64 = 100_000_000;
const MOST_OVERTAKEN: u32 = 8;
/// After so many probes without any answer the next ones are far between.
const MANY_UNANSWERED: u32 = 12;
/// A path that is used again is good for so long before others step behind it, and nothing moves for so long then.
const SETTLED_NS: i64 = 1_000_000_000;
const QUIET_NS: i64 = 50_000_000;
/// With more than this between pauses, order matters little, and subflows that join anew cost more: their receive buffers, of 128 KiB at first, do not grow any more
/// once the connection's is as large as it may be.
const SHORT_BYTES: u64 = 131_072;
/// Probes that are remembered.
const MOST_PROBES: usize = 32;

/// What is made of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It may carry data.
    Good,
    /// It is suspect, or soon will be, and probes are under way.
    Probed,
    /// It is not to carry data.
    Suspended,
    /// Not yet, but it answers.
    OnTrial,
}

struct Waiting {
    number: u16,
    sent: Time,
    /// The path that it is to tell of.
    about: usize,
}

pub(crate) struct Path {
    pub state: State,
    /// Whether the host has it.
    pub up: bool,
    pub seen: Seen,
    pub signal: Signal,
    /// When something was acknowledged last, or data became outstanding; when something came.
    acked: Time,
    received: Option<Time>,
    /// Time between arrivals, as the round-trip time is smoothed.
    gap_ns: i64,
    gap_var_ns: i64,
    /// It answered, or its silence was looked at, since something came.
    is_cleared: bool,
    /// Probes are under way, but it is not suspect yet.
    is_early: bool,
    /// Suspicions that proved wrong lately, for want of acknowledgements and for silence.
    doubts: [u32; 2],
    /// When its subflows joined, and those that it had before it was left; when something moved last, or was under way.
    joined: Time,
    joined_first: Time,
    is_returning: bool,
    moved: Time,
    /// Bytes since the last pause, and the most that there were between two.
    burst_bytes: u64,
    longest_bytes: u64,
    /// How often it answered since others overtook it.
    overtaken: u32,
    /// When a probe that went over another path to tell about this one was answered, and how much later than is usual there.
    witnessed: Option<Time>,
    late_ns: i64,
    /// Probes that wait for an answer.
    waiting: VecDeque<Waiting>,
    /// The last probe's round-trip time, and when its answer came.
    probe_rtt_ns: Option<i64>,
    pub answered: Option<Time>,
    /// Since when it is in its state, and since when it was good last.
    since: Time,
    good_since: Time,
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
            heard_dbm: 0,
        };
        Path {
            state: State::Good,
            up: true,
            seen: Seen::default(),
            signal: Signal::default(),
            acked: now,
            received: None,
            gap_ns: 0,
            gap_var_ns: 0,
            is_cleared: false,
            is_early: false,
            doubts: [0; 2],
            joined: now,
            joined_first: now,
            is_returning: false,
            moved: now,
            burst_bytes: 0,
            longest_bytes: 0,
            overtaken: 0,
            witnessed: None,
            late_ns: 0,
            waiting: VecDeque::new(),
            probe_rtt_ns: None,
            answered: None,
            since: now,
            good_since: now,
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
        let signal = std::mem::take(&mut self.signal);
        *self = Path { suspensions, suspended, signal, ..Path::new(now) };
    }

    /// Whether it may carry data, as far as is known.
    pub fn is_good(&self) -> bool {
        self.up && self.state == State::Good && self.seen.carries
    }

    /// Takes what is known now; where something moved, says how long nothing had.
    pub fn see(&mut self, now: Time, seen: Seen) -> Option<i64> {
        let still_ns = self.still_ns(now);
        let before = std::mem::replace(&mut self.seen, seen);
        // Sums shrink where a subflow ended.
        let acked = seen.acked_bytes > before.acked_bytes;
        let received = seen.received_bytes > before.received_bytes;
        if seen.carries && !before.carries {
            self.joined = now;
            if !std::mem::take(&mut self.is_returning) {
                (self.joined_first, self.longest_bytes) = (now, 0);
            }
        }
        self.count(now, &before);
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
        (acked || received).then_some(still_ns)
    }

    /// What moved between two pauses.
    fn count(&mut self, now: Time, before: &Seen) {
        let acked_bytes = self.seen.acked_bytes.saturating_sub(before.acked_bytes);
        let bytes = acked_bytes + self.seen.received_bytes.saturating_sub(before.received_bytes);
        if bytes == 0 && !self.seen.outstanding {
            return;
        }
        if self.is_quiet(now) {
            self.burst_bytes = 0;
        }
        self.burst_bytes += bytes;
        self.longest_bytes = self.longest_bytes.max(self.burst_bytes);
        self.moved = now;
    }

    fn is_quiet(&self, now: Time) -> bool {
        now - self.moved >= QUIET_NS
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
    pub fn rtt_ns(&self) -> i64 {
        let smooth = self.seen.srtt_ns.map(|srtt| srtt + 4 * self.seen.rttvar_ns);
        smooth.max(self.probe_rtt_ns).unwrap_or(UNKNOWN_RTT_NS)
    }

    fn margin_ns(&self, settings: &Settings, cause: Cause) -> i64 {
        doubled(settings.margin.nanos(), self.doubts[kind(cause)])
    }

    /// Why it is suspect, if it is; `other` is when data came over another path last. `early`: why it soon will be.
    pub fn suspicion(&self, now: Time, settings: &Settings, other: Option<Time>, early: bool) -> Option<Decision> {
        // Probes take a round trip at least: they set out before patience is at its end.
        let early = |patience_ns: i64| if early { patience_ns / 2 } else { patience_ns };
        let patience_ns = self.rtt_ns().saturating_add(self.margin_ns(settings, Cause::Unacknowledged));
        let about = |cause, still_ns, patience_ns| Decision {
            verdict: Verdict::Suspect,
            cause,
            still_ns,
            patience_ns,
            probes: 0,
            answers: 0,
            within_ns: 0,
            heard_dbm: 0,
        };
        let stalled_ns = now - self.acked.max(self.good_since);
        if self.seen.outstanding && stalled_ns > early(patience_ns) {
            return Some(about(Cause::Unacknowledged, stalled_ns, patience_ns));
        }
        let received = self.received?;
        let silent_ns = now - received;
        // Who receives waits for no round trip: data comes as densely as it did, whatever the way is long.
        let patience_ns = self.usual_gap_ns().saturating_add(self.margin_ns(settings, Cause::Silent));
        if !self.is_cleared && silent_ns > early(patience_ns) {
            return Some(about(Cause::Silent, silent_ns, patience_ns));
        }
        let patience_ns = doubled(OVERTAKEN_NS, self.overtaken.min(MOST_OVERTAKEN));
        let overtaken = other.is_some_and(|other| other > received && other > self.good_since);
        let still_ns = now - received.max(self.good_since);
        (overtaken && still_ns > patience_ns).then(|| about(Cause::Overtaken, still_ns, patience_ns))
    }

    /// Probes are to tell, before it is suspect.
    pub fn ask(&mut self, now: Time, settings: &Settings, suspicion: Decision) {
        let sixteenths = (settings.probe_factor.0 * 16.0) as i64;
        self.within_ns = settings.probe_timeout.nanos().max((self.rtt_ns() / 16).saturating_mul(sixteenths));
        self.enter(now, State::Probed);
        self.is_early = true;
        self.decision = suspicion;
    }

    /// It is suspect by now; or not yet.
    pub fn suspect(&mut self, now: Time, settings: &Settings, suspicion: Option<Decision>) -> Option<Decision> {
        let mut suspicion = suspicion?;
        suspicion.probes = self.sent;
        // That others deliver is no wonder, so that it says nothing until an answer is late.
        if suspicion.cause == Cause::Overtaken && now - self.since < settings.margin.nanos() {
            return None;
        }
        self.is_early = false;
        self.decision = suspicion;
        Some(suspicion)
    }

    /// Whether probes are under way although it is not suspect yet.
    pub fn is_early(&self) -> bool {
        self.is_early
    }

    fn enter(&mut self, now: Time, state: State) {
        (self.state, self.since, self.sent, self.answers, self.is_early) = (state, now, 0, 0, false);
        self.late_ns = 0;
        if state == State::Good {
            self.good_since = now;
        }
    }

    /// How many probes are due. Who could not look for a while sends all that became due meanwhile, rather than one at each look.
    pub fn probes_due(&self, now: Time, settings: &Settings) -> u32 {
        let enough = settings.probes.0 as u32;
        if self.state == State::Probed && (1..enough).contains(&self.sent) {
            return (self.sent..enough).take_while(|&sent| now - self.since >= self.due_ns(sent, settings)).count()
                as u32;
        }
        u32::from(self.wants_probe(now, settings))
    }

    /// When the next one over a path that is probed is due; none: not before long.
    pub fn probe_due(&self, settings: &Settings) -> Option<Time> {
        (self.sent > 0 && !self.is_undecided(settings)).then(|| self.since + self.due_ns(self.sent, settings))
    }

    fn wants_probe(&self, now: Time, settings: &Settings) -> bool {
        let waited = now - self.last_sent;
        match self.state {
            // Who has never answered is asked again and again: now and then, once that is no news.
            State::Good => {
                let spacing = if self.sent < MANY_UNANSWERED { 500_000_000 } else { 10_000_000_000 };
                self.seen.carries && self.answered.is_none() && (self.sent == 0 || waited >= spacing)
            }
            State::Probed => {
                // Each is due by its number, not so long after the last: what a tick came late does not add up.
                let is_due = now - self.since >= self.due_ns(self.sent, settings);
                self.sent == 0 || if self.is_undecided(settings) { waited >= 500_000_000 } else { is_due }
            }
            State::Suspended | State::OnTrial => waited >= settings.trial_interval.nanos().max(self.round_ns() / 4),
        }
    }

    /// When the next probe is due after so many, from the first on. That one may well be answered in the first quarter of the time; the others go out in the second,
    /// so that each has half of it.
    fn due_ns(&self, sent: u32, settings: &Settings) -> i64 {
        let (quarter_ns, sent, enough) = (self.within_ns / 4, i64::from(sent), settings.probes.0 as i64);
        if sent < enough {
            return quarter_ns + quarter_ns / (enough - 1) * sent;
        }
        quarter_ns.saturating_mul(3 + sent - enough)
    }

    /// Whether so many probes are out that what is not decided after them may stay so for long.
    pub fn is_undecided(&self, settings: &Settings) -> bool {
        i64::from(self.sent) >= 2 * settings.probes.0 as i64
    }

    /// In what time an answer is expected of a path on trial.
    fn round_ns(&self) -> i64 {
        self.probe_rtt_ns.map_or(UNKNOWN_RTT_NS, |rtt| rtt * 3).clamp(100_000_000, 2_000_000_000)
    }

    /// A probe went out, to tell of the path with the index `about`.
    pub fn sent(&mut self, now: Time, number: u16, about: usize) {
        self.sent = self.sent.saturating_add(1);
        self.last_sent = now;
        self.waiting.push_back(Waiting { number, sent: now, about });
        if self.waiting.len() > MOST_PROBES {
            self.waiting.pop_front();
        }
    }

    /// A probe was answered; gives the path that it was to tell of, and when it was sent.
    pub fn answer(&mut self, now: Time, number: u16) -> Option<(usize, Time)> {
        let at = self.waiting.iter().position(|waiting| waiting.number == number)?;
        let Waiting { sent, about, .. } = self.waiting.remove(at)?;
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
        Some((about, sent))
    }

    /// A probe over another path, to tell of this one, was answered, which there usually takes so long. Where that answer was
    /// late, this one may be: the peer's host or this one is busy.
    pub fn witness(&mut self, now: Time, sent: Time, usual_ns: i64) {
        if sent >= self.since {
            self.witnessed = Some(now);
            self.late_ns = self.late_ns.max(now - sent - usual_ns);
        }
    }

    /// Whether it carries what a quicker path would that stood before it until that was left: Linux takes the first of those that have nothing under way, and who joins
    /// stands last.
    pub fn is_ahead_of(&self, now: Time, other: &Path) -> bool {
        let pauses = |path: &Path| path.is_quiet(now) && path.longest_bytes <= SHORT_BYTES;
        let rtts = other.seen.srtt_ns.zip(self.seen.srtt_ns);
        other.joined_first < self.joined
            && self.joined < other.joined
            && self.moved - other.joined >= SETTLED_NS
            && pauses(self)
            && pauses(other)
            && rtts.is_some_and(|(quick, slow)| quick + quick / 4 < slow)
    }

    /// It is left for a moment, so that its subflows join anew; that says nothing of how good it is.
    pub fn step_behind(&mut self, now: Time, settings: &Settings) -> Decision {
        let (suspensions, suspended) = (self.suspensions, self.suspended);
        let decision = self.leave(now, settings, Cause::Ahead);
        (self.suspensions, self.suspended) = (suspensions, suspended);
        // Also if its subflows stay, since this cannot be done or is only reported: once is enough.
        (self.joined, self.joined_first) = (now, now);
        decision
    }

    /// Whether it was left for its position only.
    pub fn has_stepped(&self) -> bool {
        self.decision.cause == Cause::Ahead
    }

    /// A new connection has an order of its own.
    pub fn forget_order(&mut self) {
        self.is_returning = false;
    }

    /// Whether another path answered since this one was asked.
    pub fn is_witnessed(&self) -> bool {
        self.witnessed.is_some_and(|at| at >= self.since)
    }

    /// Answers of earlier prove nothing more: others are asked from now on.
    pub fn ask_anew(&mut self) {
        self.answered = None;
        self.waiting.clear();
        if self.state == State::Good {
            self.sent = 0;
        }
    }

    /// It moved after so long or answered while it was probed; what nobody suspected is no decision.
    pub fn clear(&mut self, now: Time, moved: Option<i64>) -> Option<Decision> {
        let still_ns = moved.unwrap_or_else(|| self.still_ns(now));
        let decision = (!self.is_early).then(|| Decision { still_ns, ..self.decided(now, Verdict::Cleared) });
        if self.decision.cause == Cause::Overtaken {
            self.overtaken += 1;
        }
        if decision.is_some() && self.decision.cause != Cause::Overtaken {
            let doubts = &mut self.doubts[kind(self.decision.cause)];
            *doubts = (*doubts + 1).min(MOST_DOUBTS);
        }
        self.is_cleared = moved.is_none();
        self.enter(now, State::Good);
        decision
    }

    pub fn has_answered(&self) -> bool {
        self.answers > 0
    }

    /// Whether enough probes have had their time.
    pub fn is_overdue(&self, now: Time, settings: &Settings) -> bool {
        let wait_ns = self.within_ns / 2 + self.late_ns;
        let due = |waiting: &&Waiting| waiting.sent >= self.since && now - waiting.sent >= wait_ns;
        self.waiting.iter().filter(due).count() >= settings.probes.0 as usize
    }

    pub fn suspend(&mut self, now: Time, settings: &Settings) -> Decision {
        let decision = self.decided(now, Verdict::Suspended);
        let past_ns = settings.forgive.nanos().max(self.hold_down_ns(settings).saturating_mul(2));
        let forgiven = now - self.suspended >= past_ns;
        self.suspensions = if forgiven { 1 } else { self.suspensions + 1 };
        self.suspended = now;
        self.enter(now, State::Suspended);
        self.waiting.clear();
        decision
    }

    fn hold_down_ns(&self, settings: &Settings) -> i64 {
        // Who only stepped behind has failed at nothing.
        let failures = if self.has_stepped() { 0 } else { self.suspensions.saturating_sub(1) };
        doubled(settings.hold_down.nanos(), failures).min(settings.longest_hold_down.nanos())
    }

    /// What a path on trial has come to: whether it may be used again. `alone`: there is no other.
    pub fn judge_trial(&mut self, now: Time, settings: &Settings, alone: bool) -> Option<Decision> {
        let round_ns = self.round_ns();
        let missing = self.waiting.iter().any(|&Waiting { sent, .. }| sent >= self.since && now - sent > round_ns);
        if missing && !alone {
            // What was answered no more counts for nothing.
            self.enter(now, State::Suspended);
            self.waiting.clear();
            return None;
        }
        let enough = !self.signal.is_weak()
            && f64::from(self.answers) >= settings.trial_answers.0
            && now - self.since >= self.hold_down_ns(settings);
        (enough || alone).then(|| self.resume(now, settings, alone.then_some(Cause::Alone)))
    }

    /// It may be used again.
    pub fn resume(&mut self, now: Time, settings: &Settings, cause: Option<Cause>) -> Decision {
        self.within_ns = self.hold_down_ns(settings);
        self.decision.cause = cause.unwrap_or(self.decision.cause);
        let decision = self.decided(now, Verdict::Resumed);
        self.enter(now, State::Good);
        (self.acked, self.received, self.doubts) = (now, None, [0; 2]);
        self.is_cleared = false;
        self.is_returning = !self.seen.carries && self.decision.cause != Cause::Ahead;
        decision
    }

    /// For how long what it was suspected for has lasted.
    fn still_ns(&self, now: Time) -> i64 {
        let received = self.received.unwrap_or(self.since);
        now - match self.decision.cause {
            Cause::Unacknowledged => self.acked.max(self.good_since),
            Cause::Overtaken => received.max(self.good_since),
            _ => received,
        }
    }

    fn decided(&self, now: Time, verdict: Verdict) -> Decision {
        Decision {
            verdict,
            still_ns: self.still_ns(now),
            probes: self.sent,
            answers: self.answers,
            within_ns: self.within_ns,
            ..self.decision
        }
    }

    pub fn received(&self) -> Option<Time> {
        self.received
    }

    /// It moves without having been suspected for long.
    pub fn calm(&mut self, now: Time) {
        if self.doubts != [0; 2] && now - self.since > 10_000_000_000 {
            self.doubts = self.doubts.map(|doubts| doubts.saturating_sub(1));
            self.since = now;
        }
    }

    /// The host lost it, an earlier guard had left it, or its radio hears too little: it is not used until it answers.
    pub fn leave(&mut self, now: Time, settings: &Settings, cause: Cause) -> Decision {
        self.decision.cause = cause;
        self.decision.heard_dbm = if cause == Cause::Weak { self.signal.dbm() } else { 0 };
        (self.within_ns, self.sent, self.answers) = (0, 0, 0);
        self.suspend(now, settings)
    }
}

fn kind(cause: Cause) -> usize {
    usize::from(cause != Cause::Unacknowledged)
}

fn doubled(ns: i64, times: u32) -> i64 {
    ns.saturating_mul(1 << times.min(16))
}
