//! Data that had arrived waited for data that a slower path brought. What a subflow was slow to bring since it was sent again, for
//! itself or in place of a dead path, is no slow path.

use super::case::{Case, Cost, Found, s};
use super::remedies::{AS_BACKUP, ECF, Remedy, Remedy::Said};

const LEAST_PART: f64 = 0.1;
const LEAST_S: f64 = 0.5;
/// Where data waited for this part of the transfer, its best rate says nothing of what the paths can.
const OFTEN: f64 = 0.3;
/// Where data waited for this part of it, even its best rate may be one that was held up.
const MOSTLY: f64 = 0.75;
/// The others are held up where less than this part of the usual rate comes.
const SLOW: f64 = 0.5;
/// A path that is so many times slower than another one brings less than waiting for it costs.
const MANY_TIMES: f64 = 4.0;
const SHORTER: Remedy = Said("a shorter queue on that path");

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    let Some(timeline) = case.receiver.filter(|_| case.is_whole() && case.main) else { return Vec::new() };
    if case.established().len() < 2 {
        return Vec::new();
    }
    let best = |subflow: usize| timeline.best(|index| f64::from(timeline.of(subflow, index).came_bytes));
    let fastest = case.established().into_iter().map(best).fold(0.0, f64::max);
    let (bytes, elapsed_s) = (case.bytes as f64, case.elapsed_s);
    // As a backup a path spares the wait, and the fastest has to carry what it carried: all of it in no more time than both took.
    let is_spared = |subflow: usize, waited_s: f64| {
        let own = timeline.bytes(subflow, 0..timeline.whole.len());
        best(subflow) * MANY_TIMES <= fastest && own / fastest <= waited_s && bytes / fastest <= elapsed_s
    };
    let mut found = Vec::new();
    for subflow in case.established() {
        let waited = |index: usize| f64::from(timeline.of(subflow, index).waited_us) / 1e6;
        let times: Vec<usize> = (0..timeline.whole.len()).filter(|&index| waited(index) > 0.0).collect();
        let waited_s: f64 = times.iter().map(|&index| waited(index)).sum();
        if waited_s < LEAST_PART * case.elapsed_s || waited_s < LEAST_S {
            continue;
        }
        let mut cost_s = 0.0;
        for &index in &times {
            // While other paths bring as much as ever, waiting costs no time.
            if timeline.came(index) < SLOW * case.best_rate * timeline.width_s() {
                let at_s = case.seconds(timeline, index);
                cost_s += case.lost.claim(at_s, at_s + timeline.width_s(), waited(index));
            }
        }
        // Where data waits for so long, be it for what the path lost, what was best was held up as well: how fast the paths are,
        // nothing tells.
        let held_s: f64 = (0..timeline.whole.len()).map(|index| timeline.of(subflow, index).held_s()).sum();
        let often = held_s >= OFTEN * case.elapsed_s;
        let is_dear = cost_s >= (LEAST_PART * case.elapsed_s).min(LEAST_S);
        let hidden = (case.order_bound || case.window_bound) && case.has_room();
        let cost = match often {
            // Data waits for what a path lost, too, and only the sender shows losses.
            _ if is_dear && (case.changed || case.lossy || case.sender.is_none()) => Cost::Unknown,
            true if is_dear || hidden && waited_s >= MOSTLY * case.elapsed_s => Cost::Unknown,
            // What was best may have been held up as well.
            false if is_dear && !hidden => Cost::AtLeast(cost_s),
            _ => continue,
        };
        let last_s = case.seconds(timeline, times[times.len() - 1] + 1);
        let (from_s, to_s) = (case.seconds(timeline, times[0]), last_s.min(case.end_s()));
        case.blocked = true;
        found.push(Found {
            kind: "head_of_line",
            subflow: Some(subflow),
            from_s,
            to_s,
            cost,
            // A path that loses packets is slow for that.
            confidence: if case.lossy || case.sender.is_none() { 0.6 } else { 0.9 },
            message: format!(
                "data that had arrived waited {} of {} for earlier data from {}",
                s(waited_s),
                s(to_s - from_s),
                case.name(subflow)
            ),
            evidence: format!(
                "data of other subflows waited at least 100 ms at a time for segments of this one, {waited_s:.3} s in all"
            ),
            remedy: if is_spared(subflow, waited_s) { &[ECF, AS_BACKUP, SHORTER] } else { &[ECF, SHORTER] },
        });
    }
    found
}
