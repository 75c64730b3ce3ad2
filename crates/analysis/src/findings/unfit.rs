//! The capture does not hold what the other rules need, which are then silent.

use super::case::{Case, Cost, Found};
use super::remedies::Remedy::{self, Said};

/// Of a smaller transfer nobody asks why.
pub(super) const LEAST_BYTES: u64 = 100_000;
/// Bytes that are missing matter from this part of all on.
const LEAST_PERCENT: u64 = 1;

/// So does an end that one capture lacks from this part of the transfer on.
const LEAST_END: f64 = 0.05;

/// Matters where more than half of the packets with data are cut: SACK alone is in fewer.
const OPTIONS_CUT: &str = "options_cut";

/// Counts nanoseconds where only the end is missing.
const PARTIAL: &str = "capture_partial";

/// What a remark on a capture poisons: its name, what it means, what to do.
type Poison = (&'static str, &'static str, &'static [Remedy]);

const POISON: [Poison; 8] = [
    (
        OPTIONS_CUT,
        "its snap length cut TCP options, and with them what says where data belongs, and whether this is MPTCP",
        &[Said("capture with a snap length of 128: tcpdump -s 128")],
    ),
    ("path_missing", "it lacks a subflow", &[Said("capture all interfaces: tcpdump -i any")]),
    ("captures_unrelated", "the captures of its two ends are from different runs", &[Said("give captures of one run")]),
    ("clock_jumped", "its clock was set while it ran", &[Said("capture while no clock is being set")]),
    (
        "vantage_unknown",
        "it does not show at which end it was taken",
        &[Said("capture at the end that sends the data, or at both ends")],
    ),
    (
        "missed_bytes",
        "it missed packets",
        &[Said("capture with a snap length of 128 and a larger buffer: tcpdump -s 128 -B 65536")],
    ),
    (
        "unmapped_bytes",
        "it does not show where some of its bytes belong in the connection, or a middlebox removed the options that say so",
        &[Said(
            "capture with a snap length of 128, from before the connection begins, with offloads off (ethtool -K DEV gro off); mptcplab probe shows what middleboxes remove",
        )],
    ),
    (
        PARTIAL,
        "it covers only a part of the connection",
        &[Said("capture from before the connection begins to its end")],
    ),
];

/// What makes the captures unfit, if anything does.
pub(super) fn poison(case: &Case) -> Option<Poison> {
    POISON.into_iter().find(|(name, ..)| {
        let enough = |count: Option<u64>| count.is_none_or(|count| count > case.bytes / 100 * LEAST_PERCENT);
        let most_packets = || case.report.flows.iter().flatten().map(|row| row.data_packets).sum::<u64>() / 2;
        case.diagnosed(name).is_some_and(|row| match *name {
            OPTIONS_CUT => row.count.is_some_and(|count| count > most_packets()),
            PARTIAL => row.count.is_none_or(|nanos| nanos as f64 / 1e9 >= LEAST_END * case.elapsed_s),
            _ => !name.ends_with("_bytes") || enough(row.count),
        })
    })
}

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    let Some((name, what, remedy)) = poison(case).filter(|_| case.main && case.bytes >= LEAST_BYTES) else {
        return Vec::new();
    };
    vec![Found {
        kind: "capture_unfit",
        subflow: None,
        from_s: case.begin_s,
        to_s: case.end_s(),
        cost: Cost::Unknown,
        confidence: 0.9,
        message: format!("the capture cannot show what limited the transfer: {what}"),
        evidence: case.diagnosed(name).map_or_else(String::new, |row| row.message.to_string()),
        remedy,
    }]
}
