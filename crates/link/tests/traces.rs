//! A trace gives what is in it.

mod common;

use common::{Fate, MS, element};
use link::parse_trace;
use proptest::prelude::*;
use serde_json::json;
use std::path::Path;

fn run(trace: &[u64], times: impl IntoIterator<Item = i64>, bytes: u32, end_ms: u64) -> Vec<i64> {
    let value = json!({"element": "trace", "trace": trace, "queue": {"queue": "drop-tail", "packets": 1_000_000_000}});
    Fate::of(&mut *element(&value, 1, "a"), times, bytes, end_ms as i64 * MS).times()
}

proptest! {
    /// Packets of 1500 bytes that wait leave at the trace's times, round after round.
    #[test]
    fn full_packets_leave_at_its_times(mut trace in prop::collection::vec(0..500_u64, 1..60), rounds in 1..5_u64) {
        trace.sort_unstable();
        prop_assume!(trace.last() > Some(&0));
        let period = *trace.last().unwrap();
        // Opportunities at the time at which packets come are gone.
        let expected: Vec<i64> = (0..rounds)
            .flat_map(|round| trace.iter().map(move |ms| (round * period + ms) as i64 * MS))
            .filter(|at| *at > 0)
            .collect();
        prop_assert_eq!(run(&trace, expected.iter().map(|_| 0), 1500, rounds * period), expected);
    }
}

#[test]
fn opportunities_hold_several_packets_or_a_part_of_one() {
    assert_eq!(run(&[1, 2], [0; 5], 500, 10), [MS, MS, MS, 2 * MS, 2 * MS]);
    assert_eq!(run(&[1, 3], [0; 2], 2250, 10), [3 * MS, 4 * MS]);
}

#[test]
fn what_finds_no_packet_is_lost() {
    assert_eq!(run(&[1, 2, 5], [2 * MS, 20 * MS, 20 * MS], 1500, 100), [5 * MS, 21 * MS, 22 * MS]);
    // The rest of an opportunity too, but for packets that wait by then.
    assert_eq!(run(&[1, 2], [0, 3 * MS / 2], 100, 10), [MS, 2 * MS]);
}

#[test]
fn real_traces_give_their_capacity() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces/mahimahi");
    let Ok(files) = folder.read_dir() else { return };
    for file in files.map(|file| file.unwrap().path()) {
        if !file.extension().is_some_and(|extension| extension == "up" || extension == "down") {
            continue;
        }
        #[expect(clippy::disallowed_methods, reason = "a test may read files")]
        let trace = parse_trace(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let times = run(&trace, trace.iter().map(|_| 0), 1500, *trace.last().unwrap());
        // Opportunities at 0 come when it begins again.
        assert_eq!(times.len(), trace.len(), "{}", file.display());
        assert_eq!(*times.last().unwrap(), *trace.last().unwrap() as i64 * MS);
    }
}
