//! Data that had arrived waited for data that a slower path brought.

use super::case::{Case, Cost, Found, s};

const LEAST_PART: f64 = 0.1;
/// The others are held up where less than this part of the usual rate comes.
const SLOW: f64 = 0.5;

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    let Some(timeline) = case.receiver.filter(|_| case.is_whole() && case.main) else { return Vec::new() };
    if case.established().len() < 2 {
        return Vec::new();
    }
    let mut found = Vec::new();
    for subflow in case.established() {
        let own: Vec<(f64, f64)> = timeline
            .stalls
            .iter()
            .filter(|stall| stall.filler == subflow)
            .map(|stall| (case.at(stall.from), case.at(stall.to)))
            .collect();
        let waited_s = union(own.clone());
        if waited_s < LEAST_PART * case.elapsed_s || waited_s < 0.5 {
            continue;
        }
        let mut cost_s = 0.0;
        for &(from_s, to_s) in &own {
            // While other paths bring as much as ever, waiting costs no time.
            let begin_s = case.seconds(timeline, 0);
            for index in timeline.place(from_s - begin_s)..timeline.place(to_s - begin_s) {
                if timeline.came(index) < SLOW * case.best_rate * timeline.width_s() {
                    let at_s = case.seconds(timeline, index);
                    cost_s += case.lost.claim(at_s, at_s + timeline.width_s(), f64::MAX);
                }
            }
        }
        let longest = own.iter().map(|(from_s, to_s)| to_s - from_s).fold(0.0, f64::max);
        found.push(Found {
            kind: "head_of_line",
            subflow: Some(subflow),
            from_s: own[0].0,
            to_s: own[own.len() - 1].1,
            cost: Cost::Seconds(if cost_s >= (LEAST_PART * case.elapsed_s).min(0.5) { cost_s } else { 0.0 }),
            confidence: 0.9,
            message: format!(
                "data waited {} of {} for what {} brought, up to {} at once",
                s(waited_s),
                s(case.elapsed_s),
                case.name(subflow),
                s(longest)
            ),
            evidence: format!(
                "reordering: {} times of 100 ms and more in which this subflow filled the gap",
                own.len()
            ),
            remedy: "a scheduler that heeds delays (blest, ecf), a shorter queue on that path, or the path as backup",
        });
    }
    found
}

/// Length of the times that spans cover together.
fn union(mut spans: Vec<(f64, f64)>) -> f64 {
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut covered, mut end) = (0.0, f64::MIN);
    for (from, to) in spans {
        covered += (to - from.max(end)).max(0.0);
        end = end.max(to);
    }
    covered
}
