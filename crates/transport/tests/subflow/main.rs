//! TCP subflows: packet scripts, and transfers over bad links.

mod closing;
mod headers;
mod law;
mod opening;
mod pair;
mod receiving;
mod repairing;
mod script;
mod transfer;
