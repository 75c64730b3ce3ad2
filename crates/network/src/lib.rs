//! What stands between hosts: links, paths, routes, and what happens to them.
//!
//! ```text
//!                    gate, NAT                                    ┌ server (1 to n addresses)
//!  client ─ interface ─ path ─┬─ link (elements each way) ─ router┤
//!         └ interface ─ path ─┘     │                             └ peers of cross traffic
//!                     neighbours ───┘  (links may be shared)
//! ```
//!
//! A [`Network`] is a state machine without clock or I/O. Whoever drives it
//!
//! 1. injects the packets that hosts send ([`Network::inject`]);
//! 2. asks what is due [`next`](Network::next) and wakes it then ([`Network::wake`]): a link that packets may leave, or
//!    the timeline, which may give an [`Event`];
//! 3. after both, polls for packets that have come to a host until there are none ([`Network::poll`]).
//!
//! Packets that go on at one instant do so in the order in which they came. A [`Tap`] observes what happens on the way.
//! The simulator drives a network in virtual time, with hosts at its ends. Each thread of the emulator drives one in real
//! time, with ports at its ends: a part that was [split](Network::split) off, or the whole.

mod build;
mod elements;
mod network;
mod routes;
mod split;
mod tap;
mod timeline;

pub use elements::elements;
pub use network::{Due, Entry, Event, Exit, Link, Network, Path};
pub use routes::{Owner, Routes};
pub use tap::{DropPoint, Tap};
pub use timeline::presence;

/// Index of the client among hosts.
pub const CLIENT: usize = 0;
/// Of the server. Hosts of cross traffic follow.
pub const SERVER: usize = 1;

/// Indices of the hosts of the cross traffic with this index: the neighbour at the client's end of a link, and its peer
/// behind the router.
pub const fn cross_hosts(traffic: usize) -> [usize; 2] {
    [SERVER + 1 + 2 * traffic, SERVER + 2 + 2 * traffic]
}
