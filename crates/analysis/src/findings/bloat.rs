//! A queue on the way that stood long. That it overflows now and then, and loses many packets at once, makes it no shorter.

use super::case::{Case, Cost, Found, s};
use super::remedies::{BBR_BLOAT, Remedy::Said};

/// The least round-trip time in a short time is so many times that of the path, and so much longer, so often.
const TIMES: f64 = 3.0;
const MORE_MS: f64 = 100.0;
const OFTEN: f64 = 0.3;
const LEAST_S: f64 = 1.0;
const FEW_LOSSES_PERCENT: f64 = 0.5;

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    let Some(timeline) = case.sender.filter(|_| case.is_whole()) else { return Vec::new() };
    let mut found = Vec::new();
    for subflow in case.established() {
        let row = &case.report.flows[subflow][case.direction as usize];
        let Some(least_ms) = row.rtt_ms_min else { continue };
        let bound_ms = (TIMES * least_ms).max(least_ms + MORE_MS);
        let measured: Vec<(usize, f64)> = (0..timeline.whole.len())
            .filter_map(|index| Some((index, timeline.of(subflow, index).rtt_us)).filter(|(_, rtt_us)| *rtt_us > 0))
            .map(|(index, rtt_us)| (index, f64::from(rtt_us) / 1e3))
            .collect();
        let high: Vec<usize> =
            measured.iter().filter(|(_, rtt_ms)| *rtt_ms >= bound_ms).map(|(index, _)| *index).collect();
        let high_s = high.len() as f64 * timeline.width_s();
        if high_s < LEAST_S || (high.len() as f64) < OFTEN * measured.len() as f64 {
            continue;
        }
        // Of these times alone: of the whole transfer, most may have had no queue.
        let mut high_ms: Vec<f64> =
            measured.iter().map(|(_, rtt_ms)| *rtt_ms).filter(|rtt_ms| *rtt_ms >= bound_ms).collect();
        high_ms.sort_by(f64::total_cmp);
        let name = case.name(subflow);
        let lost_percent = row.loss_rate_percent.unwrap_or(0.0);
        let lost = if lost_percent < FEW_LOSSES_PERCENT {
            String::new()
        } else {
            format!(", and {lost_percent:.1} % of all its packets were lost")
        };
        found.push(Found {
            kind: "bufferbloat",
            subflow: Some(subflow),
            from_s: case.seconds(timeline, high[0]),
            to_s: case.seconds(timeline, high[high.len() - 1] + 1),
            cost: Cost::Unknown,
            confidence: 0.9,
            message: format!(
                "{name}: a long queue for {}; half of that time, round trips took {:.0} ms and more instead of {:.0} ms: interactive traffic suffers{lost}",
                s(high_s),
                high_ms[high_ms.len() / 2],
                least_ms
            ),
            evidence: format!("even the shortest round trip took {bound_ms:.0} ms or longer in {} of {} intervals of {:.0} ms", high.len(), measured.len(), timeline.width_s() * 1e3),
            remedy: &[Said("active queue management (fq_codel, CAKE) at the bottleneck"), BBR_BLOAT],
        });
    }
    found
}
