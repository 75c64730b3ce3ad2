//! TCP subflows: packet scripts, and transfers over bad links.

mod pair;
mod transfer;
