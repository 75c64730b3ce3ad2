use super::{Application, Stream};
use transport::Event;
use wire::Time;

/// Reads all that comes, and finishes when the peer has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sink;

impl Application for Sink {
    fn on(&mut self, _now: Time, event: Event, stream: &mut Stream) {
        match event {
            Event::Readable => {
                stream.read();
            }
            Event::Finished => {
                stream.read();
                stream.finish();
            }
            _ => {}
        }
    }
}
