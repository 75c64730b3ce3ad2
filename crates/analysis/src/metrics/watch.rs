//! Keeps what passed in short times for findings, of both directions at one end.

use super::metric::Metric;
use crate::Options;
use crate::closing::Closing;
use crate::event::{FlowEvent, Kind};
use crate::report::Report;
use crate::timeline::{Flow, Timeline};
use tables::Direction;
use wire::Time;

/// Watches both directions at one end.
pub(crate) struct Watch {
    start: Time,
    directions: [Option<Box<Timeline>>; 2],
}

impl Metric for Watch {
    fn new(_: &Options, start: Time) -> Self {
        Watch { start, directions: [None, None] }
    }

    #[inline(always)]
    fn on(&mut self, event: &FlowEvent) {
        if matches!(event.kind, Kind::Packet | Kind::Happened(_)) {
            return;
        }
        let start = self.start;
        let timeline = self.directions[event.direction as usize].get_or_insert_with(|| Timeline::new(start));
        timeline.on(event);
    }

    fn finish(&mut self, closing: &Closing, report: &mut Report) {
        for direction in Direction::BOTH {
            let d = direction as usize;
            let Some(mut timeline) = self.directions[d].take() else { continue };
            timeline.finish();
            timeline.flows.resize_with(report.subflows.len(), Flow::default);
            if closing.is_sender(direction) {
                timeline.at_sender();
                report.senders[d] = Some(timeline);
            } else if closing.is_receiver(direction) && !closing.lacks_data(direction) {
                report.receivers[d] = Some(timeline);
            }
        }
    }
}
