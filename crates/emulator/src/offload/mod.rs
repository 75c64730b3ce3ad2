//! GSO packets: what the kernel would cut only before a wire (GSO) is cut into packets of the path's MTU for the
//! elements of a link, and what is contiguous behind them is merged again.

mod header;
mod merge;
mod split;
#[cfg(test)]
mod tests;

pub(crate) use header::{Header, Segments};
pub(crate) use merge::Group;
pub(crate) use split::split;
