//! A further path came late although it was there.

use super::case::{Case, Found, s};
use super::first_syn;
use super::remedies::Remedy::Said;

/// A join is due within so many round trips of the first subflow's handshake, and this time.
const ROUND_TRIPS: f64 = 6.0;
const LEAST_S: f64 = 1.0;
const LEAST_BYTES: u64 = 1_000_000;

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    let Some(timeline) = case.receiver.or(case.sender).filter(|_| case.is_whole() && case.main) else {
        return Vec::new();
    };
    if case.report.connection.began != "handshake" || case.bytes < LEAST_BYTES || case.best_rate <= 0.0 {
        return Vec::new();
    }
    let rtt_s = case.report.subflows.iter().filter_map(|row| row.handshake_rtt_ms).fold(0.0, f64::max) / 1e3;
    let due_s = (ROUND_TRIPS * rtt_s).max(LEAST_S);
    let began_s = first_syn::lost_s(case);
    let mut found = Vec::new();
    for subflow in case.established() {
        let row = &case.report.subflows[subflow];
        // No path joins before the connection has begun.
        let Some(joined_s) =
            row.join_time_ms.map(|ms| ms / 1e3 - began_s).filter(|_| row.kind == "join" && !row.backup)
        else {
            continue;
        };
        let earlier = case.report.subflows.iter().any(|other| {
            other.client_address == row.client_address
                && other.server_address == row.server_address
                && other.start_s < row.start_s
        });
        if joined_s < due_s || earlier {
            continue;
        }
        let (from_s, to_s) = (case.begin_s + began_s, case.begin_s + began_s + joined_s);
        let part = (timeline.rate(subflow) / case.best_rate).min(1.0);
        let cost = case.claim(from_s, to_s, joined_s * part);
        let mbps = timeline.bytes(subflow, 0..timeline.whole.len()) * 8e-6 / (case.end_s() - to_s);
        found.push(Found {
            kind: "join_late",
            subflow: Some(subflow),
            from_s,
            to_s,
            cost,
            confidence: 0.6,
            message: format!("{} joined {} after the connection began, and then carried {mbps:.2} Mbit/s", case.name(subflow), s(joined_s)),
            evidence: format!("the handshake of its subflow ended {joined_s:.3} s after the connection's first packet"),
            remedy: &[Said("bring the path up before the connection begins, or set its route and endpoint at once: ip mptcp monitor shows when it joins; against a lost SYN, nothing")],
        });
    }
    found
}
