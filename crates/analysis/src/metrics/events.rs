//! What happened: handshakes, address signalling, retransmissions, reinjections, time-outs, ends.

use super::metric::{Metric, PerFlow};
use crate::Options;
use crate::closing::Closing;
use crate::event::{FlowEvent, Happening, Kind, Seen};
use crate::report::Report;
use tables::{Diagnostic, Direction};
use wire::Time;

#[derive(Default)]
pub(crate) struct Events {
    listed: Vec<Listed>,
    left_out: u64,
    sent: PerFlow<Option<Time>>,
}

struct Listed {
    seen: Seen,
    subflow: usize,
    direction: Direction,
    happening: Happening,
    /// Only the sender of the data can tell.
    of_sender: bool,
}

/// A connection that resends everything would have an event per packet.
const MOST_LISTED: usize = 1 << 16;

/// Linux's least retransmission time-out (TCP_RTO_MIN): a sender that was silent for so long before it sent again had
/// run into its timer.
const TIME_OUT_NANOS: i64 = 200_000_000;

impl Metric for Events {
    fn new(_: &Options, _: Time) -> Self {
        Events::default()
    }

    #[inline(always)]
    fn on(&mut self, event: &FlowEvent) {
        match &event.kind {
            Kind::Happened(happening) => self.list(*event, (*happening).clone(), false),
            Kind::Reinjected { bytes, .. } => {
                self.list(*event, Happening { bytes: Some(*bytes), ..Happening::new("reinjection") }, true);
            }
            Kind::Data(data) => {
                let silent_nanos = self.sent.of(event).replace(event.seen.at).map_or(0, |last| event.seen.at - last);
                let resent = data.resent_bytes();
                if resent == 0 {
                    return;
                }
                let timed_out = silent_nanos >= TIME_OUT_NANOS;
                let happening = Happening {
                    bytes: Some(resent.into()),
                    detail: timed_out.then_some("after a time-out: the sender had been silent for the duration"),
                    duration_ms: timed_out.then_some(silent_nanos as f64 / 1e6),
                    ..Happening::new(if timed_out { "timeout" } else { "retransmission" })
                };
                self.list(*event, happening, true);
            }
            _ => {}
        }
    }

    fn finish(&mut self, closing: &Closing, report: &mut Report) {
        if self.left_out > 0 {
            report.diagnostics.push(Diagnostic {
                diagnostic: "events_left_out",
                count: Some(self.left_out),
                message: "the connection had more events than are listed; its figures count them all".into(),
                ..Diagnostic::default()
            });
        }
        let tells = |listed: &&Listed| match listed.of_sender {
            true if listed.happening.event == "reinjection" => closing.speaks_for_sender(listed.direction),
            true => closing.is_sender(listed.direction),
            false => closing.speaks_for_client(),
        };
        for listed in self.listed.iter().filter(tells) {
            let subflow = Some(listed.subflow as u32);
            let mut row = closing.event_row(listed.seen, subflow, listed.direction, &listed.happening);
            let remark = report.subflows.get(listed.subflow).and_then(|row| row.handshake_remark);
            if row.event == "reset" && remark.is_some_and(|remark| remark.starts_with("a middlebox reset it")) {
                row.detail = Some("sent by a middlebox");
            }
            report.events.push(row);
        }
    }
}

impl Events {
    fn list(&mut self, event: FlowEvent, happening: Happening, of_sender: bool) {
        if self.listed.len() == MOST_LISTED {
            self.left_out += 1;
            return;
        }
        let (seen, subflow, direction) = (event.seen, event.subflow, event.direction);
        self.listed.push(Listed { seen, subflow, direction, happening, of_sender });
    }
}
