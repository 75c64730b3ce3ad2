//! The transfer was over before a second path could help: no fault.

use super::case::{Case, Cost, Found};
use super::first_syn;
use super::remedies::Remedy::Said;
use tables::Subflow;

/// A longer transfer is not short, whenever its second path came.
const MOST_S: f64 = 3.0;
/// So many round trips of the first subflow are enough for an answer to a join.
const ROUND_TRIPS: f64 = 4.0;

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    if !case.main || case.elapsed_s > MOST_S || case.report.connection.protocol != "mptcp" {
        return Vec::new();
    }
    let joins = || case.report.subflows.iter().filter(|row| row.kind == "join");
    let first = joins().filter_map(|row| row.join_time_ms).reduce(f64::min);
    // A subflow that a middlebox broke is what the path lacked, not time, nor one that was refused, or not answered,
    // while there was time.
    let is_broken = case.report.events.iter().any(|row| row.event == "fail");
    let half_s = case.elapsed_s / 2.0;
    let is_refused = |row: &Subflow| row.handshake == "refused" && row.end_s < case.begin_s + half_s;
    // An answer takes a round trip, and more over a slower path.
    let answer_s = case.report.subflows.first().and_then(|row| row.handshake_rtt_ms).map(|ms| ROUND_TRIPS * ms / 1e3);
    let is_unanswered = |row: &Subflow| {
        let failed = ["unanswered", "unfinished", "pending"].contains(&row.handshake);
        failed && answer_s.is_some_and(|answer_s| row.start_s + answer_s < case.begin_s + half_s)
    };
    // Then nobody knows how long it took, or which subflow came first.
    let is_partly_seen = case.report.connection.began == "midway" || case.diagnosed("path_missing").is_some();
    if is_broken
        || is_partly_seen
        || case.join_failed
        || first_syn::lost_s(case) > 0.0
        || joins().any(|row| is_refused(row) || is_unanswered(row))
        || joins().count() == 0
        || first.is_some_and(|first| first < half_s * 1e3)
    {
        return Vec::new();
    }
    let joined = match first {
        None => "no second path joined".to_owned(),
        Some(first) => format!("the second path joined after {first:.0} ms"),
    };
    vec![Found {
        kind: "short_transfer",
        subflow: None,
        from_s: case.begin_s,
        to_s: case.end_s(),
        cost: Cost::Unknown,
        confidence: 0.9,
        message: format!(
            "the transfer took {:.0} ms, and {joined}: too short for MPTCP to help, which is not a fault",
            case.elapsed_s * 1e3
        ),
        evidence: format!("{joined}, and the transfer was over after {:.0} ms", case.elapsed_s * 1e3),
        remedy: &[Said("one connection for several transfers")],
    }]
}
