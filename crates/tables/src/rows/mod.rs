//! One table, one file.

pub mod connections;
pub mod counters;
pub mod diagnostics;
pub mod distributions;
pub mod drops;
pub mod events;
pub mod findings;
pub mod flows;
pub mod positions;
pub mod probes;
pub mod queues;
pub mod radio;
pub mod reordering;
pub mod responses;
pub mod rtt;
pub mod segments;
pub mod signals;
pub mod state;
pub mod subflows;
pub mod throughput;
pub mod transfers;
pub mod window;
