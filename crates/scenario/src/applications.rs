//! Which applications a transfer has at either end.

use crate::Error;
use crate::form::Transfer;
use host::Application;
use host::applications::{Bulk, Constant, Idle, Requester, Responder, Sink};
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
        _ if end != source => Box::new(Sink),
        Transfer::Bulk { size_bytes: Some(bytes), .. } => Box::new(Bulk::of_size(bytes)),
        Transfer::Bulk { duration_ns, .. } => Box::new(Bulk::for_time(duration_ns.unwrap_or(0))),
        Transfer::ConstantBitRate { rate_bits_per_second, message_bytes, duration_ns, .. } => {
            Box::new(Constant::new(rate_bits_per_second, message_bytes, duration_ns))
        }
        Transfer::Idle { duration_ns, message_bytes, .. } => Box::new(Idle::new(duration_ns, message_bytes)),
    }
}

/// Refuses what no application can do.
pub(crate) fn check(transfer: &Transfer) -> Result<(), Error> {
    let fault = |fault: &str| Err(Error::fault("transfer", fault));
    match *transfer {
        Transfer::Bulk { size_bytes, duration_ns, .. } => {
            if size_bytes.is_some() == duration_ns.is_some() {
                return fault("a bulk transfer has either a size or a duration");
            }
        }
        Transfer::RequestResponse { request_bytes, response_bytes, requests, .. } => {
            if request_bytes == 0 || response_bytes == 0 || requests == 0 {
                return fault("requests and answers have at least one byte, and there is at least one");
            }
        }
        Transfer::ConstantBitRate { rate_bits_per_second, message_bytes, .. } => {
            if rate_bits_per_second == 0 || message_bytes == 0 {
                return fault("messages have at least one byte and a rate");
            }
        }
        Transfer::Idle { message_bytes, .. } => {
            if message_bytes == 0 {
                return fault("the message at the end has at least one byte");
            }
        }
    }
    Ok(())
}
