//! What packets meet on their way: rates, delays, losses, queues, outages. One element is one file.
//!
//! An element is a state machine without clock, I/O or ambient chance: time comes in with every call, random numbers
//! from the stream it was made with. Processes evolve with time, so that two runs with one seed meet the same radio
//! however many packets they send; where packets themselves draw, the element's description says so.
//!
//! [`build`] makes an element from its description in a scenario, a [`Chain`] puts elements in a row. [`elements`] and
//! [`queues`] say what there is. To add an element: a file in `elements/` and a line in `elements/mod.rs`.

mod chain;
mod element;
mod elements;
mod flight;
mod flow;
mod gate;
mod in_flight;
mod nat;
mod options;
mod parameter;
mod queue;
mod quoted;
mod random;
mod recorded;
mod segment;
mod server;
mod trace;
mod translation;
mod which;

pub use chain::Chain;
pub use element::{Change, Dropped, Element, Out, QueueState, Reason, Unsupported};
pub use elements::{build, elements};
pub use gate::Gate;
pub use nat::Nat;
pub use parameter::{Bytes, Count, DelayTrace, Duration, Flag, Number, Packets, Rate, RateTrace, Ratio, Text, Trace};
pub use parameters::{Description, Error, Parameter};
pub use queue::queues;
pub use random::Stream;
pub use trace::{TraceError, parse_trace};
pub use translation::{behind_nat64, dns64};
pub use wire::Direction;
