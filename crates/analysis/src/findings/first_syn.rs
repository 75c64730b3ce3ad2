//! The connection began late: its first SYN, or the answer, was lost, or the server still had an older connection of the same
//! ports, and a timer had to pass until the SYN was sent again.

use super::case::{Case, Cost, Found, s};
use super::remedies::Remedy::{self, Said};

const ANOTHER_PATH: &[Remedy] = &[Said(
    "begin over another path as well (RFC 8305 does so with addresses), or with the one that has a signal: TCP waits a second before it sends a SYN again",
)];
const ANOTHER_PORT: &[Remedy] = &[Said(
    "leave the choice of ports to the system, which takes one that was not used a moment ago, and close connections at both ends",
)];

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    let lost_s = lost_s(case);
    if !case.main || lost_s <= 0.0 {
        return Vec::new();
    }
    let (from_s, least_s) = (case.begin_s, least_s(case).unwrap_or(0.0));
    // Nobody else's, nor is it less where no data could come before.
    case.lost.claim(from_s, from_s + lost_s, lost_s);
    let is_challenged = first(case).is_some_and(|subflow| case.report.challenged[subflow]);
    let name = first(case).map_or_else(|| "a path".to_owned(), |subflow| case.name(subflow));
    vec![Found {
        kind: if is_challenged { "port_reused" } else { "handshake_lost" },
        subflow: first(case),
        from_s,
        // With the answer that came.
        to_s: from_s + lost_s + least_s,
        cost: Cost::Seconds(lost_s),
        confidence: 0.9,
        message: if is_challenged {
            format!(
                "the connection began {} late: the server still had an older connection of the same ports and answered the SYN over {name} for that one",
                s(lost_s)
            )
        } else {
            format!(
                "the connection began {} late: its SYN over {name}, or the answer, was lost and had to be sent again",
                s(lost_s)
            )
        },
        evidence: format!(
            "{}, and the handshake ended {:.3} s after the first; a round trip takes {:.0} ms",
            if is_challenged {
                "an answer that acknowledges none of the SYN came first (a challenge ACK, RFC 5961 §4.2, or a SYN/ACK for an old SYN)"
            } else {
                "a SYN or its answer was sent more than once"
            },
            lost_s + least_s,
            1e3 * least_s
        ),
        remedy: if is_challenged { ANOTHER_PORT } else { ANOTHER_PATH },
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
