//! Why a transfer was slow: one kind of finding, or a few that exclude each other, one file. A rule looks at the rows of a
//! finished connection and at what passed in short times, and is silent where the vantage or the capture does not allow it.
//! To add one, write its file and name it in `rules!`, before those that it explains better.

mod case;
mod cost;
mod split;

pub(crate) use split::found as of_split;

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
    joins,
    stops,
    returned,
    late_join,
    backups,
    boxes,
    window,
    application,
    waste,
    blocking,
    bloat,
    losses,
    short,
}

/// Adds what is found of a connection to its report. Times in rows count from `origin`.
pub(crate) fn find(report: &mut Report, origin: Time) {
    let mut findings = Vec::new();
    for direction in Direction::BOTH {
        let Some(mut case) = Case::of(report, direction, origin) else { continue };
        for rule in RULES {
            for found in rule(&mut case) {
                findings.extend(case.row(found));
            }
        }
    }
    findings.sort_by(|a: &tables::Finding, b| b.cost_s.unwrap_or(0.0).total_cmp(&a.cost_s.unwrap_or(0.0)));
    report.findings = findings;
}
