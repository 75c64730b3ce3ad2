use super::{Discipline, Item, Limits, Site, Store, stored};
use crate::parameter::{Bytes, Duration, Flag, Number, Packets};
use crate::random::Stream;
use crate::{Out, Reason, parameter};
use parameters::{Fault, fault, parameters};
use wire::Time;

parameters! {
    /// PIE (RFC 8033) drops arriving packets at random to keep the queueing delay near a target. A controller updates
    /// the drop probability every `interval`. The algorithm is that of appendix A, with waiting times measured by time
    /// stamps. Packets are dropped independently of each other. Packets that exceed a limit are dropped as by drop-tail.
    "pie"
    struct Settings {
        /// Limit in bytes.
        bytes: Option<Bytes> = None,
        /// Limit in packets.
        packets: Option<Packets> = None,
        /// Limit in bytes, given as the time in which these bytes leave at the mean rate of the element.
        delay: Option<Duration> = None,
        /// Target of the queueing delay (QDELAY_REF).
        target: Duration = Duration(15_000_000),
        /// Time between updates of the drop probability, at least 100 µs (T_UPDATE).
        interval: Duration = Duration(15_000_000),
        /// Burst that an idle queue accepts without drops, as a time (MAX_BURST).
        burst: Duration = Duration(150_000_000),
        /// Weight of the deviation from the target, per second; at most 1000.
        alpha: Number = Number(0.125),
        /// Weight of the change of the delay, per second; at most 1000.
        beta: Number = Number(1.25),
        /// Whether packets of ECN-capable connections are marked instead of dropped while the drop probability is below
        /// a tenth (RFC 8033 §5.1, RFC 3168). As in Linux, off by default.
        ecn: Flag = Flag(false),
    }
}

/// A millisecond from the target, the probability would be 1 at once.
const MOST_WEIGHT: f64 = 1000.0;
/// MEAN_PKTSIZE.
const MEAN_PACKET_BYTES: u64 = 1024;
/// From this probability on it drops what it could mark: mark_ecnth.
const MOST_MARKED: f64 = 0.1;

pub(super) fn make(settings: Settings, site: &Site) -> Result<Box<dyn Discipline>, Fault> {
    let Settings { bytes, packets, delay, target, interval, burst, alpha, beta, ecn } = settings;
    let interval = parameter::step("interval", interval)?;
    for (name, Number(weight)) in [("alpha", alpha), ("beta", beta)] {
        if !(0.0..=MOST_WEIGHT).contains(&weight) {
            return Err(fault(name, format!("must be from 0 to {MOST_WEIGHT}")));
        }
    }
    Ok(Box::new(Pie {
        store: Store::new(&Limits { bytes, packets, delay }, site),
        stream: site.context.stream("queue"),
        target_s: seconds(target.nanos()),
        interval,
        burst: burst.nanos(),
        weights: [alpha.0, beta.0],
        ecn: ecn.0,
        update: None,
        delay_s: 0.0,
        old_delay_s: 0.0,
        probability: 0.0,
        allowance: 0,
    }))
}

struct Pie {
    store: Store,
    stream: Stream,
    target_s: f64,
    interval: i64,
    burst: i64,
    weights: [f64; 2],
    ecn: bool,
    /// When the next probability is reckoned; none before the first packet.
    update: Option<Time>,
    /// How long the packet that left last had waited; 0 once none waits.
    delay_s: f64,
    old_delay_s: f64,
    probability: f64,
    /// Nanoseconds for which all packets are taken.
    allowance: i64,
}

impl Discipline for Pie {
    /// RFC 8033 appendix A, `enque`.
    fn enqueue(&mut self, mut item: Item, out: &mut Out) {
        self.catch_up(item.at);
        if self.probability == 0.0 && self.delay_s < self.target_s / 2.0 && self.old_delay_s < self.target_s / 2.0 {
            self.allowance = self.burst;
        }
        if !self.store.has_room(&item) {
            item.drop(Reason::QueueFull, out);
        } else if self.allowance == 0 && self.drops_early() && !self.marks(&mut item) {
            item.drop(Reason::QueueManaged, out);
        } else {
            self.store.push(item);
        }
    }

    fn dequeue(&mut self, now: Time, _out: &mut Out) -> Option<Item> {
        self.catch_up(now);
        let item = self.store.pop();
        let waits = item.as_ref().filter(|_| self.store.bytes() > 0);
        self.delay_s = waits.map_or(0.0, |item| seconds(now - item.at));
        item
    }

    stored!();
}

impl Pie {
    /// RFC 8033 appendix A, `drop_early`: a queue that is short anyway keeps its server busy.
    fn drops_early(&mut self) -> bool {
        let is_low = self.old_delay_s < self.target_s / 2.0 && self.probability < 0.2;
        let is_short = self.store.bytes() <= 2 * MEAN_PACKET_BYTES;
        !is_low && !is_short && self.stream.chance(self.probability)
    }

    /// RFC 8033 §5.1; Linux's pie_qdisc_enqueue marks up to the threshold and at it.
    fn marks(&self, item: &mut Item) -> bool {
        self.ecn && self.probability <= MOST_MARKED && item.mark()
    }

    /// Does what was to be done at the end of every interval up to `now`.
    fn catch_up(&mut self, now: Time) {
        let mut update = *self.update.get_or_insert(now + self.interval);
        while update <= now {
            self.reckon();
            update = update + self.interval;
            if self.is_at_rest() && update <= now {
                // Nothing changes any more: on to the first that lies ahead.
                update = update + ((now - update) / self.interval + 1) * self.interval;
            }
        }
        self.update = Some(update);
    }

    /// RFC 8033 appendix A, `calculate_drop_prob`; §4.2 says why the steps are small while the probability is.
    fn reckon(&mut self) {
        let [alpha, beta] = self.weights;
        let change = alpha * (self.delay_s - self.target_s) + beta * (self.delay_s - self.old_delay_s);
        let divisor = match self.probability {
            p if p < 0.000_001 => 2048.0,
            p if p < 0.000_01 => 512.0,
            p if p < 0.000_1 => 128.0,
            p if p < 0.001 => 32.0,
            p if p < 0.01 => 8.0,
            p if p < 0.1 => 2.0,
            _ => 1.0,
        };
        self.probability += change / divisor;
        if self.delay_s == 0.0 && self.old_delay_s == 0.0 {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.old_delay_s = self.delay_s;
        self.allowance = (self.allowance - self.interval).max(0);
    }

    fn is_at_rest(&self) -> bool {
        self.probability == 0.0 && self.delay_s == 0.0 && self.old_delay_s == 0.0 && self.allowance == 0
    }
}

fn seconds(nanos: i64) -> f64 {
    nanos as f64 / 1e9
}
