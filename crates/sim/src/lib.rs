//! Virtual time: a [`network::Network`] with hosts at its ends.
//!
//! A [`scenario::Scenario`] says what there is; [`Simulation`] runs it. Everything that waits for a time is a node with one
//! deadline. The next event is the earliest deadline; of equal ones that of the lowest node: first the network (the
//! timeline, then links by name), then hosts (client, server, cross traffic as listed). What an event lets loose at the same instant is
//! worked off in the order in which it came (first in, first out) before the next event. So the order of everything
//! is (time, node, sequence), and the same scenario with the same seed gives the same packets at the same times.
//!
//! Hosts see what comes a little later, at a time that is drawn where the scenario says so (`inbox.rs`).
//!
//! Nothing here opens a file: an [`Observer`] is handed every packet that passes the client or the server, and
//! [`Records`] keep what only a simulation knows.

mod build;
mod cross;
mod inbox;
mod observer;
mod outcome;
mod records;
mod simulation;
mod sink;

pub use observer::{Observer, Point};
pub use outcome::{Crossed, Outcome};
pub use records::Records;
pub use simulation::Simulation;
