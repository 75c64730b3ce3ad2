use super::{Application, Backlog, Stream};
use transport::Event;
use wire::Time;

/// Asks, waits for the whole answer, thinks, asks again; finishes after its last answer.
#[derive(Clone, Debug)]
pub struct Requester {
    request_bytes: u64,
    response_bytes: u64,
    /// Requests still to be sent.
    requests: u64,
    think_ns: i64,
    /// Bytes of the answer that are still to come.
    awaited: u64,
    next: Time,
    backlog: Backlog,
}

impl Requester {
    /// So many requests, each answered by `response_bytes`, and `think_ns` from an answer to the next request.
    pub fn new(request_bytes: u64, response_bytes: u64, requests: u64, think_ns: i64) -> Requester {
        let (awaited, next, backlog) = (0, Time::MAX, Backlog::default());
        Requester { request_bytes, response_bytes, requests, think_ns, awaited, next, backlog }
    }

    fn ask(&mut self, stream: &mut Stream) {
        match self.requests.checked_sub(1) {
            Some(left) => {
                self.requests = left;
                self.awaited = self.response_bytes;
                self.backlog.add(self.request_bytes);
                self.backlog.flush(stream);
            }
            None => stream.finish(),
        }
    }
}

impl Application for Requester {
    fn on(&mut self, now: Time, event: Event, stream: &mut Stream) {
        match event {
            Event::Connected => self.ask(stream),
            Event::Writable => {
                self.backlog.flush(stream);
            }
            Event::Readable | Event::Finished => {
                let read = stream.read();
                if self.awaited > 0 {
                    self.awaited = self.awaited.saturating_sub(read);
                    match (self.awaited, self.requests) {
                        (0, 0) => stream.finish(),
                        (0, _) => self.next = now + self.think_ns,
                        _ => {}
                    }
                }
            }
            Event::Closed(_) => self.next = Time::MAX,
            Event::Accepted { .. }
            | Event::Spent { .. }
            | Event::Probe { .. }
            | Event::Decided { .. }
            | Event::Delivered => {}
        }
    }

    fn wake(&mut self, now: Time, stream: &mut Stream) {
        if now >= self.next {
            self.next = Time::MAX;
            self.ask(stream);
        }
    }

    fn deadline(&self) -> Time {
        self.next
    }
}
