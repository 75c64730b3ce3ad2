//! Losses that held a subflow back, and what they look like: a queue that overflows, bursts, or chance.

use super::case::{Case, Cost, Found};
use crate::timeline::Timeline;

const LEAST_PERCENT: f64 = 0.5;
const LEAST_PACKETS: u64 = 20;
/// Losses are spread over as many seconds.
const LEAST_SECONDS: u64 = 3;
/// A queue that overflows is how TCP finds the rate: only more is worth a word.
const QUEUE_PERCENT: f64 = 2.0;
const QUEUE_SECONDS: u64 = 6;
/// A burst has as many packets on average.
const BURST: f64 = 4.0;
/// Before a queue overflows the round trip is this part of the way from its least to its longest.
const FULL: f64 = 0.6;
/// A path whose round trip grows less has no queue to speak of; that it grows by so much shows a long one.
const GROWS: f64 = 1.05;
const GROWS_MS: f64 = 3.0;
const LONG: f64 = 1.3;
/// A queue of a packet or two shows in no round trip. It loses nothing that comes so long after the packet before that it is
/// empty: of the bursts of losses this part began so where chance is to blame.
const ALONE: u64 = 25;
/// Or a longer queue was there to be seen, full in this part of all times, when little was lost.
const OFTEN_FULL: f64 = 0.1;
/// A short one is told from what varies anyway: the round trip is long before losses, and in less than this part of other times.
const ELSE: f64 = 0.5;
/// Or, where a sender such as BBR keeps it filled, the round trip is beyond its median before more than half of the losses, by so
/// many standard deviations: of losses by chance half are. Those of a burst are one, and beyond is more than round trips are told
/// apart by.
const DEVIATIONS: f64 = 3.0;
const BEYOND: f64 = 33.0 / 32.0;
const MOSTLY: f64 = 0.9;

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    let Some(timeline) = case.sender.filter(|_| case.is_whole()) else { return Vec::new() };
    let mut found = Vec::new();
    for subflow in case.established() {
        let row = &case.report.flows[subflow][case.direction as usize];
        // Of merged segments nobody knows which packets were lost together.
        let is_merged = |remark: &tables::Diagnostic| {
            remark.diagnostic == "merged_segments" && remark.subflow == Some(subflow as u32)
        };
        let Some(losses) =
            timeline.flows[subflow].losses.as_ref().filter(|_| !case.report.diagnostics.iter().any(is_merged))
        else {
            continue;
        };
        let (Some(percent), Some(least_ms), Some(median_ms), Some(longest_ms)) =
            (row.loss_rate_percent, row.rtt_ms_min, row.rtt_ms_median, row.rtt_ms_p95)
        else {
            continue;
        };
        if percent < LEAST_PERCENT || losses.count < LEAST_PACKETS || losses.seconds < LEAST_SECONDS {
            continue;
        }
        let before = |part: f64| least_ms + part * (longest_ms - least_ms);
        let full = losses.above(before(FULL) * 1e3);
        let grows = longest_ms >= (GROWS * least_ms).max(least_ms + GROWS_MS);
        let has_queue =
            longest_ms >= LONG * least_ms || grows && part_above(timeline, subflow, before(FULL) * 1e3) < ELSE;
        let long = losses.above(median_ms * BEYOND * 1e3) as f64 / losses.count as f64;
        let often_long = 2.0 * (long - 0.5) * (losses.bursts as f64).sqrt() >= DEVIATIONS;
        let from_queue = (has_queue || grows && often_long) && full * 3 >= losses.count * 2;
        if from_queue && (percent < QUEUE_PERCENT || losses.seconds < QUEUE_SECONDS) {
            continue;
        }
        // Of a few bursts, all of them where round trips are long, nothing tells whether a queue lost them.
        if !from_queue && grows && long >= MOSTLY && !often_long {
            continue;
        }
        let is_seen = has_queue && part_above(timeline, subflow, before(FULL) * 1e3) >= OFTEN_FULL;
        if !from_queue && !is_seen && losses.alone * ALONE < losses.bursts {
            continue;
        }
        let burst = losses.count as f64 / losses.bursts as f64;
        let (kind, what, remedy) = if from_queue {
            (
                "losses_queue",
                "because a queue overflowed",
                "none, if the queue has a sensible length: this is how TCP finds the rate; otherwise active queue management",
            )
        } else if burst >= BURST {
            (
                "losses_bursts",
                "in bursts, not because a queue was full",
                "a congestion control that does not halve its rate at each burst (BBR); look at the radio (handovers, interference)",
            )
        } else {
            (
                "losses_random",
                "at random, not because a queue was full",
                "a congestion control that does not take loss for congestion (BBR), or retransmissions by the radio link",
            )
        };
        let (from_s, to_s) = (case.at(losses.first), case.at(losses.last));
        found.push(Found {
            kind,
            subflow: Some(subflow),
            from_s,
            to_s,
            cost: Cost::Unknown,
            confidence: 0.6,
            message: format!("{} lost {percent:.1} % of its packets {what}", case.name(subflow)),
            evidence: format!(
                "{percent:.2} % of the packets were sent again; {full} of {} losses at round trips of {:.0} ms or longer, as of a full queue; {burst:.1} per burst; {} after a pause",
                losses.count,
                before(FULL),
                losses.alone
            ),
            remedy,
        });
    }
    found
}

/// In what part of short times the least round trip took so long and longer.
fn part_above(timeline: &Timeline, subflow: usize, rtt_us: f64) -> f64 {
    let measured = (0..timeline.whole.len()).map(|index| f64::from(timeline.of(subflow, index).rtt_us));
    let measured: Vec<f64> = measured.filter(|&rtt_us| rtt_us > 0.0).collect();
    measured.iter().filter(|&&measured| measured >= rtt_us).count() as f64 / measured.len().max(1) as f64
}
