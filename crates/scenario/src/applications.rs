//! Which applications a transfer has at either end.

use crate::Error;
use crate::form::Transfer;
use host::Application;
use host::applications::{Bulk, Constant, Idle, Ladder, Media, Player, Requester, Responder, Sink};
use wire::Direction;

/// Where an application runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The client.
    Client,
    /// The server.
    Server,
}

/// The application of `transfer` at one end.
pub fn at(end: End, transfer: &Transfer) -> Box<dyn Application> {
    // Who sends the data, or answers.
    let source = match transfer.direction() {
        Direction::Up => End::Client,
        Direction::Down => End::Server,
    };
    match *transfer {
        Transfer::RequestResponse { request_bytes, response_bytes, requests, think_ns, .. } => {
            if end == source {
                Box::new(Responder::new(request_bytes, response_bytes))
            } else {
                Box::new(Requester::new(request_bytes, response_bytes, requests, think_ns))
            }
        }
        Transfer::Video {
            duration_ns,
            segment_ns,
            lowest_bitrate_bits_per_second: rate,
            bitrates: steps,
            buffer_ns,
            startup_ns,
            request_bytes,
            ..
        } => {
            let lowest_bytes = segment_bytes(segment_ns, rate);
            if end == source {
                Box::new(Responder::new(request_bytes, lowest_bytes))
            } else {
                let ladder = Ladder { lowest_bytes, steps, request_bytes };
                let segments = (duration_ns / segment_ns) as u64;
                Box::new(Player::new(ladder, Media { segment_ns, startup_ns, buffer_ns }, segments))
            }
        }
        _ if end != source => Box::new(Sink),
        Transfer::Bulk { size_bytes: Some(bytes), .. } => Box::new(Bulk::of_size(bytes)),
        Transfer::Bulk { duration_ns, .. } => Box::new(Bulk::for_time(duration_ns.unwrap_or(0))),
        Transfer::ConstantBitRate { rate_bits_per_second, message_bytes, duration_ns, .. } => {
            Box::new(Constant::new(rate_bits_per_second, message_bytes, duration_ns))
        }
        Transfer::Idle { duration_ns, message_bytes, .. } => Box::new(Idle::new(duration_ns, message_bytes)),
    }
}

/// Bytes of a segment of so much media time at a bitrate.
pub fn segment_bytes(segment_ns: i64, bits_per_second: u64) -> u64 {
    (u128::from(bits_per_second) * segment_ns.max(0) as u128 / 8_000_000_000) as u64
}

/// Refuses what no application can do.
pub(crate) fn check(transfer: &Transfer) -> Result<(), Error> {
    let fault = |fault: &str| Err(Error::fault("transfer", fault));
    match *transfer {
        Transfer::Bulk { size_bytes, duration_ns, .. } => {
            if size_bytes.is_some() == duration_ns.is_some() {
                return fault("a bulk transfer needs either a size or a duration, not both");
            }
        }
        Transfer::RequestResponse { request_bytes, response_bytes, requests, deadline_ns, .. } => {
            if deadline_ns.is_some_and(|deadline_ns| deadline_ns <= 0) {
                return fault("the deadline must be longer than 0");
            }
            if request_bytes == 0 || response_bytes == 0 || requests == 0 {
                return fault("requests and answers need at least one byte, and there must be at least one request");
            }
        }
        Transfer::ConstantBitRate { rate_bits_per_second, message_bytes, deadline_ns, codec, .. } => {
            if deadline_ns.is_some_and(|deadline_ns| deadline_ns <= 0) {
                return fault("the deadline must be longer than 0");
            }
            if codec.is_some() && deadline_ns.is_none() {
                return fault("a codec needs a deadline: it says when a frame is played");
            }
            if rate_bits_per_second == 0 || message_bytes == 0 {
                return fault("messages need at least one byte and a rate");
            }
        }
        Transfer::Video {
            direction,
            duration_ns,
            segment_ns,
            lowest_bitrate_bits_per_second: rate,
            bitrates,
            buffer_ns,
            startup_ns,
            request_bytes,
        } => {
            if direction != Direction::Down {
                return fault("a video can only be downloaded");
            }
            if segment_ns <= 0 || startup_ns <= 0 || request_bytes == 0 || !(1..=10).contains(&bitrates) {
                return fault("a video needs segments, a startup, requests, and 1 to 10 bitrates");
            }
            if duration_ns < segment_ns || duration_ns % segment_ns != 0 {
                return fault("the duration of a video must be a multiple of the duration of its segments");
            }
            if startup_ns.saturating_add(segment_ns) > buffer_ns {
                return fault(
                    "the buffer must hold the startup and one more segment: make it larger, or startup shorter",
                );
            }
            if segment_bytes(segment_ns, rate) == 0 {
                return fault("segments need at least one byte");
            }
        }
        Transfer::Idle { message_bytes, .. } => {
            if message_bytes == 0 {
                return fault("the message at the end needs at least one byte");
            }
        }
    }
    Ok(())
}
