//! Observations in, tables out.
//!
//! The [tracker](tracker) turns observations into connections, subflows and flow events; [metrics](metrics) turn those
//! into rows, and [findings](findings) say of those why a transfer was slow. State is kept per connection, not per packet, and a connection that has closed is finished and dropped.

mod closing;
mod event;
mod findings;
mod histogram;
mod metrics;
pub mod quality;
mod ranges;
mod report;
mod reports;
mod split;
mod timeline;
mod tracker;

pub use findings::remedies;

use tables::{Diagnostic, Tables};
use wire::{Observation, Point};

/// What may be chosen.
#[derive(Clone, Debug)]
pub struct Options {
    /// Length of a throughput bin, nanoseconds.
    pub bin_ns: i64,
    /// Throughput is smoothed over this time before its deviation is taken, nanoseconds.
    pub smoothing_ns: i64,
    /// This much of the start is left out of the deviation, nanoseconds.
    pub trim_ns: i64,
    /// Fill the sample tables (`segments`, `rtt`, `reordering`, `responses`, `window`) too.
    pub samples: bool,
    /// All captures were timed by one clock, as those of a simulation; else the offset between two ends' is estimated.
    pub one_clock: bool,
    /// What connections are for, where that is known; it fills the columns of quality.
    pub application: Option<quality::Application>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            bin_ns: 1_000_000_000,
            smoothing_ns: 5_000_000_000,
            trim_ns: 5_000_000_000,
            samples: false,
            one_clock: false,
            application: None,
        }
    }
}

/// An analysis on its way.
pub struct Analysis {
    tracker: tracker::Tracker,
    remarks: Vec<Diagnostic>,
    packets: u64,
}

impl Analysis {
    /// Starts one.
    pub fn new(options: Options) -> Self {
        Analysis { tracker: tracker::Tracker::new(options), remarks: Vec::new(), packets: 0 }
    }

    /// Names the next point: the first one is [`PointId`](wire::PointId) 0. One of each capture is named before the
    /// first observation, so that it is known how many captures there are; further ones as they come up.
    pub fn add_point(&mut self, point: Point) {
        self.tracker.add_point(point);
    }

    /// Takes the next observation, in time order.
    pub fn observe(&mut self, observation: &Observation) {
        self.packets += 1;
        self.tracker.observe(observation);
    }

    /// Adds a remark about the input to the table `diagnostics`.
    pub fn remark(&mut self, diagnostic: Diagnostic) {
        self.remarks.push(diagnostic);
    }

    /// Finishes all connections and gives the tables, complete.
    pub fn finish(self) -> Tables {
        let mut tables = self.tracker.finish().into_tables();
        let split = split::remarks(&tables);
        if !split.is_empty() {
            tables.diagnostics.retain(|row| row.connection.is_some() || row.diagnostic != "captures_unrelated");
        }
        findings::add_split(&mut tables, &split);
        let drops = self.remarks.iter().filter(|remark| remark.diagnostic == "capture_drops");
        let dropped = drops.filter_map(|remark| remark.count).sum();
        findings::poison(&mut tables, dropped, self.packets);
        tables.diagnostics.extend(split);
        tables.diagnostics.sort_by_key(|row| row.connection);
        tables.diagnostics.extend(self.remarks);
        tables.complete = true;
        tables
    }
}
