//! The connection against a peer that is a script.

mod addresses;
mod closing;
mod coverage;
mod data;
mod ecn;
mod era_2012;
mod failing;
mod fallback;
mod joining;
#[path = "../moves/mod.rs"]
mod moves;
mod opening;
mod reinjecting;
mod script;
mod tcp;
mod too_big;
mod windows;
