//! Response times, where client and server take turns: from a request's first data until the last of its response is in
//! order at the client.

use super::{Metric, distribution};
use crate::Options;
use crate::event::{FlowEvent, Kind, Seen};
use crate::histogram::Histogram;
use crate::report::{Closing, Report};
use tables::Direction;
use wire::Time;

pub(crate) struct Responses {
    turn: Option<Turn>,
    times: Histogram,
    samples: Option<Vec<Turn>>,
}

/// A request, and what has come in answer.
struct Turn {
    asked: Seen,
    request_bytes: u64,
    answer: Option<Answer>,
}

struct Answer {
    first: Time,
    last: Time,
    bytes: u64,
}

impl Metric for Responses {
    fn new(options: &Options, _: Time) -> Self {
        Responses { turn: None, times: Histogram::default(), samples: options.samples.then(Vec::new) }
    }

    #[inline(always)]
    fn on(&mut self, event: &FlowEvent) {
        // In order, whatever was sent again: at the client what it sent passes so, too.
        let Kind::Progress { bytes } = event.kind else { return };
        match event.direction {
            Direction::Up => self.asked(event.seen, bytes),
            Direction::Down => {
                if let Some(turn) = &mut self.turn {
                    let at = event.seen.at;
                    let answer = turn.answer.get_or_insert(Answer { first: at, last: at, bytes: 0 });
                    answer.last = at;
                    answer.bytes += bytes;
                }
            }
        }
    }

    fn finish(&mut self, closing: &Closing, report: &mut Report) {
        if !closing.is_receiver(Direction::Down) {
            return;
        }
        self.answered();
        let (times, row) = (&self.times, &mut report.transfers[Direction::Down as usize]);
        report.distributions.extend(distribution::rows(times, "response_time", None, Direction::Down));
        row.responses = Some(times.count());
        row.response_time_ms_mean = times.mean_ms();
        row.response_time_ms_median = times.quantile_ms(0.5);
        row.response_time_ms_p95 = times.quantile_ms(0.95);
        row.response_time_ms_max = times.max_ms();
        report.responses.extend(self.samples.take().unwrap_or_default().into_iter().filter_map(|turn| {
            let Turn { asked, request_bytes, answer: Some(answer) } = turn else { return None };
            Some(tables::Response {
                connection: 0,
                at_ns: asked.at.as_nanos(),
                at_s: closing.seconds(asked.at),
                request_bytes,
                response_bytes: answer.bytes,
                first_data_ms: (answer.first - asked.at) as f64 / 1e6,
                response_time_ms: (answer.last - asked.at) as f64 / 1e6,
                capture: closing.capture(asked),
                record: asked.record,
            })
        }));
    }
}

impl Responses {
    /// The client sends: more of its request, or, once there was an answer, the next.
    fn asked(&mut self, seen: Seen, bytes: u64) {
        match &mut self.turn {
            Some(turn) if turn.answer.is_none() => turn.request_bytes += bytes,
            _ => {
                self.answered();
                self.turn = Some(Turn { asked: seen, request_bytes: bytes, answer: None });
            }
        }
    }

    fn answered(&mut self) {
        let Some(turn) = self.turn.take() else { return };
        let Some(answer) = &turn.answer else { return };
        self.times.add((answer.last - turn.asked.at).max(0) as u64);
        if let Some(samples) = &mut self.samples {
            samples.push(turn);
        }
    }
}
