//! Why a transfer was slow: one kind of finding, or a few that exclude each other, one file. A rule looks at the rows of a
//! finished connection and at what passed in short times, and is silent where the vantage or the capture does not allow it.
//! To add one, write its file and name it in `rules!`, before those that it explains better.

mod away;
mod case;
mod cost;
mod drops;
mod idle;
mod overtaken;
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

/// What costs time and is nobody's fault stands behind what is.
const NO_FAULT: [&str; 2] = ["application", "short_transfer"];

/// Adds what is found of a connection to its report. Times in rows count from `origin`.
/// `several_interfaces` says that a host that was captured has a further one.
pub(crate) fn find(report: &mut Report, origin: Time, several_interfaces: bool) {
    let mut findings = Vec::new();
    by_the_clients_clock(report, origin);
    for direction in Direction::BOTH {
        let Some(mut case) = Case::of(report, direction, origin, several_interfaces) else { continue };
        // Of data that was sent in vain, only boxes are told.
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
