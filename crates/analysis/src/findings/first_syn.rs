//! The connection began late: its first SYN, or the answer, was lost, and a timer had to pass until it was sent again.

use super::case::{Case, Cost, Found, s};

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    let lost_s = lost_s(case);
    if !case.main || lost_s <= 0.0 {
        return Vec::new();
    }
    let (from_s, to_s) = (case.begin_s, case.begin_s + lost_s);
    // Nobody else's, nor is it less where no data could come before.
    case.lost.claim(from_s, to_s, lost_s);
    let name = first(case).map_or_else(|| "a path".to_owned(), |subflow| case.name(subflow));
    vec![Found {
        kind: "handshake_lost",
        subflow: first(case),
        from_s,
        to_s,
        cost: Cost::Seconds(lost_s),
        confidence: 0.9,
        message: format!(
            "the connection began {} late: its SYN over {name}, or the answer, was lost and had to be sent again",
            s(lost_s)
        ),
        evidence: format!(
            "a SYN or its answer was sent more than once, and the handshake ended {:.3} s after the first; a round trip takes {:.0} ms",
            lost_s + least_s(case).unwrap_or(0.0),
            1e3 * least_s(case).unwrap_or(0.0)
        ),
        remedy: "begin over another path as well (RFC 8305 does so with addresses), or with the one that has a signal: TCP waits a second before it sends a SYN again",
    }]
}

/// How much later the connection began than with the first SYN; 0 where that, and its answer, came.
pub(super) fn lost_s(case: &Case) -> f64 {
    let joined = first(case).map(|subflow| &case.report.subflows[subflow]);
    let joined_ms = joined.filter(|row| row.handshake_rtt_ms.is_none()).and_then(|row| row.join_time_ms);
    joined_ms.zip(least_s(case)).map_or(0.0, |(joined_ms, least_s)| (joined_ms / 1e3 - least_s).max(0.0))
}

/// The connection's first subflow, where its beginning was captured.
fn first(case: &Case) -> Option<usize> {
    let is_first = |subflow: &usize| case.report.subflows[*subflow].kind != "join";
    case.established().into_iter().find(is_first).filter(|_| case.report.connection.began == "handshake")
}

/// The least round trip of its path; where a capture of the receiver shows none, that of another path's handshake.
fn least_s(case: &Case) -> Option<f64> {
    let rows = &case.report.flows[first(case)?];
    let least_ms = rows.iter().filter_map(|row| row.rtt_ms_min).reduce(f64::min);
    let others = || case.report.subflows.iter().filter_map(|row| row.handshake_rtt_ms).reduce(f64::min);
    least_ms.or_else(others).map(|ms| ms / 1e3)
}
