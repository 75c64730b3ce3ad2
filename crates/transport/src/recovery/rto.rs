//! Round-trip time and retransmission time-out (RFC 6298), with Linux's variant.

use super::least::Least;
use super::wheel;
use crate::config;
use wire::Time;

const GRANULARITY_NS: i64 = 1_000_000; // of the timestamps' clock
const AFTER_LOST_SYN_NS: i64 = 3_000_000_000; // RFC 6298 §5.7

/// The estimator and the back-off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rto {
    min_ns: i64,
    max_ns: i64,
    linux: bool,
    /// Whether it is of whole ticks, before it is doubled (__tcp_set_rto).
    ticks: bool,
    srtt_ns: Option<i64>,
    rttvar_ns: i64,
    least: Least,
    base_ns: i64,
    doublings: u32,
    most_doublings: u32,
    /// The time-out with its back-off, which is asked for more often than it changes.
    timeout_ns: i64,
    spread: Spread,
}

/// Linux takes the greatest deviation within a round trip and lets it sink by a quarter per round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Spread {
    deviation_ns: i64, // four times the mean deviation
    greatest_ns: i64,
    used_ns: i64,
    round_end: u64,
}

impl Rto {
    /// Before any sample.
    pub fn new(settings: &config::Tcp) -> Rto {
        Rto {
            min_ns: settings.min_timeout_ns,
            max_ns: settings.max_timeout_ns,
            linux: settings.linux_timeout,
            ticks: settings.timer_wheel,
            srtt_ns: None,
            rttvar_ns: 0,
            least: Least::default(),
            base_ns: settings.initial_timeout_ns,
            doublings: 0,
            most_doublings: settings.max_backoff.unwrap_or(u32::MAX),
            timeout_ns: settings.initial_timeout_ns.min(settings.max_timeout_ns),
            spread: Spread::default(),
        }
    }

    /// A round-trip time was measured, of a segment that was sent once or whose echo tells which copy it was (Karn).
    /// Everything below `acked` is acknowledged, `next` is to be sent next. Ends the back-off.
    pub fn sample(&mut self, rtt_ns: i64, acked: u64, next: u64) {
        let rtt = rtt_ns.max(1);
        match self.srtt_ns {
            // RFC 6298 §2.2
            None => {
                (self.srtt_ns, self.rttvar_ns) = (Some(rtt), rtt / 2);
                let used_ns = (2 * rtt).max(self.min_ns);
                self.spread = Spread { deviation_ns: 2 * rtt, greatest_ns: used_ns, used_ns, round_end: next };
            }
            // RFC 6298 §2.3: the deviation first, from the old mean
            Some(srtt) => {
                let error = rtt - srtt;
                self.rttvar_ns += (error.abs() - self.rttvar_ns) / 4;
                self.srtt_ns = Some(srtt + error / 8);
                self.spread.sample(error, self.min_ns, acked, next);
            }
        }
        let srtt = self.srtt_ns.unwrap_or(rtt);
        self.base_ns = if self.linux {
            srtt + self.spread.used_ns
        } else {
            (srtt + (4 * self.rttvar_ns).max(GRANULARITY_NS)).max(self.min_ns)
        };
        if self.ticks {
            self.base_ns = wheel::ticks_ns(self.base_ns);
        }
        self.double(0);
    }

    /// A round trip took at most so long (tcp_update_rtt_min).
    #[inline]
    pub fn least(&mut self, now: Time, rtt_ns: i64) {
        self.least.push(now, rtt_ns.max(1));
    }

    /// The time-out with its back-off.
    #[inline]
    pub fn timeout_ns(&self) -> i64 {
        self.timeout_ns
    }

    /// The timer expired (RFC 6298 §5.5).
    pub fn back_off(&mut self) {
        self.double((self.doublings + 1).min(self.most_doublings));
    }

    /// From the first of `times` time-outs in a row to when the next one would come, if each doubled the wait: how long
    /// a peer's silence is borne, whatever the back-off (Linux measures `tcp_retries2` likewise, as a time).
    pub fn patience_ns(&self, times: u32) -> i64 {
        (1..=times).fold(0, |sum: i64, doublings| sum.saturating_add(self.doubled_ns(doublings)))
    }

    /// The handshake is over without a sample, as its SYN was sent more than once (RFC 6298 §5.7).
    pub fn after_lost_syn(&mut self) {
        if self.srtt_ns.is_none() {
            self.base_ns = AFTER_LOST_SYN_NS.max(self.base_ns);
        }
        self.double(0);
    }

    /// Doubles the time-out so many times.
    fn double(&mut self, doublings: u32) {
        (self.doublings, self.timeout_ns) = (doublings, self.doubled_ns(doublings));
    }

    fn doubled_ns(&self, doublings: u32) -> i64 {
        // 2^40 ns are 18 minutes already.
        self.base_ns.checked_mul(1 << doublings.min(30)).map_or(self.max_ns, |ns| ns.min(self.max_ns))
    }

    /// Smoothed round-trip time.
    pub fn srtt_ns(&self) -> Option<i64> {
        self.srtt_ns
    }

    /// Mean deviation.
    pub fn rttvar_ns(&self) -> i64 {
        self.rttvar_ns
    }

    /// Least round-trip time seen in the last minutes.
    pub fn min_rtt_ns(&self) -> Option<i64> {
        self.least.get()
    }
}

impl Spread {
    fn sample(&mut self, error: i64, min_ns: i64, acked: u64, next: u64) {
        let mut change = error.abs() - self.deviation_ns / 4;
        if error < 0 && change > 0 {
            change /= 8; // a falling round-trip time must not raise the time-out
        }
        self.deviation_ns += change;
        if self.deviation_ns > self.greatest_ns {
            self.greatest_ns = self.deviation_ns;
            self.used_ns = self.used_ns.max(self.greatest_ns);
        }
        if acked > self.round_end {
            if self.greatest_ns < self.used_ns {
                self.used_ns -= (self.used_ns - self.greatest_ns) / 4;
            }
            (self.round_end, self.greatest_ns) = (next, min_ns);
        }
    }
}
