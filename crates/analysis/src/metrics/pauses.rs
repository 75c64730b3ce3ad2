//! Subflows that are forgotten after a pause: what a firewall or a NAT that forgets looks like.

use super::metric::{Metric, PerFlow};
use crate::Options;
use crate::closing::Closing;
use crate::event::{FlowEvent, Happening, Kind, Seen};
use crate::report::Report;
use tables::Direction;
use wire::Time;

/// A pause is one from this length on.
const PAUSE_NANOS: i64 = 1_000_000_000;
/// So many packets without an answer, and none ever after, are no loss by chance.
const TRIES: u32 = 3;
/// An end that closes a connection resets what comes over other paths, and that may be seen sooner than the close itself.
const CLOSE_NANOS: i64 = 1_000_000_000;

#[derive(Default)]
pub(crate) struct Pauses {
    flows: PerFlow<Flow>,
    forgotten: Vec<Forgotten>,
}

/// Both directions of a subflow.
#[derive(Debug, Default)]
struct Flow {
    last: Option<Time>,
    /// How long nothing had passed when the last packet did.
    pause_nanos: i64,
    after: Option<After>,
}

/// New data after a pause, until it is answered.
#[derive(Clone, Copy, Debug)]
struct After {
    seen: Seen,
    direction: Direction,
    nanos: i64,
    packets: u32,
    answer: Option<Seen>,
}

struct Forgotten {
    subflow: usize,
    after: After,
    detail: &'static str,
}

impl Metric for Pauses {
    fn new(_: &Options, _: Time) -> Self {
        Pauses::default()
    }

    #[inline(always)]
    fn on(&mut self, event: &FlowEvent) {
        match &event.kind {
            Kind::Packet => self.packet(event),
            Kind::Data(data) if data.new_bytes > 0 && data.resent_bytes() == 0 => {
                let flow = self.flows.at(event.subflow, Direction::Up);
                if flow.pause_nanos >= PAUSE_NANOS && flow.after.is_none() {
                    let (seen, direction, nanos) = (event.seen, event.direction, flow.pause_nanos);
                    flow.after = Some(After { seen, direction, nanos, packets: 1, answer: None });
                }
            }
            Kind::Happened(happening) if happening.event == "fastclose" => {
                let is_its_own = |forgotten: &Forgotten| {
                    forgotten.after.direction != event.direction
                        && forgotten.after.answer.is_some_and(|answer| event.seen.at - answer.at <= CLOSE_NANOS)
                };
                self.forgotten.retain(|forgotten| !is_its_own(forgotten));
            }
            Kind::Happened(happening) if happening.event == "reset" => {
                let flow = self.flows.at(event.subflow, Direction::Up);
                let answered = flow.after.take_if(|after| after.answer == Some(event.seen));
                if let Some(after) = answered.filter(|_| !happening.by_closer) {
                    let detail = "a reset answered the first data after the pause";
                    self.forgotten.push(Forgotten { subflow: event.subflow, after, detail });
                }
            }
            _ => {}
        }
    }

    fn finish(&mut self, closing: &Closing, report: &mut Report) {
        for (subflow, [flow, _]) in self.flows.iter().enumerate() {
            let unheard = |after: &After| after.answer.is_none() && after.packets >= TRIES;
            if let Some(after) = flow.after.filter(unheard) {
                let detail = "nothing answered the data after the pause";
                self.forgotten.push(Forgotten { subflow, after, detail });
            }
        }
        for Forgotten { subflow, after, detail } in self.forgotten.drain(..) {
            if closing.is_sender(after.direction) {
                let happening = Happening {
                    detail: Some(detail),
                    duration_ms: Some(after.nanos as f64 / 1e6),
                    ..Happening::new("forgotten")
                };
                let row = closing.event_row(after.seen, Some(subflow as u32), after.direction, &happening);
                report.events.push(row);
            }
        }
    }
}

impl Pauses {
    #[inline(always)]
    fn packet(&mut self, event: &FlowEvent) {
        let flow = self.flows.at(event.subflow, Direction::Up);
        flow.pause_nanos = flow.last.replace(event.seen.at).map_or(0, |last| event.seen.at - last);
        let Some(after) = &mut flow.after else { return };
        if after.answer.is_some() {
            flow.after = None; // what answered was no reset
        } else if event.direction == after.direction {
            after.packets += 1;
        } else {
            after.answer = Some(event.seen);
        }
    }
}
