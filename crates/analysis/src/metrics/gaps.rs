//! Times in which nothing new came: outages, handovers, idle applications.

use super::metric::{Metric, PerFlow};
use crate::Options;
use crate::closing::Closing;
use crate::event::{FlowEvent, Happening, Kind, Seen};
use crate::report::Report;
use tables::Direction;
use wire::Time;

/// A gap is listed from this length on.
const LISTED_NANOS: i64 = 1_000_000_000;

#[derive(Default)]
pub(crate) struct Gaps {
    connection: [[Steps; 2]; 2],
    flows: PerFlow<[Steps; 2]>,
}

/// The gaps between steps forward; by arrival, and by acknowledgement.
#[derive(Debug, Default)]
struct Steps {
    last: Option<Seen>,
    longest: Option<(i64, Time)>,
    /// With the packet after which nothing new came.
    listed: Vec<(Seen, i64)>,
}

const ARRIVED: usize = 0;
const ACKNOWLEDGED: usize = 1;

impl Metric for Gaps {
    fn new(_: &Options, _: Time) -> Self {
        Gaps::default()
    }

    #[inline(always)]
    fn on(&mut self, event: &FlowEvent) {
        let d = event.direction as usize;
        match event.kind {
            Kind::Progress { .. } => self.connection[d][ARRIVED].step(event.seen, None),
            Kind::DataAcked { .. } => self.connection[d][ACKNOWLEDGED].step(event.seen, None),
            Kind::Arrived { .. } => {
                let whole = self.connection[d][ARRIVED].last.as_ref();
                self.flows.of(event)[ARRIVED].step(event.seen, whole);
            }
            Kind::Confirmed { .. } => {
                let whole = self.connection[d][ACKNOWLEDGED].last.as_ref();
                self.flows.of(event)[ACKNOWLEDGED].step(event.seen, whole);
            }
            _ => {}
        }
    }

    fn finish(&mut self, closing: &Closing, report: &mut Report) {
        for row in &mut report.transfers {
            row.gaps.get_or_insert(0);
        }
        for direction in Direction::BOTH.into_iter().filter(|&direction| closing.speaks_for_receiver(direction)) {
            let by = if closing.is_sender(direction) { ACKNOWLEDGED } else { ARRIVED };
            let steps = &self.connection[direction as usize][by];
            let row = &mut report.transfers[direction as usize];
            row.gaps = Some(steps.listed.len() as u32);
            if let Some((nanos, start)) = steps.longest {
                row.longest_gap_ms = Some(nanos as f64 / 1e6);
                row.longest_gap_start_s = Some(closing.seconds(start));
            }
            steps.list(closing, report, None, direction);
            for subflow in 0..report.flows.len() {
                let steps = &self.flows.at(subflow, direction)[by];
                report.flows[subflow][direction as usize].longest_gap_ms =
                    steps.longest.map(|(nanos, _)| nanos as f64 / 1e6);
                steps.list(closing, report, Some(subflow as u32), direction);
            }
        }
    }
}

impl Steps {
    /// A gap of a subflow is listed only where the connection as a whole went on meanwhile, `whole` being its last step.
    fn step(&mut self, seen: Seen, whole: Option<&Seen>) {
        if let Some(last) = self.last.replace(seen) {
            let nanos = (seen.at - last.at).max(0);
            if self.longest.is_none_or(|(longest, _)| nanos > longest) {
                self.longest = Some((nanos, last.at));
            }
            if nanos >= LISTED_NANOS && whole.is_none_or(|whole| whole.at - last.at >= LISTED_NANOS) {
                self.listed.push((last, nanos));
            }
        }
    }

    fn list(&self, closing: &Closing, report: &mut Report, subflow: Option<u32>, direction: Direction) {
        for &(seen, nanos) in &self.listed {
            let happening = Happening {
                detail: Some("nothing new came for the duration"),
                duration_ms: Some(nanos as f64 / 1e6),
                ..Happening::new("gap")
            };
            report.events.push(closing.event_row(seen, subflow, direction, &happening));
        }
    }
}
