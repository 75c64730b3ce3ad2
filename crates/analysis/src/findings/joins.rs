//! No second path, and why: nobody asked for one, or the joins failed.

use super::case::{Case, Cost, Found};

/// A connection younger than this, or with less data, needs no second path.
const LEAST_S: f64 = 2.0;
const LEAST_BYTES: u64 = 500_000;
const LEAST_LIFE_S: f64 = 0.5;

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    let row = &case.report.connection;
    if !case.main || row.protocol != "mptcp" || row.fallback.is_some() || row.began != "handshake" {
        return Vec::new();
    }
    let joins = || case.report.subflows.iter().enumerate().filter(|(_, row)| row.kind == "join");
    let worked = |address| joins().any(|(_, row)| row.client_address == address && row.handshake == "established");
    let mut found: Vec<Found> = Vec::new();
    for (subflow, row) in joins() {
        let (kind, what, remedy) = match row.handshake {
            "refused" => (
                "join_refused",
                "was refused",
                "raise the limits at the side that refused: ip mptcp limits set subflows 4 add_addr_accepted 4",
            ),
            "unanswered" => (
                "join_unanswered",
                "was not answered",
                "let joins pass the firewall on that path, and give its address a route: ip rule",
            ),
            "unfinished" => ("join_unfinished", "was not finished", "let MP_JOIN pass the firewall on that path"),
            _ => continue,
        };
        let told = found.iter().any(|one| {
            one.kind == kind
                && one.subflow.is_some_and(|other| case.report.subflows[other].client_address == row.client_address)
        });
        // A join that meets the connection's end is nobody's fault.
        let early = case.bytes < LEAST_BYTES || case.end_s() - row.start_s < LEAST_LIFE_S;
        if worked(row.client_address) || told || early {
            continue;
        }
        let removed = case
            .report
            .diagnostics
            .iter()
            .any(|remark| remark.diagnostic == "options_stripped" && remark.subflow == Some(subflow as u32));
        // The reset that follows says no more than that this is no subflow.
        let bare = row.handshake_remark.filter(|remark| remark.contains("without MP_JOIN"));
        let remedy = match bare {
            _ if removed => "avoid the middlebox: another port (443), or an encrypted tunnel",
            Some(_) => {
                "a capture at the server shows whether a middlebox removes the option: then another port (443), or an encrypted tunnel"
            }
            None => remedy,
        };
        let why = removed
            .then_some("a middlebox removes MP_JOIN")
            .or(bare)
            .or(row.reset_reason)
            .or(row.handshake_remark)
            .unwrap_or("no reason was given");
        found.push(Found {
            kind,
            subflow: Some(subflow),
            from_s: row.start_s,
            to_s: case.end_s().max(row.start_s),
            cost: Cost::Unknown,
            confidence: 0.9,
            message: format!("{} was never used: its join {what} ({why})", case.name(subflow)),
            evidence: format!("subflows: handshake = {}; events: {kind}", row.handshake),
            remedy,
        });
    }
    case.join_failed = !found.is_empty();
    let joined = joins().count() > 0;
    let announced = case.report.events.iter().find(|row| row.event == "add_addr");
    // A host with one interface that is told of no address has no second path; nor can a capture of one interface tell.
    let possible = case.is_whole() && (announced.is_some() || case.several_interfaces);
    if !joined && possible && case.elapsed_s >= LEAST_S && case.bytes >= LEAST_BYTES {
        let (message, evidence, confidence) = match announced {
            Some(row) => (
                "only one path was used: an address was announced, but nobody joined it".to_owned(),
                format!("events: add_addr at {:.3} s, no join", row.at_s),
                0.9,
            ),
            None => (
                "only one path was used: neither side announced an address or tried to join another path".to_owned(),
                "subflows: one, though the host has further interfaces; events: no add_addr, no join".to_owned(),
                0.6,
            ),
        };
        found.push(Found {
            kind: "no_second_path",
            subflow: None,
            from_s: case.begin_s,
            to_s: case.end_s(),
            cost: Cost::Unknown,
            confidence,
            message,
            evidence,
            remedy: "ip mptcp endpoint add ADDRESS dev DEV subflow, and ip mptcp limits set subflows 4 add_addr_accepted 4",
        });
    }
    found
}
