//! Data arrived twice, be it over two subflows or over one.

use super::case::{Case, Cost, FIRST_WINDOW_BYTES, Found};
use super::remedies::{LEAVE_SOONER, ONCE, Remedy, Remedy::Said};
use crate::timeline::{Bin, Flow};

const LEAST_PART: f64 = 0.05;
/// A scheduler that is redundant sends such a part twice and more; less is what time-outs reinject.
const REDUNDANT: f64 = 0.15;
const MOST: f64 = 0.5;

/// A message whose end is lost waits for so long at least (RFC 6298 has a second, Linux a fifth of one).
const LEAST_TIMEOUT_S: f64 = 0.2;

const SAVES: Remedy = Said(
    "none that saves time: messages are short, and what one path loses the other has brought; a scheduler that is not redundant (lowest-rtt) \
     saves data, and waits for what is lost",
);
const DIFFER_LESS: Remedy = Said("paths that lose less, or whose delays differ less");
const BEYOND_HOSTS: Remedy =
    Remedy::Beyond("none at the hosts: of a path that fell silent or went, the sender could not know what had arrived");

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    let Some(timeline) = case.receiver.filter(|_| case.is_whole() && case.main) else { return Vec::new() };
    // What comes after all has been delivered holds nothing up.
    let end = (timeline.index_at(case.end_s() - case.seconds(timeline, 0)) + 1).min(timeline.whole.len());
    let of = |bytes: fn(&Bin) -> u32| -> Vec<u64> {
        let sum = |flow: &Flow| flow.bins.iter().take(end).map(|bin| u64::from(bytes(bin))).sum();
        timeline.flows.iter().map(sum).collect()
    };
    let (by_flow, own) = (of(|bin| bin.again_bytes), of(|bin| bin.own_again_bytes));
    let twice: u64 = by_flow.iter().sum();
    let same: u64 = own.iter().sum();
    let part = twice as f64 / case.bytes.max(1) as f64;
    let some: Vec<usize> = (0..end).filter(|&index| timeline.again(index) > 0.0).collect();
    let (Some(&first), Some(&last)) = (some.first(), some.last()) else { return Vec::new() };
    if part < LEAST_PART || case.best_rate <= 0.0 {
        return Vec::new();
    }
    let fell_silent = case.silences.iter().any(|silences| !silences.is_empty());
    // What a dead path had is sent again, too, though never most of all.
    case.redundant = same <= twice - same && part >= if fell_silent { MOST } else { REDUNDANT };
    let mut cost_s = 0.0;
    for index in some {
        let at_s = case.seconds(timeline, index);
        cost_s += case.lost.claim(at_s, at_s + timeline.width_s(), timeline.again(index) / case.best_rate);
    }
    // Where no queue stood, nothing else would have gone in its place sooner.
    let is_known = !(case.changed || case.sender.is_some() && case.have_room());
    // A sender that waits for each message gains what lost packets would have made it wait. Longer ones fill the paths,
    // and come sooner once.
    let is_short = case.message_bytes().is_some_and(|bytes| bytes <= 2 * FIRST_WINDOW_BYTES);
    let saves = is_short && (!is_known || cost_s < LEAST_TIMEOUT_S * f64::from(lost_packets(case)));
    vec![Found {
        kind: "reinjection_waste",
        subflow: (0..by_flow.len()).max_by_key(|&subflow| by_flow[subflow]),
        from_s: case.seconds(timeline, first),
        to_s: case.seconds(timeline, last + 1).min(case.end_s()),
        cost: if is_known { Cost::Seconds(cost_s) } else { Cost::Unknown },
        confidence: 0.9,
        message: format!("{:.0} % of the data arrived twice, {}", part * 100.0, over(case, &own, same, twice - same)),
        evidence: format!(
            "{twice} bytes arrived whose data sequence numbers had arrived before, {same} of them over the same subflow"
        ),
        remedy: if fell_silent && !case.redundant {
            &[LEAVE_SOONER]
        } else if same > twice - same {
            &[BEYOND_HOSTS]
        } else if case.redundant && saves {
            &[SAVES]
        } else if case.redundant {
            &[ONCE, DIFFER_LESS]
        } else {
            &[DIFFER_LESS]
        },
    }]
}

/// What was sent again on all subflows, both ways, with time-outs.
fn lost_packets(case: &Case) -> u32 {
    let bins = case.report.senders.iter().flatten().flat_map(|sender| &sender.flows).flat_map(|flow| &flow.bins);
    bins.map(|bin| u32::from(bin.resent) + u32::from(bin.timeouts)).sum()
}

/// Over what it came twice: `own` by subflow, `same` in all over one subflow, and `other` over two.
fn over(case: &Case, own: &[u64], same: u64, other: u64) -> String {
    let percent = |bytes: u64| (bytes as f64 * 100.0 / case.bytes.max(1) as f64).round();
    // Most of it, where there are several.
    let name = (0..own.len()).max_by_key(|&subflow| own[subflow]).map(|subflow| case.name(subflow)).unwrap_or_default();
    match (percent(same), percent(other)) {
        (0.0, _) => "over two subflows".to_owned(),
        (_, 0.0) => format!("both times over {name}"),
        (same, other) => format!("{same} % both times over the same subflow ({name}), {other} % over two"),
    }
}
