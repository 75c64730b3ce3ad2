//! What an endpoint tells its host.

use crate::path_manager::{Budgeted, Closed};
use std::net::{IpAddr, SocketAddr};

/// What an endpoint tells its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A peer opened a connection to a port that listens.
    Accepted {
        /// The port.
        port: u16,
    },
    /// The connection can carry data.
    Connected,
    /// There is something to read.
    Readable,
    /// There is room to write again.
    Writable,
    /// The peer sent all it had: after what is readable nothing comes.
    Finished,
    /// The peer acknowledged all that was written and the end of it.
    Delivered,
    /// The path manager has used up what an address may carry or cost.
    Spent {
        /// The address.
        address: IpAddr,
        /// What it lacks.
        budget: Budgeted,
    },
    /// The path manager asks the peer's host for an answer: [`Endpoint::answered`](super::Endpoint::answered).
    Probe {
        /// From this address.
        local: IpAddr,
        /// To this one.
        remote: IpAddr,
        /// What the answer is known by.
        number: u16,
    },
    /// The path manager found something of the path of an address. In a box, since it is far longer than what happens often.
    Decided(Box<PathDecision>),
    /// The connection is over; nothing more comes of it.
    Closed(Outcome),
}

/// What a path manager found of the path of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathDecision {
    /// Both ends of the connection's first subflow.
    pub ends: (SocketAddr, SocketAddr),
    /// The address.
    pub address: IpAddr,
    /// What, on what evidence.
    pub decision: guard::Decision,
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Both directions were finished and acknowledged.
    Complete,
    /// It could not be opened or went on without an answer.
    Failed(Closed),
    /// This end aborted it.
    Aborted,
}
