//! Losses that held a subflow back, and what they look like: a queue that overflows, bursts, or chance.

use super::case::{Case, Cost, Found};
use super::remedies::{BBR, Remedy, Remedy::Said};
use crate::timeline::Timeline;

const LEAST_PERCENT: f64 = 0.35;
const LEAST_PACKETS: u64 = 20;
/// Or fewer, where a queue stood in no more than this part of the short times, and the application had nothing to send in less.
const FEW_PACKETS: u64 = 10;
const SELDOM: f64 = 0.25;
/// Of a path that loses so much, as many at least of its losses have to be apart.
const FEW_BURSTS: u64 = 6;
/// They slow a sender down that has less in flight after them than this part of what it had before.
const SLOWED: f64 = 0.85;
/// Losses are spread over as many seconds.
const LEAST_SECONDS: u64 = 3;
/// A queue that overflows is how TCP finds the rate: only more than this is worth a word.
const QUEUE_PERCENT: f64 = 2.0;
const QUEUE_SECONDS: u64 = 6;
/// By so many standard deviations: what is close to that may be less the next time.
const VARIES: f64 = 2.0;
/// So it does anew after each pause, in so many round trips.
const ROUND_TRIPS: f64 = 4.0;
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
/// A longer one overflows in the midst of packets: of its bursts of losses less than this part begins after a pause.
const ALONE_IN_QUEUE: u64 = 8;
/// All of them but this part are at the longest round trips: with as many such times as there are, that is chance one time in a
/// hundred at most.
const LEAST_PART: f64 = 0.05;
const BY_CHANCE: f64 = 0.01;
/// So short a queue loses more than this, and hardly anything while round trips are short.
const ONE_PERCENT: f64 = 1.0;
const SHORT_FULL: f64 = 0.75;
/// Or a longer queue was there to be seen, full in this part of all times, when little was lost.
const OFTEN_FULL: f64 = 0.1;
/// A short one is told from what varies anyway: the round trip is long before losses, and in less than this part of other times.
const ELSE: f64 = 0.5;
/// Or, where a sender such as BBR keeps it filled, the round trip is beyond its median before more than half of the losses, by so
/// many standard deviations: of losses by chance half are. Those of a burst are one, and beyond is more than round trips are told
/// apart by.
const DEVIATIONS: f64 = 3.0;
const BEYOND: f64 = 33.0 / 32.0;
/// All but this part of what a queue loses is lost when it is longer than in all but this part of the time.
const SOME: f64 = 0.25;
const USUAL: f64 = 0.2;
const MOSTLY: f64 = 0.9;
/// Round trips vary where the 95th percentile is beyond so many times the median.
const VARY: f64 = 1.1;
/// A queue of fewer packets is none that losses are told apart by.
const SHORT_PACKETS: f64 = 3.0;
const SEVERAL: f64 = 2.0;
const PACKET_BYTES: f64 = 1500.0;
/// Of a part that is next to none or all, so much at least varies.
const LEAST_VARIANCE: f64 = 0.01;

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    let Some(timeline) = case.sender.filter(|_| case.is_whole()) else { return Vec::new() };
    let idle_s = timeline.whole.iter().map(|bin| f64::from(bin.idle_us) / 1e6).sum::<f64>();
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
        let is_often = percent >= LEAST_PERCENT && losses.count >= LEAST_PACKETS;
        let is_held_back = || {
            (losses.count >= FEW_PACKETS || percent >= LEAST_PERCENT && losses.bursts >= FEW_BURSTS)
                && !case.window_bound
                && idle_s < SELDOM * case.elapsed_s
                && timeline.part_above(subflow, LONG * least_ms * 1e3) <= SELDOM
        };
        if losses.seconds < LEAST_SECONDS || !is_often && !is_held_back() {
            continue;
        }
        let before = |part: f64| least_ms + part * (longest_ms - least_ms);
        let full = losses.above(before(FULL) * 1e3);
        let grows = longest_ms >= (GROWS * least_ms).max(least_ms + GROWS_MS);
        let often = timeline.part_above(subflow, before(FULL) * 1e3);
        let has_queue = longest_ms >= LONG * least_ms || grows && often < ELSE;
        let long = losses.above(median_ms * BEYOND * 1e3) as f64 / losses.count as f64;
        let often_long = 2.0 * (long - 0.5) * (losses.bursts as f64).sqrt() >= DEVIATIONS;
        // A short queue that is full most of the time: by chance as many would be lost when it is not.
        let part_full = full as f64 / losses.count as f64;
        let often_full = (part_full - often) * (losses.bursts as f64).sqrt()
            >= DEVIATIONS * (often * (1.0 - often)).max(LEAST_VARIANCE).sqrt();
        // Where round trips vary, a queue that overflows does so at the long ones.
        let at_usual = losses.above(median_ms / BEYOND * 1e3);
        let at_long_ones = longest_ms <= VARY * median_ms || at_usual * 5 >= losses.count * 4;
        // On a slow link a packet alone takes longer than a pause elsewhere. A queue shows in round trips: one that holds packets for
        // twice as long as these vary is none.
        let packet_ms = PACKET_BYTES / timeline.rate(subflow).max(1.0) * 1e3;
        let alone = losses.alone((SHORT_PACKETS * packet_ms).min(SEVERAL * (longest_ms - least_ms)) * 1e3);
        // Jitter makes most round trips longer than the least, too, but loses nothing.
        // Nor does it do so next to always when they are longest; who shares a queue finds it full after a pause of its own.
        let longest_us = longest_ms / BEYOND * 1e3;
        let at_longest = losses.quantile(LEAST_PART) >= longest_us
            && timeline.part_above(subflow, longest_us).powf(losses.bursts as f64) <= BY_CHANCE;
        let in_the_midst = at_longest || alone * ALONE_IN_QUEUE < losses.bursts;
        let from_queue = (has_queue || grows && (often_long || often_full))
            && full * 3 >= losses.count * 2
            && at_long_ones
            && in_the_midst;
        // A controller that is no slower for them, as BBR, keeps a queue filled: it is as long at other times as before
        // most losses by chance.
        if from_queue && losses.left_after() >= SLOWED && timeline.part_above(subflow, losses.quantile(SOME)) >= USUAL {
            continue;
        }
        // Losses come in runs, and how many of those there are varies.
        let is_more = || {
            let runs = losses.runs as f64;
            let counted = runs * (1.0 - after_pauses(timeline, subflow, longest_ms / 1e3));
            let least = runs * QUEUE_PERCENT / percent;
            counted >= least + VARIES * least.sqrt()
        };
        if from_queue && (!is_more() || losses.seconds < QUEUE_SECONDS) {
            continue;
        }
        let burst = losses.count as f64 / losses.runs as f64;
        let often_alone = alone * ALONE >= losses.bursts;
        let by_chance = often_alone && burst < BURST;
        // Of a few bursts, all of them where round trips are long, whether a queue lost them is unknown.
        if !from_queue && grows && !by_chance && long.max(part_full) >= MOSTLY && !often_long {
            continue;
        }
        // A queue of a few packets, which shows in half of the round trips, or loses several at once.
        let at_once = losses.count as f64 / losses.bursts as f64;
        let is_short = longest_ms - least_ms < SHORT_PACKETS * packet_ms;
        let few_full = grows && is_short && !by_chance && (full * 2 >= losses.count || at_once >= SEVERAL);
        let is_seen = has_queue && often >= OFTEN_FULL;
        let may_be_tiny = part_full >= SHORT_FULL || percent >= ONE_PERCENT && burst < BURST;
        let is_unclear = !from_queue && (few_full || !is_seen && may_be_tiny && !often_alone);
        // What a sender such as BBR loses by chance costs it nothing.
        if !from_queue && !is_unclear && burst < BURST && losses.left_after() >= SLOWED {
            continue;
        }
        case.lossy |= !from_queue;
        let (kind, what, remedy): (_, _, &[Remedy]) = if is_unclear {
            (
                "losses_unclear",
                "by chance, or because a queue of a few packets overflowed: nothing tells which",
                &[BBR, Said("a longer queue at the bottleneck, if it has one of a few packets")],
            )
        } else if from_queue {
            (
                "losses_queue",
                "because a queue overflowed",
                &[Said(
                    "none, if the queue has a sensible length: this is how TCP finds the rate; otherwise active queue management",
                )],
            )
        } else if burst >= BURST {
            (
                "losses_bursts",
                "in bursts, not because a queue was full",
                &[BBR, Said("look at the radio (handovers, interference)")],
            )
        } else {
            (
                "losses_random",
                "at random, not because a queue was full",
                &[BBR, Said("retransmissions by the radio link")],
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
                "{percent:.2} % of the packets were sent again; round trips took {:.0} to {:.0} ms before losses (5th and 95th percentile), and {least_ms:.0} to {longest_ms:.0} ms in all (least and 95th percentile){}; {} losses, {burst:.1} per burst, {} after a pause",
                losses.quantile(0.05) / 1e3,
                losses.quantile(0.95) / 1e3,
                if from_queue { ", as of a queue that is full" } else { "" },
                losses.count,
                alone
            ),
            // What one path loses another brings: a sender that no longer slows down for it fills their queues twice.
            remedy: if case.redundant && !from_queue { &remedy[1..] } else { remedy },
        });
    }
    found
}

/// What part of all losses came within a few round trips of a pause of the application: a sender finds the rate anew then.
fn after_pauses(timeline: &Timeline, subflow: usize, rtt_s: f64) -> f64 {
    // Wider bins do not show what came soon after a pause.
    if timeline.width_s() > ROUND_TRIPS * rtt_s {
        return 0.0;
    }
    let soon = (ROUND_TRIPS * rtt_s / timeline.width_s()).ceil() as usize;
    let resent = |index: usize| f64::from(timeline.of(subflow, index).resent);
    let paused = |index: usize| timeline.whole[index.saturating_sub(soon)..=index].iter().any(|bin| bin.idle_us > 0);
    let count = timeline.whole.len();
    let all: f64 = (0..count).map(resent).sum();
    (0..count).filter(|&index| paused(index)).map(resent).sum::<f64>() / all.max(1.0)
}
