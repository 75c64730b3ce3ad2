//! Why a transfer was slow: one kind of finding, or a few that exclude each other, one file. A rule looks at the rows of a
//! finished connection and at what passed in short times, and is silent where the vantage or the capture does not allow it.
//! To add one, write its file and name it in `rules!`, before those that it explains better.

mod away;
mod case;
mod cost;
mod drops;
mod idle;
mod overtaken;
pub mod remedies;
mod split;
mod waits;

pub(crate) use drops::poison;
pub(crate) use split::add as add_split;

use crate::report::Report;
use case::{Case, Found};
use tables::Direction;
use wire::Time;

/// A rule: what it finds in a case.
type Rule = fn(&mut Case) -> Vec<Found>;

macro_rules! rules {
    ($($file:ident,)*) => {
        $(mod $file;)*

        /// In the order in which they may claim lost time.
        const RULES: &[Rule] = &[$($file::find,)*];
    };
}

rules! {
    unfit,
    never_began,
    first_syn,
    joins,
    boxes,
    backups,
    stops,
    stuck,
    spurious,
    tails,
    returned,
    late_join,
    slowed,
    window,
    application,
    slow_start,
    waste,
    losses,
    blocking,
    idle_path,
    bloat,
    short,
}

/// What costs time without a fault stands behind faults.
const NO_FAULT: [&str; 2] = ["application", "short_transfer"];

/// Of captures that are a day apart and more, each connection has times of its own in words.
const APART_S: f64 = 86_400.0;

/// Adds what is found of a connection to its report. Times in rows count from `origin`.
/// `several_interfaces` says that a host that was captured has a further one.
pub(crate) fn find(report: &mut Report, origin: Time, several_interfaces: bool) {
    let begins_s = report.connection.start_s;
    if begins_s < APART_S {
        return find_from(report, origin, several_interfaces);
    }
    let gaps_s = report.transfers.each_ref().map(|row| row.longest_gap_start_s);
    let spans_s: Vec<_> = report.subflows.iter().map(|row| (row.start_s, row.end_s)).collect();
    report.connection.start_s = 0.0;
    report.transfers.iter_mut().filter_map(|row| row.longest_gap_start_s.as_mut()).for_each(|at_s| *at_s -= begins_s);
    for row in &mut report.subflows {
        row.start_s -= begins_s;
        row.end_s -= begins_s;
    }
    let events_s: Vec<_> = report.events.iter().map(|row| row.at_s).collect();
    report.events.iter_mut().for_each(|row| row.at_s -= begins_s);
    find_from(report, Time::from_nanos(report.connection.start_ns), several_interfaces);
    report.connection.start_s = begins_s;
    report.transfers.iter_mut().zip(gaps_s).for_each(|(row, at_s)| row.longest_gap_start_s = at_s);
    report.subflows.iter_mut().zip(spans_s).for_each(|(row, span)| (row.start_s, row.end_s) = span);
    report.events.iter_mut().zip(events_s).for_each(|(row, at_s)| row.at_s = at_s);
    for row in &mut report.findings {
        row.from_s += begins_s;
        row.to_s += begins_s;
    }
}

fn find_from(report: &mut Report, origin: Time, several_interfaces: bool) {
    let mut findings = Vec::new();
    by_the_clients_clock(report, origin);
    for direction in Direction::BOTH {
        let Some(mut case) = Case::of(report, direction, origin, several_interfaces) else { continue };
        // Of data that was sent in vain, only middleboxes are reported.
        let rules = if case.bytes > 0 { RULES } else { &[boxes::find as Rule] };
        for rule in rules {
            for found in rule(&mut case) {
                findings.extend(case.row(found));
            }
        }
    }
    time_events(report, origin, 0);
    let rank = |row: &tables::Finding| if NO_FAULT.contains(&&*row.kind) { 0.0 } else { row.cost_s.unwrap_or(0.0) };
    findings.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
    report.findings = findings;
}

/// Times of the server's capture as the client's clock has them: those of connections and subflows are by that.
fn by_the_clients_clock(report: &mut Report, origin: Time) {
    let ahead_nanos = report.server_ahead_nanos;
    let timelines = [&mut report.senders[Direction::Down as usize], &mut report.receivers[Direction::Up as usize]];
    timelines.into_iter().flatten().for_each(|timeline| timeline.shift(ahead_nanos.saturating_neg()));
    time_events(report, origin, ahead_nanos);
}

/// The events of the server's capture have their times by a clock that is so far ahead of it.
fn time_events(report: &mut Report, origin: Time, ahead_nanos: i64) {
    for row in &mut report.events[report.server_events.clone()] {
        row.at_s = (Time::from_nanos(row.at_ns) - origin).saturating_sub(ahead_nanos) as f64 / 1e9;
    }
}
