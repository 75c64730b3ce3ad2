//! pcap and pcapng, read as observations and written from them.
//!
//! [`Reader`] gives one capture packet by packet, [`Merge`] several captures as one stream of [`wire::Observation`]s in
//! time order, [`Ahead`] the same on a thread of its own; [`Writer`] makes pcapng. Everything streams; nothing is held longer than it takes to put packets in
//! order. Whatever the bytes, reading neither panics nor hangs, and no record takes more than 16 MiB.

mod ahead;
mod buffer;
mod compression;
mod error;
mod interface;
mod link_layer;
mod merge;
mod order;
mod pcap;
mod pcapng;
mod points;
mod reader;
mod record;
mod source;
mod statistics;
mod window;
mod writer;

pub use ahead::{Ahead, Batch};
pub use error::{Error, Fault};
pub use interface::Interface;
pub use link_layer::{LinkType, Network};
pub use merge::Merge;
pub use order::sort;
pub use reader::{Packet, Reader};
pub use statistics::FileStatistics;
pub use writer::Writer;
