//! What stands between hosts: links, paths, routes, and what happens to them.

mod network;
mod timeline;

pub use network::{CLIENT, Link, Network, Owner, Path, Routes, SERVER};
pub use timeline::{Action, Timeline};
