//! The capture does not hold what the other rules need, which are then silent.

use super::case::{Case, Cost, Found};

/// Of a smaller transfer nobody asks why.
const LEAST_BYTES: u64 = 100_000;

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    let poison = [
        ("path_missing", "it lacks a subflow", "capture all interfaces: tcpdump -i any"),
        ("captures_unrelated", "its ends are of different runs", "give captures of one run"),
        ("clock_jumped", "its clock was set meanwhile", "capture while no clock is being set"),
        ("vantage_unknown", "it does not tell at which end it was taken", "capture the handshake, at one end"),
        (
            "missed_bytes",
            "it dropped packets",
            "capture with a snap length of 128 and a larger buffer: tcpdump -s 128 -B 65536",
        ),
        (
            "capture_partial",
            "it covers a part of the connection",
            "capture from before the connection begins to its end",
        ),
    ];
    if case.is_whole() || !case.main || case.bytes < LEAST_BYTES {
        return Vec::new();
    }
    let found = poison.into_iter().find_map(|(name, what, remedy)| Some((case.diagnosed(name)?, what, remedy)));
    let Some((row, what, remedy)) = found else { return Vec::new() };
    vec![Found {
        kind: "capture_unfit",
        subflow: None,
        from_s: case.begin_s,
        to_s: case.end_s(),
        cost: Cost::Unknown,
        confidence: 0.9,
        message: format!("the capture is not fit to say why the transfer was as fast as it was: {what}"),
        evidence: format!("diagnostics: {}", row.diagnostic),
        remedy,
    }]
}
