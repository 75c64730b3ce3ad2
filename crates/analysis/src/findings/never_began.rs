//! MPTCP was asked for and did not come about, or ended in plain TCP.

use super::case::{Case, Cost, Found};
use super::remedies::Remedy::{self, Said};

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    if let Some(changed) = changed(case).filter(|_| case.main) {
        return vec![changed];
    }
    let Some(why) = case.report.connection.fallback.filter(|_| case.main) else { return Vec::new() };
    let stripped = case.diagnosed("options_stripped");
    let at_once = why.contains("MP_CAPABLE");
    let (kind, message, remedy, confidence): (_, _, &[Remedy], _) = match stripped {
        Some(row) if row.message.starts_with("the SYN left") => (
            "stripped",
            "MPTCP never began: a middlebox removes its options from the client's SYN".to_owned(),
            &[Said("another port (443), an encrypted tunnel, or a proxy behind the middlebox")],
            0.9,
        ),
        Some(_) => (
            "stripped",
            "MPTCP never began: a middlebox removes its options from the server's answer".to_owned(),
            &[Said("another port (443), an encrypted tunnel, or a proxy behind the middlebox")],
            0.9,
        ),
        None if case.diagnosed("capable_left_out").is_some() => left_out(case),
        None if at_once => (
            "never_began",
            "MPTCP never began: the client asked for it, but the answer came without it: the server does not support it, or a middlebox removed \
             its options"
                .to_owned(),
            &[Said("enable it at the server (sysctl net.mptcp.enabled=1), in an application that asks for it (mptcpize run); a capture at the \
             server shows whether a middlebox is to blame")],
            0.6,
        ),
        None => (
            "fallback",
            format!("the connection fell back to plain TCP: {why}"),
            &[Said("look for a middlebox that changes options or payload; DSS checksums (net.mptcp.checksum_enabled=1) detect it sooner")],
            0.9,
        ),
    };
    let at_s = case.report.events.iter().find(|row| row.event == "fallback").map_or(case.begin_s, |row| row.at_s);
    vec![Found {
        kind,
        subflow: None,
        from_s: at_s,
        to_s: case.end_s(),
        cost: Cost::Unknown,
        confidence,
        message,
        evidence: why.to_owned(),
        remedy,
    }]
}

/// The client gave up asking for MPTCP: the captures show only what happened to the SYNs that did.
fn left_out(case: &Case) -> (&'static str, String, &'static [Remedy], f64) {
    let became = case.diagnosed("capable_left_out").map_or("", |row| &row.message);
    (
        "never_began",
        format!("MPTCP never began: the client left it out of its last SYN. {became}"),
        &[Said(
            "mptcplab probe shows whether a middlebox drops such SYNs; Linux may now leave MPTCP out for an hour: sysctl -w \
         net.mptcp.blackhole_timeout=0 makes it forget",
        )],
        0.9,
    )
}

/// Checksums of data sequence mappings failed: a middlebox changes the payload.
fn changed(case: &Case) -> Option<Found> {
    let fail = case.report.events.iter().find(|row| row.event == "fail" && row.subflow.is_some())?;
    let subflow = fail.subflow? as usize;
    let then = match case.report.connection.fallback {
        Some(_) => "the connection fell back to plain TCP",
        None => "the subflow was closed",
    };
    Some(Found {
        kind: "checksum",
        subflow: Some(subflow),
        from_s: case.begin_s,
        to_s: case.end_s().max(fail.at_s),
        cost: Cost::Unknown,
        confidence: 0.9,
        message: format!("{}: a middlebox changes the payload, so DSS checksums failed and {then}", case.name(subflow)),
        evidence: format!(
            "MP_FAIL at {:.3} s{}",
            fail.at_s,
            fail.detail.map(|detail| format!(": {detail}")).unwrap_or_default()
        ),
        remedy: &[Said("an encrypted tunnel, or TLS on another port, which the middlebox leaves alone")],
    })
}
