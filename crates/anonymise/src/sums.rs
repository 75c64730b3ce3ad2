//! The Internet checksum (RFC 1071), of bytes that are there.

/// The checksum of these bytes, one after the other; all but the last have an even number.
pub fn checksum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().flat_map(|part| part.chunks(2));
    let mut sum: u32 = 0;
    for word in words {
        sum += u32::from(u16::from_be_bytes([word[0], word.get(1).copied().unwrap_or(0)]));
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
