//! TCP subflows: packet scripts, and transfers over bad links.

mod closing;
mod coverage;
mod deferring;
mod ecn;
mod ending;
mod era_2012;
mod headers;
mod idle;
mod law;
#[path = "../moves/mod.rs"]
mod moves;
mod opening;
mod pair;
mod receiving;
mod repairing;
mod script;
mod timing_out;
mod transfer;
mod undoing;
