use super::{Application, Backlog, Stream};
use transport::Event;
use wire::Time;

/// Answers each request as soon as it is whole, and finishes when the peer has.
#[derive(Clone, Debug)]
pub struct Responder {
    request_bytes: u64,
    response_bytes: u64,
    /// Bytes of the request that came so far.
    came: u64,
    backlog: Backlog,
}

impl Responder {
    /// Requests and answers of these sizes.
    ///
    /// # Panics
    /// When requests are empty.
    pub fn new(request_bytes: u64, response_bytes: u64) -> Responder {
        assert!(request_bytes > 0, "requests without a byte");
        Responder { request_bytes, response_bytes, came: 0, backlog: Backlog::default() }
    }
}

impl Application for Responder {
    fn on(&mut self, _now: Time, event: Event, stream: &mut Stream) {
        if matches!(event, Event::Readable | Event::Finished) {
            self.came += stream.read();
            self.backlog.add(self.came / self.request_bytes * self.response_bytes);
            self.came %= self.request_bytes;
        }
        if !matches!(event, Event::Closed(_)) && self.backlog.flush(stream) && stream.progress().peer_finished {
            stream.finish();
        }
    }
}
