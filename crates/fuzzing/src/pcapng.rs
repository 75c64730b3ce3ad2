//! A pcapng, read whole and byte by byte, gives the same observations, each packet accounted for.

/// What begins otherwise is left to the target `pcap`.
pub fn check(data: &[u8]) {
    if data.starts_with(b"\x0a\x0d\x0d\x0a") {
        crate::reading::check(data);
    }
}
