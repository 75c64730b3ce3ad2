//! What boxes on the way do that costs time, from captures of both ends; and subflows that a NAT has forgotten.

use super::case::{Case, Cost, Found, s};

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    let mut found = Vec::new();
    let begin_s = case.begin_s;
    let boxes = [
        (
            "mss_clamped",
            "a box lowers the maximum segment size",
            "nothing, if the way is a tunnel; else look at the box's MSS clamping",
        ),
        ("window_clamped", "a box narrows the receive windows", "a box that keeps window scaling (RFC 7323) intact"),
        (
            "large_segments_lost",
            "packets of full size vanish on the way",
            "a smaller MTU or MSS on that path: ip route … advmss 1300, or net.ipv4.tcp_mtu_probing=1",
        ),
    ];
    for (name, what, remedy) in boxes {
        let Some(row) = case.diagnosed(name).filter(|_| case.main) else { continue };
        let subflow = row.subflow.map(|subflow| subflow as usize);
        let place = subflow.map(|subflow| format!("on {}: ", case.name(subflow))).unwrap_or_default();
        found.push(Found {
            kind: name,
            subflow,
            from_s: begin_s,
            to_s: case.end_s(),
            cost: Cost::Unknown,
            confidence: 0.9,
            message: format!("{place}{what}"),
            evidence: format!("diagnostics: {}: {}", row.diagnostic, row.message),
            remedy,
        });
    }
    for row in case.report.events.iter().filter(|row| row.event == "forgotten" && row.direction == Some(case.direction))
    {
        let Some(subflow) = row.subflow.map(|subflow| subflow as usize) else { continue };
        let pause_s = row.duration_ms.unwrap_or(0.0) / 1e3;
        found.push(Found {
            kind: "forgotten",
            subflow: Some(subflow),
            from_s: (row.at_s - pause_s).max(case.begin_s),
            to_s: case.end_s().max(row.at_s),
            cost: Cost::Unknown,
            confidence: 0.9,
            message: format!("{}: a NAT or firewall forgot it in a pause of {}", case.name(subflow), s(pause_s)),
            evidence: format!("events: forgotten: {}", row.detail.unwrap_or("")),
            remedy: "keep-alives that come sooner than the pause: SO_KEEPALIVE, net.ipv4.tcp_keepalive_time",
        });
    }
    found
}
