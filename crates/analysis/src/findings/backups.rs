//! Backup paths: used while a regular one worked, or idle while none did.

use super::case::{Case, Cost, Found, s};

const LEAST_PART: f64 = 0.05;
const LEAST_S: f64 = 1.0;

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    let Some(timeline) = case.sender.or(case.receiver).filter(|_| case.is_whole() && case.main) else {
        return Vec::new();
    };
    let is_backup = |subflow: &usize| case.report.subflows[*subflow].backup;
    let (backup, regular): (Vec<usize>, Vec<usize>) = case.established().into_iter().partition(is_backup);
    if backup.is_empty() || regular.is_empty() {
        return Vec::new();
    }
    let came = |subflows: &[usize], index: usize| -> f64 {
        subflows.iter().map(|&subflow| f64::from(timeline.of(subflow, index).came_bytes)).sum()
    };
    let both: Vec<usize> =
        (0..timeline.whole.len()).filter(|&index| came(&backup, index) > 0.0 && came(&regular, index) > 0.0).collect();
    let wrong: f64 = both.iter().map(|&index| came(&backup, index)).sum();
    let span_s = both.len() as f64 * timeline.width_s();
    if wrong < LEAST_PART * case.bytes as f64 || span_s < LEAST_S.min(case.elapsed_s / 2.0) {
        return Vec::new();
    }
    let [first, last] = [both[0], both[both.len() - 1]].map(|index| case.seconds(timeline, index));
    vec![Found {
        kind: "backup_used",
        subflow: Some(backup[0]),
        from_s: first,
        to_s: last + timeline.width_s(),
        cost: Cost::Unknown,
        confidence: 0.9,
        message: format!(
            "{} is a backup and carried {:.0} % of the data while {} worked, for {}",
            case.name(backup[0]),
            wrong * 100.0 / case.bytes as f64,
            case.name(regular[0]),
            s(span_s)
        ),
        evidence: format!("subflows: backup; {wrong:.0} bytes over it in times when a regular subflow carried data"),
        remedy: "the flag at the side that sends (ip mptcp endpoint change … backup): each side decides for what it sends",
    }]
}
