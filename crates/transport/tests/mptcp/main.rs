//! The connection against a peer that is a script.

mod addresses;
mod closing;
mod data;
mod failing;
mod fallback;
mod joining;
mod opening;
mod script;
mod tcp;
