use crate::LinkType;

/// An interface of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its name, empty where the capture has none.
    pub name: String,
    /// How its packets begin.
    pub link_type: LinkType,
    /// At most so many bytes of a packet were captured; 0: all.
    pub snap_length: u32,
    /// The step of its clock in nanoseconds, rounded up.
    pub resolution_ns: u64,
    /// Packets that passed and were not captured, where the capture says: by the statistics of the interface (the last
    /// ones given), else by the counts at its packets.
    pub drops: Option<u64>,
}
