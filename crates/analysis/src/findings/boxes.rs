//! What middleboxes do that costs time, from captures of both ends; and subflows that a NAT has forgotten.

use super::case::{Case, Cost, Found, s};
use super::remedies::{KEEP_ALIVE, Remedy, SMALLER_SEGMENTS};
use super::stops;
use crate::report::Report;
use tables::Event;

/// No NAT forgets sooner. After a shorter pause without an answer the path is dead, as far as packets show.
const FORGETS_S: f64 = 5.0;

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    let mut found = Vec::new();
    let begin_s = case.begin_s;
    let boxes: [(_, _, &[Remedy]); 3] = [
        (
            "mss_clamped",
            "a middlebox lowers the maximum segment size",
            &[Remedy::Said("none, if the path is a tunnel; otherwise look at the middlebox's MSS clamping")],
        ),
        (
            "window_clamped",
            "a middlebox shrinks the receive window",
            &[Remedy::Said("a middlebox that leaves window scaling (RFC 7323) intact")],
        ),
        ("large_segments_lost", "full-size packets are lost on the path", &[SMALLER_SEGMENTS]),
    ];
    for (name, what, remedy) in boxes {
        let Some(row) = case.diagnosed(name).filter(|_| case.main) else { continue };
        let subflow = row.subflow.map(|subflow| subflow as usize);
        if name == "window_clamped" && subflow.is_some_and(|clamped| is_widened(case, clamped)) {
            continue;
        }
        if let Some(dead) = subflow.filter(|_| name == "large_segments_lost") {
            // A sender that learns of the limit sends smaller segments a round trip later: that costs nothing.
            if case.bytes > 0 && case.silences.get(dead).is_some_and(Vec::is_empty) {
                continue;
            }
            stops::explain(case, dead);
        }
        let on = subflow.map(|subflow| format!("on {}: ", case.name(subflow))).unwrap_or_default();
        found.push(Found {
            kind: name,
            subflow,
            from_s: begin_s,
            to_s: case.end_s(),
            cost: Cost::Unknown,
            confidence: 0.9,
            message: format!("{on}{what}"),
            evidence: row.message.to_string(),
            remedy,
        });
    }
    let main = case.main;
    for (subflow, row) in forgotten(case.report).filter(|_| main) {
        let pause_s = row.duration_ms.unwrap_or(0.0) / 1e3;
        let is_reset = row.detail.is_some_and(|detail| detail.contains("reset"));
        if !is_reset && pause_s < FORGETS_S {
            continue;
        }
        stops::explain(case, subflow);
        found.push(Found {
            kind: "forgotten",
            subflow: Some(subflow),
            from_s: (row.at_s - pause_s).max(case.begin_s),
            to_s: case.end_s().max(row.at_s),
            cost: Cost::Unknown,
            confidence: if is_reset { 0.9 } else { 0.6 },
            message: format!(
                "{}: a NAT or firewall forgot this subflow during a pause of {}",
                case.name(subflow),
                s(pause_s)
            ),
            evidence: format!("at {:.3} s: {}", row.at_s, row.detail.unwrap_or("no answer")),
            remedy: &[KEEP_ALIVE],
        });
    }
    found
}

/// Whether an older subflow announces the whole window throughout: it is the connection's (RFC 8684 §3.3.1), so that a smaller one
/// takes nothing away.
fn is_widened(case: &Case, clamped: usize) -> bool {
    let rows = &case.report.subflows;
    let is_clamped = |subflow: usize| {
        let is_told =
            |row: &tables::Diagnostic| row.diagnostic == "window_clamped" && row.subflow == Some(subflow as u32);
        case.report.diagnostics.iter().any(is_told)
    };
    let lasts = |other: usize| {
        rows[other].start_s < rows[clamped].start_s && rows[other].end_s >= rows[clamped].end_s.min(case.end_s())
    };
    case.established().into_iter().any(|other| lasts(other) && !is_clamped(other))
}

/// The first time at which each subflow had been forgotten, whichever side noticed it.
fn forgotten(report: &Report) -> impl Iterator<Item = (usize, &Event)> {
    (0..report.subflows.len()).filter_map(|subflow| {
        let of_subflow = |row: &&Event| row.event == "forgotten" && row.subflow == Some(subflow as u32);
        Some((subflow, report.events.iter().filter(of_subflow).min_by_key(|row| row.at_ns)?))
    })
}
