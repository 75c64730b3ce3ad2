//! The MPTCP endpoint (RFC 8684) over TCP (RFC 9293) as a state machine without I/O.
//!
//! An [`Endpoint`] is driven by five verbs: [`handle`](Endpoint::handle) a packet, [`transmit`](Endpoint::transmit)
//! the next one, ask its [`deadline`](Endpoint::deadline), tell it that a [`timeout`](Endpoint::timeout) came, and
//! take its [`event`](Endpoint::event)s. Streams are lengths: what they carry is the pattern of [`wire`].
//!
//! Mechanism and policy are apart. `subflow` and `recovery` are TCP, `connection` is MPTCP; controllers, schedulers
//! and path managers stand behind small traits, one file each, in `congestion`, `scheduler` and `path_manager`.
//!
//! What is rare is kept out of line (`#[cold]`, `#[inline(never)]`), so that what every packet runs through finds room in
//! a processor's instruction cache.

pub mod config;
pub mod congestion;
mod connection;
mod context;
mod deadlines;
mod early_joins;
mod endpoint;
pub mod era;
mod memory;
mod metrics;
pub mod path_manager;
mod policy;
mod ready;
pub mod recovery;
pub mod scheduler;
mod slow_start;
pub mod subflow;
mod tuples;

pub use config::Config;
pub use deadlines::Deadlines;
pub use endpoint::{ConnectionId, Endpoint, Event, Nic, Outcome, PathDecision, Snapshot, SubflowSnapshot};
pub use slow_start::SlowStart;
