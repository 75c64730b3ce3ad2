//! A subflow of BBR: its model and its state machine.

use super::filter::Greatest;
use crate::congestion::{Sample, Window};
use crate::recovery::pacing;
use wire::Time;

const MS: i64 = 1_000_000;
const S: i64 = 1_000 * MS;

// Linux's figures, gains in 256ths as it has them.
const HIGH_GAIN: f64 = 739.0 / 256.0; // 2/ln 2, which doubles the rate in a round
const DRAIN_GAIN: f64 = 88.0 / 256.0;
const CWND_GAIN: f64 = 2.0;
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
const CYCLE_RANDOM: u64 = 7;
const RATE_ROUNDS: u64 = 10;
const MIN_RTT_WINDOW_NS: i64 = 10 * S;
const PROBE_RTT_NS: i64 = 200 * MS;
const LEAST_CWND: f64 = 4.0;
const INITIAL_CWND: f64 = 10.0;
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
const PACING_MARGIN: f64 = 0.99;
const UNKNOWN_RTT_NS: f64 = 1e6;
const EXTRA_ROUNDS: u32 = 5;
const EXTRA_MOST_NS: f64 = 1e8;
const EPOCH_MOST: u64 = 1 << 20;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    /// The rate doubles until the pipe is full.
    #[default]
    Startup,
    /// What that queued leaves.
    Drain,
    /// Around the rate, with a look for more now and then.
    ProbeBw,
    /// Next to nothing in flight, to see the path without its queue.
    ProbeRtt,
}

/// Rates are packets per nanosecond.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    mode: Mode,
    rate: Greatest,
    rounds: u64,
    round_start: bool,
    next_round: u64,
    min_rtt_ns: Option<i64>,
    min_rtt_at: Time,
    probe_rtt_until: Option<Time>,
    probe_rtt_round_done: bool,
    phase: usize,
    phase_at: Time,
    delivered_at: Time,
    full: bool,
    full_rate: f64,
    full_rounds: u32,
    prior_cwnd: f64,
    conserving: bool,
    repairing: bool,
    recovering: bool,
    idle_restart: bool,
    has_seen_rtt: bool,
    bytes_per_second: f64,
    mss_bytes: f64,
    extra: Extra,
    random: u64,
}

/// How far ACKs come in bunches: what they deliver beyond the rate.
#[derive(Clone, Debug, Default)]
struct Extra {
    since: Time,
    acked: u64,
    most: [f64; 2],
    now: usize,
    rounds: u32,
}

impl Flow {
    /// bbr_init
    pub fn new(window: &Window, now: Time, random: u64) -> Flow {
        let mut flow = Flow {
            min_rtt_ns: window.min_rtt_ns,
            min_rtt_at: now,
            phase_at: now,
            delivered_at: now,
            mss_bytes: f64::from(window.mss_bytes),
            extra: Extra { since: now, ..Extra::default() },
            random,
            ..Flow::default()
        };
        flow.pace_from_rtt(window);
        flow
    }

    pub fn bytes_per_second(&self) -> u64 {
        self.bytes_per_second as u64
    }

    pub fn is_probing_rtt(&self) -> bool {
        self.mode == Mode::ProbeRtt
    }

    /// bbr_main
    pub fn delivered(&mut self, window: &mut Window, sample: &Sample) {
        self.mss_bytes = f64::from(window.mss_bytes);
        if sample.packets > 0 {
            self.delivered_at = sample.now;
        }
        self.update_rate(sample);
        self.update_extra(sample, window);
        if self.mode == Mode::ProbeBw && self.is_phase_over(sample) {
            self.next_phase();
        }
        self.look_whether_full(sample);
        self.drain(sample);
        self.update_min_rtt(window, sample);
        self.pace(window);
        self.set_window(window, sample);
    }

    /// bbr_ssthresh
    pub fn lost(&mut self, window: &Window) {
        self.save_cwnd(window);
    }

    /// bbr_set_state
    pub fn timed_out(&mut self) {
        (self.full_rate, self.round_start) = (0.0, true);
        (self.repairing, self.recovering) = (true, false);
    }

    /// bbr_undo_cwnd
    pub fn undone(&mut self) {
        (self.full_rate, self.full_rounds) = (0.0, 0);
    }

    /// bbr_cwnd_event, CA_EVENT_TX_START: what is sent after a pause goes at the rate and no faster.
    pub fn restarted(&mut self, window: &mut Window, now: Time) {
        self.idle_restart = true;
        (self.extra.since, self.extra.acked) = (now, 0);
        match self.mode {
            Mode::ProbeBw => self.pace_at(self.rate.get(), 1.0, window),
            Mode::ProbeRtt => self.end_probe_rtt(window, now),
            Mode::Startup | Mode::Drain => {}
        }
    }

    /// bbr_update_bw
    fn update_rate(&mut self, sample: &Sample) {
        self.round_start = false;
        let Some(rate) = sample.rate else { return };
        if rate.since >= self.next_round {
            self.next_round = sample.delivered;
            self.rounds += 1;
            (self.round_start, self.conserving) = (true, false);
        }
        let value = rate.packets as f64 / rate.interval_ns as f64;
        // What the application held back counts only where it is more.
        if !rate.limited || value >= self.rate.get() {
            self.rate.push(self.rounds, RATE_ROUNDS, value);
        }
    }

    /// bbr_update_ack_aggregation
    fn update_extra(&mut self, sample: &Sample, window: &Window) {
        if sample.packets == 0 || sample.rate.is_none() {
            return;
        }
        let extra = &mut self.extra;
        if self.round_start {
            extra.rounds += 1;
            if extra.rounds >= EXTRA_ROUNDS {
                (extra.rounds, extra.now) = (0, 1 - extra.now);
                extra.most[extra.now] = 0.0;
            }
        }
        let mut expected = (self.rate.get() * (sample.now - extra.since) as f64).floor();
        if extra.acked as f64 <= expected || extra.acked + u64::from(sample.packets) >= EPOCH_MOST {
            (extra.acked, extra.since, expected) = (0, sample.now, 0.0);
        }
        extra.acked += u64::from(sample.packets);
        let more = (extra.acked as f64 - expected).min(window.cwnd_packets);
        extra.most[extra.now] = extra.most[extra.now].max(more);
    }

    /// bbr_is_next_cycle_phase
    fn is_phase_over(&self, sample: &Sample) -> bool {
        let long = self.min_rtt_ns.is_some_and(|rtt_ns| self.delivered_at - self.phase_at > rtt_ns);
        let gain = CYCLE[self.phase];
        let in_flight = f64::from(sample.in_flight_before);
        if gain > 1.0 {
            let sent = in_flight + self.burst_packets();
            long && (sample.lost > 0 || sent >= self.in_flight_at(gain))
        } else if gain < 1.0 {
            long || in_flight <= self.in_flight_at(1.0)
        } else {
            long
        }
    }

    fn next_phase(&mut self) {
        self.phase = (self.phase + 1) % CYCLE.len();
        self.phase_at = self.delivered_at;
    }

    /// bbr_check_full_bw_reached
    fn look_whether_full(&mut self, sample: &Sample) {
        if self.full || !self.round_start || sample.rate.is_some_and(|rate| rate.limited) {
            return;
        }
        if self.rate.get() >= self.full_rate * FULL_GROWTH {
            (self.full_rate, self.full_rounds) = (self.rate.get(), 0);
            return;
        }
        self.full_rounds += 1;
        self.full = self.full_rounds >= FULL_ROUNDS;
    }

    /// bbr_check_drain
    fn drain(&mut self, sample: &Sample) {
        if self.mode == Mode::Startup && self.full {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && f64::from(sample.in_flight) <= self.in_flight_at(1.0) {
            self.begin_probe_bw();
        }
    }

    /// bbr_reset_probe_bw_mode: any phase but that which drains.
    fn begin_probe_bw(&mut self) {
        self.mode = Mode::ProbeBw;
        // SplitMix64
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.phase = CYCLE.len() - 1 - ((mixed ^ (mixed >> 31)) % CYCLE_RANDOM) as usize;
        self.next_phase();
    }

    /// bbr_update_min_rtt
    fn update_min_rtt(&mut self, window: &mut Window, sample: &Sample) {
        let expired = sample.now - self.min_rtt_at > MIN_RTT_WINDOW_NS;
        if let Some(rtt_ns) = sample.rtt_ns
            // A tie does not put PROBE_RTT off.
            && ((expired && !sample.ack_delayed) || self.min_rtt_ns.is_none_or(|least| rtt_ns < least))
        {
            (self.min_rtt_ns, self.min_rtt_at) = (Some(rtt_ns), sample.now);
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            (self.mode, self.probe_rtt_until) = (Mode::ProbeRtt, None);
            self.save_cwnd(window);
        }
        if self.mode == Mode::ProbeRtt {
            if self.probe_rtt_until.is_some() {
                self.probe_rtt_round_done |= self.round_start;
                if self.probe_rtt_round_done {
                    self.end_probe_rtt(window, sample.now);
                }
            } else if f64::from(sample.in_flight) <= LEAST_CWND {
                self.probe_rtt_until = Some(sample.now + PROBE_RTT_NS);
                (self.probe_rtt_round_done, self.next_round) = (false, sample.delivered);
            }
        }
        if sample.rate.is_some_and(|rate| rate.packets > 0) {
            self.idle_restart = false;
        }
    }

    /// bbr_check_probe_rtt_done
    fn end_probe_rtt(&mut self, window: &mut Window, now: Time) {
        if self.probe_rtt_until.is_some_and(|until| now > until) {
            self.min_rtt_at = now;
            window.cwnd_packets = window.cwnd_packets.max(self.prior_cwnd);
            if self.full {
                self.begin_probe_bw();
            } else {
                self.mode = Mode::Startup;
            }
        }
    }

    /// bbr_save_cwnd
    fn save_cwnd(&mut self, window: &Window) {
        let cut = self.repairing || self.mode == Mode::ProbeRtt;
        let least = if cut { self.prior_cwnd } else { 0.0 };
        self.prior_cwnd = window.cwnd_packets.max(least);
    }

    /// bbr_update_gains: of pacing and of the window.
    fn gains(&self) -> (f64, f64) {
        match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw => (CYCLE[self.phase], CWND_GAIN),
            Mode::ProbeRtt => (1.0, 1.0),
        }
    }

    fn pace(&mut self, window: &Window) {
        let (gain, _) = self.gains();
        self.pace_at(self.rate.get(), gain, window);
    }

    /// bbr_set_pacing_rate: before the pipe is full it never sinks.
    fn pace_at(&mut self, rate: f64, gain: f64, window: &Window) {
        if !self.has_seen_rtt && window.srtt_ns.is_some() {
            self.pace_from_rtt(window);
        }
        let paced = self.paced(rate, gain);
        if self.full || paced > self.bytes_per_second {
            self.bytes_per_second = paced;
        }
    }

    /// bbr_init_pacing_rate_from_rtt
    fn pace_from_rtt(&mut self, window: &Window) {
        self.has_seen_rtt = window.srtt_ns.is_some();
        let rtt_ns = window.srtt_ns.map_or(UNKNOWN_RTT_NS, |srtt_ns| srtt_ns.max(1000) as f64);
        self.bytes_per_second = self.paced(window.cwnd_packets / rtt_ns, HIGH_GAIN);
    }

    fn paced(&self, rate: f64, gain: f64) -> f64 {
        rate * self.mss_bytes * gain * 1e9 * PACING_MARGIN
    }

    /// bbr_set_cwnd
    fn set_window(&mut self, window: &mut Window, sample: &Sample) {
        let acked = f64::from(sample.packets);
        if sample.packets > 0 && !self.repairs(window, sample) {
            let (_, gain) = self.gains();
            let target = self.with_bursts(self.in_pipe(gain) + self.extra_packets());
            let grown = window.cwnd_packets + acked;
            if self.full {
                window.cwnd_packets = grown.min(target);
            } else if window.cwnd_packets < target || (sample.delivered as f64) < INITIAL_CWND {
                window.cwnd_packets = grown;
            }
            window.cwnd_packets = window.cwnd_packets.max(LEAST_CWND);
        }
        if self.mode == Mode::ProbeRtt {
            window.cwnd_packets = window.cwnd_packets.min(LEAST_CWND);
        }
    }

    /// bbr_set_cwnd_to_recover_or_restore: in the first round of recovery a packet goes for each that arrived; says
    /// whether it does.
    fn repairs(&mut self, window: &mut Window, sample: &Sample) -> bool {
        let mut cwnd = (window.cwnd_packets - f64::from(sample.lost)).max(1.0);
        let flown = f64::from(sample.in_flight + sample.packets);
        if sample.recovering && !self.recovering {
            (self.conserving, self.next_round) = (true, sample.delivered);
            cwnd = flown;
        } else if self.repairing && !sample.repairing {
            cwnd = cwnd.max(self.prior_cwnd);
            self.conserving = false;
        }
        (self.repairing, self.recovering) = (sample.repairing, sample.recovering);
        window.cwnd_packets = if self.conserving { cwnd.max(flown) } else { cwnd };
        self.conserving
    }

    /// bbr_bdp: what the path holds, times `gain`.
    fn in_pipe(&self, gain: f64) -> f64 {
        let Some(min_rtt_ns) = self.min_rtt_ns else { return INITIAL_CWND };
        (self.rate.get() * min_rtt_ns as f64 * gain).ceil()
    }

    /// bbr_inflight
    fn in_flight_at(&self, gain: f64) -> f64 {
        self.with_bursts(self.in_pipe(gain))
    }

    /// bbr_quantization_budget
    fn with_bursts(&self, packets: f64) -> f64 {
        let packets = packets + 3.0 * self.burst_packets();
        let even = (packets / 2.0).ceil() * 2.0;
        if self.mode == Mode::ProbeBw && self.phase == 0 { even + 2.0 } else { even }
    }

    /// bbr_tso_segs_goal
    fn burst_packets(&self) -> f64 {
        f64::from(pacing::burst_packets(self.bytes_per_second(), self.mss_bytes as u32).min(127))
    }

    /// bbr_ack_aggregation_cwnd
    fn extra_packets(&self) -> f64 {
        if !self.full {
            return 0.0;
        }
        let most = (self.rate.get() * EXTRA_MOST_NS).floor();
        self.extra.most[0].max(self.extra.most[1]).min(most).floor()
    }
}
