//! Loss detection from duplicate ACKs alone, where the peer sends no selective ones (RFC 6582).
//!
//! Each duplicate says that some segment arrived. Counting those as out of the flight lets new ones go, which is the
//! limited transmit of RFC 3042 before recovery and the inflated window of RFC 6582 §3.2 in it.

/// Duplicate ACKs that make a loss (RFC 5681 §3.2).
pub const THRESHOLD: u32 = 3;

/// The duplicates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NewReno {
    duplicates: u32,
    recover: u64,
}

impl NewReno {
    /// A duplicate ACK came while `flight` segments are not acknowledged. Whether it counts: no more than can have arrived.
    pub fn duplicate(&mut self, flight: u32) -> bool {
        // The one at the front did not arrive.
        let counts = self.duplicates + 1 < flight;
        self.duplicates += u32::from(counts);
        counts
    }

    /// An ACK newly acknowledges `packets`: the first of them filled the hole, the others had their duplicates. How many
    /// arrive news.
    pub fn acknowledged(&mut self, packets: u32) -> u32 {
        let known = self.duplicates.min(packets.saturating_sub(1));
        self.duplicates -= known;
        packets - known
    }

    /// Whether recovery starts, everything below `acked` being acknowledged: not for duplicates that earlier repairs
    /// caused (RFC 6582 §3.2 step 2).
    pub fn is_lost(&self, acked: u64) -> bool {
        self.duplicates >= THRESHOLD && acked > self.recover
    }

    /// A repair starts that ends when everything below `next` is acknowledged.
    pub fn start(&mut self, next: u64) {
        self.recover = next;
    }

    /// A repair is over, or a time-out began one anew.
    pub fn reset(&mut self) {
        self.duplicates = 0;
    }

    /// Segments that arrived beyond the hole.
    pub fn duplicates(&self) -> u32 {
        self.duplicates
    }
}
