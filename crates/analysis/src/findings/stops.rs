//! Nothing new came although there was something to send: a path was dead or gone, or all of them were. What that cost is what the
//! transfer took longer than with that path. Each outage is a finding of its own; those that are too short for a line are one
//! together.

use super::away::{self, Certainty, Rate, timeouts};
use super::case::{Case, Cost, Found, SILENT_S, often, s, span};
use super::idle;
use super::overtaken::at_receiver;
use super::remedies::{BACK_OFF, GUARD, GUARD_MESSAGES, Remedy, WINDOW_FIRST};
use super::waits::{self, Wait};
use crate::timeline::Timeline;
use std::collections::BTreeSet;
use std::ops::Range;
use tables::Direction;

/// Less of the usual rate is nothing.
pub(super) const NOTHING: f64 = 0.1;
/// A stop is as long at least.
pub(super) const LEAST_S: f64 = 0.3;
const ROUND_TRIPS: f64 = 2.0;
/// Other paths were held up where less than this part of their usual rate came.
const SLOW: f64 = 0.5;
/// A shorter wait is not worth a word.
const LEAST_WAIT_S: f64 = 0.1;

const BEYOND_HOSTS: Remedy = Remedy::Beyond("none at the hosts: both knew that the path was gone");
const HELD_UP: Remedy = Remedy::Beyond(
    "none at the hosts: the path held packets up and lost none, and a path manager that leaves it (mptcplab guard) gains little or nothing: \
     look at what holds them up (a handover, a radio that wakes up)",
);
const ANOTHER: Remedy = Remedy::Said("a second path that fails at other times");
/// Time-outs that have doubled for so long may outlast an outage by seconds.
const LONG_OUTAGE_S: f64 = 5.0;

pub(super) fn find(case: &mut Case) -> Vec<Found> {
    // Requests wait for their answers: nobody waits for them.
    if !case.is_whole() || !case.main || case.best_rate <= 0.0 {
        return Vec::new();
    }
    case.waits = waits::waits(case);
    let mut found = match (case.sender, case.receiver) {
        (Some(sender), _) => at_sender(case, sender),
        (None, Some(receiver)) => at_receiver(case, receiver),
        _ => Vec::new(),
    };
    found.extend(between_messages(case));
    found
}

/// Outages that a message ran into whose answer is what the transfer moves: who sends that had nothing in flight.
fn between_messages(case: &mut Case) -> Vec<Found> {
    let is_long =
        |case: &Case, wait: &Wait| wait.most() > 1 && wait.seconds() >= case.patience_s(wait.timeouts[0].0, SILENT_S);
    let waits = std::mem::take(&mut case.waits);
    let (long, short): (Vec<Wait>, _) =
        waits.into_iter().partition(|wait| wait.direction != case.direction && is_long(case, wait));
    case.waits = short;
    let (mut all, mut some) = (Vec::new(), Vec::new());
    for wait in long {
        let others = there(case, wait.from_s, |other| !wait.is_on(other));
        let outage = Outage {
            subflow: wait.timeouts[0].0,
            from_s: wait.from_s,
            to_s: wait.to_s,
            waited_s: wait.seconds(),
            lost_s: wait.claim(case),
            timeouts: wait.most(),
            backed_off: wait.most() - 1,
            by: wait.direction,
            others,
        };
        if outage.others.is_empty() { all.push(outage) } else { some.push(outage) }
    }
    let mut found = findings(case, some, |case, outages| one_dead(case, outages, Certainty::Known));
    found.extend(findings(case, all, |case, outages| every_dead(case, outages, Certainty::Known)));
    found
}

/// What messages lost that ran into an outage, the sender of all the rest waited for as well.
fn with_messages(case: &mut Case, mut outage: Outage, is_on: impl Fn(&Wait) -> bool) -> Outage {
    let waits = std::mem::take(&mut case.waits);
    let (with, without): (Vec<Wait>, _) = waits
        .into_iter()
        .partition(|wait| wait.direction != case.direction && is_on(wait) && wait.meets(outage.from_s, outage.to_s));
    case.waits = without;
    for wait in with {
        outage.lost_s += wait.claim(case);
        outage.from_s = outage.from_s.min(wait.from_s);
    }
    outage
}

/// Times in which nothing new came between the first data and the last.
pub(super) fn stops(case: &Case, timeline: &Timeline) -> Vec<Range<usize>> {
    let came: Vec<bool> = (0..timeline.whole.len())
        .map(|index| timeline.came(index) > NOTHING * case.best_rate * timeline.width_s())
        .collect();
    let (Some(first), Some(last)) = (came.iter().position(|&came| came), came.iter().rposition(|&came| came)) else {
        return Vec::new();
    };
    let least = (LEAST_S.max(ROUND_TRIPS * away::rtt_s(case)) / timeline.width_s()).ceil() as usize;
    let mut stops = Vec::new();
    let mut from = first;
    for (index, &came) in came.iter().enumerate().take(last + 1).skip(first) {
        if came {
            if index - from > least {
                stops.push(from + 1..index);
            }
            from = index;
        }
    }
    stops
}

/// A time in which a path, or all of them, were dead.
struct Outage {
    subflow: usize,
    /// Those that waited.
    others: Vec<usize>,
    from_s: f64,
    to_s: f64,
    /// How long the other paths were held up, and what of that was lost.
    waited_s: f64,
    lost_s: f64,
    timeouts: usize,
    /// Time-outs that came later after the one before than that one had.
    backed_off: usize,
    /// Which way that went which was lost.
    by: Direction,
}

/// Claims what it cost that a subflow was dead, of which the cause is known: its finding takes the place of the outages'. What
/// the path would have carried besides is unknown.
pub(super) fn explain(case: &mut Case, subflow: usize) {
    case.explained.push(subflow);
    if let Some(timeline) = case.sender.filter(|_| case.is_whole() && case.main && case.best_rate > 0.0) {
        let rate = away::rate(case, timeline);
        dead(case, timeline, subflow, &rates(timeline), rate);
    }
}

fn rates(timeline: &Timeline) -> Vec<f64> {
    (0..timeline.flows.len()).map(|subflow| timeline.rate(subflow)).collect()
}

fn at_sender(case: &mut Case, timeline: &Timeline) -> Vec<Found> {
    let (rates, rate) = (rates(timeline), away::rate(case, timeline));
    let certainty = if away::is_out_of_order(case, &rates) { Certainty::Unknown } else { rate.certainty };
    // Where all were withdrawn, none waited for another.
    let gone: Vec<_> = (0..rates.len()).map(|subflow| away::gone(case, timeline, subflow)).collect();
    let withdrawn = all_dead(case, timeline, rate, &gone);
    let mut found = findings(case, withdrawn, |case, outages| every_dead(case, outages, rate.certainty));
    for subflow in case.established() {
        if case.explained.contains(&subflow) {
            continue;
        }
        let outages = dead(case, timeline, subflow, &rates, rate);
        let outages: Vec<_> =
            outages.into_iter().map(|outage| with_messages(case, outage, |wait| wait.is_on(subflow))).collect();
        let left = !outages.is_empty() && away::leaves_another(case, timeline, subflow);
        case.changed |= left;
        let certainty = match certainty {
            _ if left => Certainty::Unknown,
            // It never showed what it carries.
            Certainty::Known if rates[subflow] == 0.0 => Certainty::AtLeast,
            certainty => certainty,
        };
        found.extend(findings(case, outages, |case, outages| one_dead(case, outages, certainty)));
    }
    let outages = all_dead(case, timeline, rate, &[]);
    let outages = outages.into_iter().map(|outage| with_messages(case, outage, |_| true)).collect();
    found.extend(findings(case, outages, |case, outages| every_dead(case, outages, rate.certainty)));
    case.stopped_s = found.iter().map(|one| one.from_s).reduce(f64::min);
    found.extend(unfinished(case, timeline));
    found
}

/// Whatever was sent after the last answer never came, as far as the capture shows.
fn unfinished(case: &Case, timeline: &Timeline) -> Option<Found> {
    // A subflow answers also where others lack what comes before.
    let answer_s =
        timeline.flows.iter().filter_map(|flow| flow.last_answer).map(|at| case.at(at)).fold(case.end_s(), f64::max);
    let span = timeline.index_at(answer_s - case.seconds(timeline, 0)) + 1..timeline.whole.len();
    let subflows = case.established();
    let count = |subflow: usize| timeouts(timeline, subflow, span.clone());
    let subflow = subflows.iter().copied().max_by_key(|&subflow| count(subflow))?;
    let (timeouts, backed_off) = count(subflow);
    let silent_s = span.len() as f64 * timeline.width_s();
    if timeline.outstanding_bytes == 0
        || timeouts == 0
        || silent_s < case.patience_s(subflow, SILENT_S)
        || timeline.is_shut(span.clone())
    {
        return None;
    }
    let (from_s, to_s) = (answer_s, case.seconds(timeline, span.end));
    Some(Found {
        kind: if backed_off > 0 { "timeout_chain" } else { "outage" },
        subflow: Some(subflow),
        from_s,
        to_s,
        // When it would have gone on is unknown.
        cost: Cost::Unknown,
        confidence: 0.9,
        message: format!(
            "{} from {} to the end of the capture, and the transfer did not end",
            nothing_delivered(case),
            s(from_s)
        ),
        evidence: evidence("", silent_s, timeouts),
        remedy: remedy_of_all(silent_s),
    })
}

fn nothing_delivered(case: &Case) -> String {
    match case.established()[..] {
        [only] => format!("{} delivered nothing", case.name(only)),
        _ => "no path delivered anything".to_owned(),
    }
}

/// A finding for each outage that is worth one, and one for the rest together.
fn findings(case: &Case, outages: Vec<Outage>, describe: impl Fn(&Case, &[Outage]) -> Found) -> Vec<Found> {
    let (long, short): (Vec<Outage>, Vec<Outage>) =
        outages.into_iter().partition(|outage| case.is_worth(outage.lost_s));
    let mut found: Vec<Found> = long.chunks(1).map(|one| describe(case, one)).collect();
    if short.len() > 1 {
        found.push(describe(case, &short));
    }
    found
}

/// When a path was dead or gone while others were not. What they waited for what was on it is a part of what that cost.
fn dead(case: &mut Case, timeline: &Timeline, subflow: usize, rates: &[f64], rate: Rate) -> Vec<Outage> {
    let mut outages = Vec::new();
    let idle_s = idle::of_application(case, timeline);
    let same_path = case.same_path(subflow);
    let own = timeline.rate_together(&same_path);
    let away_on = |&one: &usize| away::away(case, timeline, one).into_iter().map(move |span| (one, span));
    let spans: Vec<(usize, Range<usize>)> = same_path.iter().flat_map(away_on).collect();
    let soon_s = case.patience_s(subflow, LEAST_S);
    for silent in spans.iter().filter(|(one, _)| *one == subflow).map(|(_, span)| span.clone()) {
        if away::another_stands(timeline, subflow, &spans, &silent, soon_s) {
            continue;
        }
        let (timeouts, backed_off) = timeouts(timeline, subflow, silent.clone());
        // What joined later waited for nothing, nor does what has ended.
        let others = there(case, case.seconds(timeline, silent.start), |other| other != subflow);
        let all: Vec<usize> = silent.clone().collect();
        // One that was dead itself did not wait, nor one that brought nothing over the same path.
        let is_dead = |other: usize| {
            let nothing = || timeline.bytes(other, silent.clone()) == 0.0;
            is_silent(case, timeline, other, &all) || same_path.contains(&other) && nothing()
        };
        let others: Vec<usize> = others.into_iter().filter(|&other| !is_dead(other)).collect();
        if others.is_empty() {
            continue;
        }
        let would_come = |index: usize| {
            let at_s = case.seconds(timeline, index);
            let live = others.iter().filter(|&&other| case.report.subflows[other].end_s > at_s);
            live.map(|&other| rates[other]).sum::<f64>() * timeline.width_s()
        };
        // Where the application had nothing to send, nothing was held up.
        let held_up = |&(index, would_come): &(usize, f64)| {
            (timeline.came(index) - f64::from(timeline.of(subflow, index).came_bytes)) < SLOW * would_come
                && idle_s[index] < timeline.width_s() / 2.0
        };
        let held_s = |(index, would_come): (usize, f64)| {
            (timeline.width_s() * (1.0 - timeline.came(index) / would_come) - idle_s[index]).max(0.0)
        };
        let waited_s = |time: &Range<usize>| -> f64 {
            time.clone().map(|index| (index, would_come(index))).filter(held_up).map(held_s).sum()
        };
        // What was on it, it brings again only while it recovers.
        let mut time = away::until_recovered(case, timeline, &silent, rate.of_all);
        // What the next outage costs is not this one's.
        let next = spans.iter().map(|(_, span)| span.start).filter(|&start| start >= silent.end).min();
        time.end = time.end.min(next.unwrap_or(time.end));
        let [from_s, to_s] = [silent.start, silent.end].map(|index| case.seconds(timeline, index));
        let (mut waited_s, in_all_s) = (waited_s(&silent), waited_s(&time));
        let mut lost_s = away::claim(case, timeline, &time, rate.of_all, own, in_all_s);
        // Senders at a pace of their own, for which no queue stands, catch up: what they lost is how long their data
        // waited.
        if !case.is_worth(lost_s) && case.have_room() {
            lost_s += case.lost.claim(from_s, to_s, (waited_s - lost_s).max(0.0));
            // Later data of theirs comes over the others in time, and waits for what is sent again.
            let gap_s = if case.message_bytes().is_none() { away::gap_s(case, from_s, to_s) } else { 0.0 };
            (waited_s, lost_s) = (waited_s.max(gap_s), lost_s.max(gap_s));
        }
        let by = case.direction;
        outages.push(Outage { subflow, others, from_s, to_s, waited_s, lost_s, timeouts, backed_off, by });
    }
    outages
}

/// Subflows that had begun and not ended at a time.
fn there(case: &Case, at_s: f64, also: impl Fn(usize) -> bool) -> Vec<usize> {
    let there = |subflow: &usize| {
        let row = &case.report.subflows[*subflow];
        row.start_s < at_s && row.end_s > at_s && also(*subflow)
    };
    case.established().into_iter().filter(there).collect()
}

fn one_dead(case: &Case, outages: &[Outage], certainty: Certainty) -> Found {
    let sum = |of: fn(&Outage) -> f64| outages.iter().map(of).sum::<f64>();
    let (subflow, from_s, to_s) = (outages[0].subflow, outages[0].from_s, outages[outages.len() - 1].to_s);
    let (cost, lost) = cost(case, outages, certainty);
    let others: BTreeSet<usize> = outages.iter().flat_map(|one| one.others.iter().copied()).collect();
    let others = others.into_iter().map(|other| case.name(other)).collect::<Vec<_>>().join(" and ");
    let (name, waited_s) = (case.name(subflow), sum(|one| one.waited_s));
    let waited = match waited_s >= LEAST_WAIT_S {
        true => format!("; {others} waited {} of that for data that was on it", s(waited_s)),
        false => String::new(),
    };
    let held_up = |one: &Outage| one.by == case.direction && away::held_up(case, one.subflow, one.from_s, one.to_s);
    let [from, to] = span(from_s, to_s);
    let until = if to_s + 0.1 >= case.end_s() { "the end".to_owned() } else { to };
    let times = if outages.len() > 1 { format!("{} times ", outages.len()) } else { String::new() };
    Found {
        kind: "path_dead",
        subflow: Some(subflow),
        from_s,
        to_s,
        cost,
        confidence: 0.9,
        message: format!(
            "{name} delivered nothing {times}from {from} to {until}{}{waited}: {}",
            reason(case, subflow, from_s..to_s, outages[0].by),
            lost
        ),
        evidence: match outages.iter().map(|one| one.timeouts).sum() {
            0 => format!(
                "its address was withdrawn (REMOVE_ADDR) before {from_s:.3} s, and nothing came over it until {to_s:.3} s"
            ),
            timeouts => evidence(" on it", sum(|one| one.to_s - one.from_s), timeouts),
        },
        remedy: match case.withdrawn_s(subflow) {
            Some(at_s) if at_s <= to_s => &[BEYOND_HOSTS],
            _ if case.window_bound => &[WINDOW_FIRST],
            _ if outages.iter().all(held_up) => &[HELD_UP],
            _ if case.exchanges() => &[GUARD_MESSAGES],
            _ => &[GUARD],
        },
    }
}

/// Why the sender did not leave a dead subflow, where the captures show it.
fn reason(case: &Case, subflow: usize, dead_s: Range<f64>, by: Direction) -> String {
    let row = &case.report.subflows[subflow];
    let sender = if by == Direction::Up { "client" } else { "server" };
    // Packets of the same port from another address, which the server knows nothing of.
    let is_renamed = |other: &&tables::Subflow| {
        let ends = (other.client_port, other.server_address, other.server_port);
        other.handshake == "stray" && ends == (row.client_port, row.server_address, row.server_port)
    };
    if let Some(address) = case.report.subflows.iter().find(is_renamed).and_then(|other| other.client_address) {
        return format!(", since a NAT changed its address to {address}");
    }
    let is_reset = |event: &tables::Event| {
        event.event == "reset"
            && event.subflow == Some(subflow as u32)
            && event.direction != Some(by)
            && event.at_s <= dead_s.end
    };
    let is_refused = |other: &tables::Subflow| {
        other.client_address == row.client_address && other.handshake == "refused" && dead_s.contains(&other.start_s)
    };
    let anew = if case.report.subflows.iter().any(is_refused) { ", and a new join was refused" } else { "" };
    if case.withdrawn_s(subflow).is_some_and(|at_s| at_s <= dead_s.end) {
        return format!(", since its address was withdrawn{anew}");
    }
    if !anew.is_empty() || case.report.events.iter().any(is_reset) {
        anew.to_owned()
    } else {
        format!(", and nothing told the {sender} that it was dead")
    }
}

/// Whether a subflow was dead in most of these times: its timer had run out.
fn is_silent(case: &Case, timeline: &Timeline, subflow: usize, bins: &[usize]) -> bool {
    let proven = case.silences[subflow].iter().filter(|silent| timeouts(timeline, subflow, (*silent).clone()).0 > 0);
    let within = |silent: &Range<usize>| {
        bins.partition_point(|&index| index < silent.end) - bins.partition_point(|&index| index < silent.start)
    };
    proven.map(within).sum::<usize>() * 2 > bins.len()
}

/// When no path was left that went on: all were silent, or, given when they were, some of them gone.
fn all_dead(case: &mut Case, timeline: &Timeline, rate: Rate, gone: &[Vec<Range<usize>>]) -> Vec<Outage> {
    let mut outages = Vec::new();
    for stop in stops(case, timeline) {
        if timeline.is_shut(stop.clone()) {
            continue;
        }
        let (from_s, to_s) = (case.seconds(timeline, stop.start), case.seconds(timeline, stop.end));
        let there = there(case, from_s, |_| true);
        // Nothing more comes while a far path begins anew: they are silent together in a part of the time.
        let silent = |subflow: usize, at: usize| {
            let gone = gone.get(subflow).into_iter().flatten();
            let mut silences = gone.chain(&case.silences[subflow]).chain(&case.short_silences[subflow]);
            silences.find(|silent| silent.contains(&at)).cloned()
        };
        let together = |at: usize| -> Option<Vec<(usize, Range<usize>)>> {
            there.iter().map(|&subflow| Some((subflow, silent(subflow, at)?))).collect()
        };
        let Some(dead) = stop.clone().find_map(together).filter(|dead| !dead.is_empty()) else { continue };
        let is_gone =
            |(subflow, silent): &(usize, Range<usize>)| gone.get(*subflow).is_some_and(|gone| gone.contains(silent));
        if !gone.is_empty() && !dead.iter().any(is_gone) {
            continue;
        }
        // A path that stays dead runs into more, which are nothing to this stop.
        let within = |silent: &Range<usize>| silent.start..silent.end.min(stop.end + 1);
        let counts = dead.iter().map(|(subflow, silent)| timeouts(timeline, *subflow, within(silent)));
        let (timeouts, backed_off) = counts.max().unwrap_or_default();
        let time = away::until_recovered(case, timeline, &stop, rate.of_all);
        let lost_s = away::claim(case, timeline, &time, rate.of_all, rate.of_all, 0.0);
        outages.push(Outage {
            subflow: dead[0].0,
            others: Vec::new(),
            from_s,
            to_s,
            waited_s: to_s - from_s,
            lost_s,
            timeouts,
            backed_off,
            by: case.direction,
        });
    }
    outages
}

fn every_dead(case: &Case, outages: &[Outage], certainty: Certainty) -> Found {
    let sum = |of: fn(&Outage) -> f64| outages.iter().map(of).sum::<f64>();
    let (subflow, from_s, to_s) = (outages[0].subflow, outages[0].from_s, outages[outages.len() - 1].to_s);
    let (cost, lost) = cost(case, outages, certainty);
    let timeouts: usize = outages.iter().map(|one| one.timeouts).sum();
    let chain = outages.iter().any(|one| one.backed_off > 0);
    let nothing = nothing_delivered(case);
    let [from, to] = span(from_s, to_s);
    let times = if outages.len() > 1 { format!("{} times ", outages.len()) } else { String::new() };
    Found {
        kind: if chain { "timeout_chain" } else { "outage" },
        subflow: Some(subflow),
        from_s,
        to_s,
        cost,
        confidence: if timeouts > 0 { 0.9 } else { 0.6 },
        message: if chain {
            format!(
                "{nothing} {times}from {from} to {to}: {}, {}",
                match timeouts {
                    1 => "a retransmission time-out, longer than the one before".to_owned(),
                    _ => format!("{timeouts} retransmission time-outs, each longer than the one before"),
                },
                lost
            )
        } else {
            format!("{nothing} {times}between {from} and {to}: {lost}")
        },
        evidence: match timeouts {
            0 => format!("addresses were withdrawn (REMOVE_ADDR), and nothing came over any path until {to_s:.3} s"),
            _ => evidence("", sum(|one| one.to_s - one.from_s), timeouts),
        },
        remedy: remedy_of_all(outages.iter().map(|one| one.to_s - one.from_s).fold(0.0, f64::max)),
    }
}

/// What outages cost together, and the same in words.
fn cost(case: &Case, outages: &[Outage], certainty: Certainty) -> (Cost, String) {
    let lost_s = outages.iter().map(|one| one.lost_s).sum();
    match certainty {
        Certainty::AtLeast | Certainty::Unknown if case.stalled_s.is_some() => (Cost::Unknown, case.lost(lost_s)),
        Certainty::Known => (Cost::Seconds(lost_s), case.lost(lost_s)),
        Certainty::AtLeast => (Cost::AtLeast(lost_s), format!("at least {} lost", s(lost_s))),
        Certainty::Unknown => {
            let why = match case.changed {
                true => "another path, which loses packets, was hardly used any more",
                false => "data waited for a much slower path anyway",
            };
            (Cost::Unknown, format!("how much that cost is unknown, as {why}"))
        }
    }
}

fn evidence(on: &str, silent_s: f64, timeouts: usize) -> String {
    format!(
        "nothing was acknowledged{on} for {silent_s:.3} s with data in flight; segments were sent again {} after at least 200 ms of silence",
        often(timeouts)
    )
}

/// What helps where no path is left for so long.
fn remedy_of_all(longest_s: f64) -> &'static [Remedy] {
    if longest_s < LONG_OUTAGE_S { &[ANOTHER] } else { &[ANOTHER, BACK_OFF] }
}
