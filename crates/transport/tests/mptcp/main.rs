//! The connection against a peer that is a script.

mod fallback;
mod joining;
mod opening;
mod script;
