//! REMOVE_ADDR withdraws addresses (RFC 8684 §3.4.2, figure 13).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +---------------+---------------+-------+-------+---------------+
//! |     Kind      |  Length = 3+n |Subtype|(resvd)|   Address ID  | ...
//! +---------------+---------------+-------+-------+---------------+
//!                            (followed by n-1 Address IDs, if required)
//! ```

use crate::Malformed;
use crate::emit::Writer;

pub(super) const SUBTYPE: u8 = 4;

/// Identifiers that fit into a TCP header.
const MAX: usize = 37;

/// Addresses that are gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoveAddr {
    /// Zero beyond `len`, for equality.
    ids: [u8; MAX],
    len: u8,
}

impl RemoveAddr {
    /// Address identifiers.
    pub fn ids(&self) -> &[u8] {
        &self.ids[..usize::from(self.len)]
    }

    /// From one to 37 identifiers; none where there are fewer or more.
    pub fn new(ids: &[u8]) -> Option<Self> {
        let mut remove = RemoveAddr { ids: [0; MAX], len: ids.len() as u8 };
        remove.ids.get_mut(..ids.len())?.copy_from_slice(ids);
        (!ids.is_empty()).then_some(remove)
    }

    pub(super) fn parse(data: &[u8]) -> Result<Self, Malformed> {
        RemoveAddr::new(&data[1..]).ok_or(Malformed::length("REMOVE_ADDR", data.len()))
    }

    pub(super) fn emit(&self, out: &mut Writer) {
        out.put(&[SUBTYPE << 4]);
        out.put(self.ids());
    }
}
