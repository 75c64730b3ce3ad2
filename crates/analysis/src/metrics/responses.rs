//! Response times, where client and server take turns: from a request's first data until the last of its response is in
//! order at the client. What a server says of its own accord after a silence (a TLS close_notify, a ping) is no part of it,
//! nor a response where nothing else comes.

use super::distribution;
use super::metric::Metric;
use crate::Options;
use crate::closing::Closing;
use crate::event::{FlowEvent, Kind, Seen};
use crate::histogram::Histogram;
use crate::quality::Application;
use crate::report::Report;
use tables::Direction;
use wire::Time;

pub(crate) struct Responses {
    turn: Option<Turn>,
    times: Histogram,
    samples: Option<Vec<Turn>>,
    /// What the client sent, less what was acknowledged.
    unacknowledged_bytes: i64,
    deadline_ns: Option<i64>,
    /// Answers that came in time, and requests, where there is a deadline.
    in_time: u64,
    asked: u64,
}

/// A request, and what has come in answer.
struct Turn {
    asked: Seen,
    request_bytes: u64,
    /// When all of it was acknowledged.
    heard: Option<Time>,
    answer: Option<Answer>,
}

struct Answer {
    first: Time,
    /// When the latest came, and how much in all.
    last: Time,
    bytes: u64,
    /// The same before the latest silence, where only a little came since.
    before_silence: Option<(Time, u64)>,
}

/// Nothing came for so long: the server may have said all.
const SILENCE_NANOS: i64 = 1_000_000_000;
/// What goes on after a silence brings more. An alert or a ping of TLS 1.2 or 1.3 takes up to 80 bytes, also of HTTP/2 with both.
const LITTLE_BYTES: u64 = 128;

impl Metric for Responses {
    fn new(options: &Options, _: Time) -> Self {
        Responses {
            turn: None,
            times: Histogram::default(),
            samples: options.samples.then(Vec::new),
            unacknowledged_bytes: 0,
            deadline_ns: deadline(options),
            in_time: 0,
            asked: 0,
        }
    }

    #[inline(always)]
    fn on(&mut self, event: &FlowEvent) {
        match (&event.kind, event.direction) {
            // In order, whatever was sent again: at the client what it sent passes so, too.
            (&Kind::Progress { bytes }, Direction::Up) => self.asked(event.seen, bytes),
            (&Kind::Progress { bytes }, Direction::Down) => {
                if let Some(turn) = &mut self.turn {
                    let at = event.seen.at;
                    turn.answer.get_or_insert_with(|| Answer::new(at, turn.heard)).add(at, bytes);
                }
            }
            (&Kind::DataAcked { bytes }, Direction::Up) => self.acknowledged(event.seen.at, bytes),
            _ => (),
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
        if let Some(deadline_ns) = self.deadline_ns.filter(|_| self.asked > 0) {
            row.deadline_ms = Some(deadline_ns as f64 / 1e6);
            // What never came is late.
            row.late_share = Some((self.asked - self.in_time) as f64 / self.asked as f64);
        }
        report.responses.extend(self.samples.take().unwrap_or_default().into_iter().filter_map(|turn| {
            let Turn { asked, request_bytes, answer: Some(answer), .. } = turn else { return None };
            let (last, response_bytes) = answer.end();
            Some(tables::Response {
                connection: 0,
                at_ns: asked.at.as_nanos(),
                at_s: closing.seconds(asked.at),
                request_bytes,
                response_bytes,
                first_data_ms: (answer.first - asked.at) as f64 / 1e6,
                response_time_ms: (last - asked.at) as f64 / 1e6,
                capture: Some(closing.capture(asked)),
                record: Some(asked.record),
            })
        }));
    }
}

/// When an answer is late, where that is known.
fn deadline(options: &Options) -> Option<i64> {
    match options.application {
        Some(Application::Responses { deadline_ns }) => Some(deadline_ns),
        _ => None,
    }
}

impl Responses {
    /// The client sends: more of its request, or, once there was an answer, the next.
    fn asked(&mut self, seen: Seen, bytes: u64) {
        self.unacknowledged_bytes += bytes as i64;
        match &mut self.turn {
            Some(turn) if turn.answer.is_none() => {
                turn.request_bytes += bytes;
                turn.heard = None;
            }
            _ => {
                self.answered();
                self.turn = Some(Turn { asked: seen, request_bytes: bytes, heard: None, answer: None });
            }
        }
    }

    /// Where answers have a deadline, the application is known, and whatever comes is an answer.
    fn acknowledged(&mut self, at: Time, bytes: u64) {
        self.unacknowledged_bytes -= bytes as i64;
        if self.unacknowledged_bytes <= 0
            && self.deadline_ns.is_none()
            && let Some(turn) = &mut self.turn
        {
            turn.heard.get_or_insert(at);
        }
    }

    fn answered(&mut self) {
        let Some(turn) = self.turn.take() else { return };
        self.asked += 1;
        let Some(answer) = turn.answer.as_ref().filter(|answer| answer.end().1 > 0) else { return };
        let took_ns = (answer.end().0 - turn.asked.at).max(0);
        self.times.add(took_ns as u64);
        self.in_time += u64::from(self.deadline_ns.is_some_and(|deadline_ns| took_ns <= deadline_ns));
        if let Some(samples) = &mut self.samples {
            samples.push(turn);
        }
    }
}

impl Answer {
    /// An answer that begins; a silence may lie between it and when the request was heard.
    fn new(at: Time, heard: Option<Time>) -> Self {
        Answer { first: at, last: heard.unwrap_or(at), bytes: 0, before_silence: None }
    }

    fn add(&mut self, at: Time, bytes: u64) {
        if at - self.last >= SILENCE_NANOS {
            self.before_silence = Some(self.end());
            self.bytes = self.end().1;
        }
        self.bytes += bytes;
        self.last = at;
        self.before_silence = self.before_silence.filter(|(_, before)| self.bytes - before <= LITTLE_BYTES);
    }

    /// When it was complete, and its length.
    fn end(&self) -> (Time, u64) {
        self.before_silence.unwrap_or((self.last, self.bytes))
    }
}
