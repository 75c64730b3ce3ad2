//! A pcap, read whole and byte by byte, gives the same observations, each packet accounted for.

/// Any bytes will do.
pub fn check(data: &[u8]) {
    crate::reading::check(data);
}
