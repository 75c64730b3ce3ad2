//! No second path, and why: nobody asked for one, or the joins failed.

use super::case::{Case, Cost, Found};
use super::remedies::{FULL_MESH, LIMITS, Remedy, Remedy::Said};

/// A connection younger than this, or with less data, needs no second path.
const LEAST_S: f64 = 2.0;
const LEAST_BYTES: u64 = 500_000;
const LEAST_LIFE_S: f64 = 0.5;

/// Of all data one part of so many: what carried less was never used.
const UNUSED: u64 = 20;

/// A reason of MP_TCPRST (RFC 8684 §3.6).
const INTERFERENCE: &str = "middlebox interference";

/// In a remark on a join whose SYN/ACK lacked the option.
const BARE: &str = "without MP_JOIN";

const AVOID: &[Remedy] = &[Said("avoid the middlebox: another port (443), or an encrypted tunnel")];
const AVOID_PROXY: &[Remedy] =
    &[Said("avoid the proxy on that path: another port (443), or an encrypted tunnel; or a proxy that knows MPTCP")];

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    let row = &case.report.connection;
    if !case.main || row.protocol != "mptcp" || row.fallback.is_some() || row.began != "handshake" {
        return Vec::new();
    }
    let joins = || case.report.subflows.iter().enumerate().filter(|(_, row)| row.kind == "join");
    let worked = |address| joins().any(|(_, row)| row.client_address == address && row.handshake == "established");
    let mut found: Vec<Found> = Vec::new();
    for (subflow, row) in joins() {
        let (kind, what) = match row.handshake {
            "refused" => ("join_refused", "was refused"),
            "unanswered" => ("join_unanswered", "was not answered"),
            "unfinished" => ("join_unfinished", "was not finished"),
            _ => continue,
        };
        let known = found.iter().any(|one| {
            one.kind == kind
                && one.subflow.is_some_and(|other| case.report.subflows[other].client_address == row.client_address)
        });
        // A join that meets the connection's end is no fault.
        let early = case.bytes < LEAST_BYTES || case.end_s() - row.start_s < LEAST_LIFE_S;
        if worked(row.client_address) || known || early {
            continue;
        }
        let remark = row.handshake_remark.unwrap_or("no reason was given");
        let stripped = |remark: &tables::Diagnostic| {
            remark.diagnostic == "options_stripped" && remark.subflow == Some(subflow as u32)
        };
        let removed = remark.contains("removes MP_JOIN") || case.report.diagnostics.iter().any(stripped);
        let (opener, acceptor) = ends(row);
        let mut why = remark.replace("the opener", &format!("the {opener}"));
        why = why.replace("the acceptor", &format!("the {acceptor}"));
        if removed {
            remark
                .find("a middlebox removes")
                .map_or("a middlebox removes MP_JOIN", |at| &remark[at..])
                .clone_into(&mut why);
        // The reset of a join whose option was missing says no more than that this is no subflow.
        } else if let Some(reason) = row.reset_reason.filter(|_| !remark.contains(BARE)) {
            why = format!("{why}: {}", in_words(reason));
        }
        found.push(Found {
            kind,
            subflow: Some(subflow),
            from_s: row.start_s,
            to_s: case.end_s().max(row.start_s),
            cost: Cost::Unknown,
            confidence: 0.9,
            message: format!("{} was never used: its join {what} ({why})", case.name(subflow)),
            evidence: evidence(case, row),
            remedy: if removed { AVOID } else { remedy(row, remark) },
        });
    }
    found.extend(given_up(case));
    case.join_failed = !found.is_empty();
    let joined = joins().count() > 0;
    let announced = case.report.events.iter().find(|row| row.event == "add_addr");
    // A host with one interface to which no address is announced has no second path; nor can a capture of one interface
    // tell.
    let possible = case.is_whole() && (announced.is_some() || case.several_interfaces);
    if !joined && possible && case.elapsed_s >= LEAST_S && case.bytes >= LEAST_BYTES {
        let (message, evidence, confidence) = match announced {
            Some(row) => (
                "only one path was used: an address was announced, but nobody joined it".to_owned(),
                format!("the address was announced at {:.3} s (ADD_ADDR), and no SYN with MP_JOIN followed", row.at_s),
                0.9,
            ),
            None => (
                "only one path was used: neither side announced an address or tried to join another path".to_owned(),
                "one subflow, though a captured host has further interfaces; no ADD_ADDR, and no SYN with MP_JOIN"
                    .to_owned(),
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
            remedy: &[FULL_MESH],
        });
    }
    found
}

/// A subflow that joined, and that a host gave up before it carried anything to speak of.
fn given_up(case: &Case) -> Option<Found> {
    let is_given_up = |subflow: &usize| {
        let row = &case.report.subflows[*subflow];
        let bytes = case.report.flows[*subflow][case.direction as usize].bytes;
        row.kind == "join" && row.reset_reason == Some(INTERFERENCE) && bytes < case.bytes / UNUSED
    };
    let subflow = case.established().into_iter().find(is_given_up)?;
    let row = &case.report.subflows[subflow];
    Some(Found {
        kind: "join_unfinished",
        subflow: Some(subflow),
        from_s: row.start_s,
        to_s: case.end_s().max(row.start_s),
        cost: Cost::Unknown,
        confidence: 0.9,
        message: format!(
            "{} was never used: it joined, and was reset because a middlebox interferes, as where one removes MPTCP's options from data",
            case.name(subflow)
        ),
        evidence: format!("the reset at {:.3} s gives the reason \"{INTERFERENCE}\" (MP_TCPRST)", row.end_s),
        remedy: AVOID,
    })
}

/// The end that opened a subflow, and the end that was asked.
fn ends(row: &tables::Subflow) -> (&'static str, &'static str) {
    if row.opened_by == Some("server") { ("server", "client") } else { ("client", "server") }
}

/// What a host means by the reason of a reset.
fn in_words(reason: &str) -> &str {
    match reason {
        "administratively prohibited" => "it does not take a further subflow (administratively prohibited)",
        "lack of resources" => "it has no room for a further subflow (lack of resources)",
        "MPTCP-specific error" => "the join did not fit a connection of that host (MPTCP-specific error)",
        _ => reason,
    }
}

/// What helps against a join that failed, by who is known to have done what.
fn remedy(row: &tables::Subflow, remark: &str) -> &'static [Remedy] {
    let has = |words: &str| remark.contains(words);
    match (row.handshake, row.reset_reason) {
        _ if has("a middlebox reset it") => {
            &[Said("let joins pass the firewall on that path, or avoid it: another port (443), or an encrypted tunnel")]
        }
        _ if has("a proxy") => AVOID_PROXY,
        _ if has(BARE) => &[Said(
            "a capture at the server shows whether a middlebox removes the option: then another port (443), or an encrypted tunnel",
        )],
        ("refused", Some("administratively prohibited" | "lack of resources")) => &[LIMITS],
        ("refused", Some("MPTCP-specific error")) => &[Said(
            "let joins reach the host that has the connection, past load balancers, and unchanged by middleboxes",
        )],
        ("refused", None) if !has("the acceptor") && !has("the opener") => &[Said(
            "a capture at the other end shows whether that end refused it (then raise its limits: ip mptcp limits) or a firewall \
             on the path (then let joins pass)",
        )],
        ("refused", _) => &[LIMITS],
        ("unanswered", _) if has("which did not answer") => &[Said(
            "let joins pass the firewall of the host that did not answer, and look at its queue of half-open connections",
        )],
        ("unanswered", _) if has("which was lost") => &[Said(
            "let the answers to joins pass the firewalls on that path, and send them back the way that the joins came",
        )],
        ("unanswered", _) if has("never reached") => &[Said("let joins pass the firewall on that path")],
        ("unanswered", _) => &[Said(
            "let joins pass the firewall on that path, or give its address a route out of its own interface (ip rule)",
        )],
        _ => &[Said("let MP_JOIN pass the firewall on that path")],
    }
}

fn evidence(case: &Case, row: &tables::Subflow) -> String {
    let (opener, acceptor) = ends(row);
    let vantage = case.report.connection.vantage;
    let captured = match vantage {
        Some("both") => "as the captures of both ends show",
        _ => "as the capture of one end shows",
    };
    let passed = match vantage {
        Some(end) if end == acceptor => format!("reached the {acceptor}"),
        _ => format!("left the {opener}"),
    };
    let then = match row.handshake {
        "refused" => "was answered, but no subflow came of it",
        "unanswered" => "was not answered",
        _ => "was answered, and its handshake never ended",
    };
    format!("its SYN with MP_JOIN {passed} at {:.3} s and {then}, {captured}", row.start_s)
}
