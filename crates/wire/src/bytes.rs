//! Big-endian integers at fixed offsets. Callers have checked the length, so that bounds checks vanish.

#[inline(always)]
pub(crate) fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

#[inline(always)]
pub(crate) fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[inline(always)]
pub(crate) fn be64(bytes: &[u8], at: usize) -> u64 {
    u64::from(be32(bytes, at)) << 32 | u64::from(be32(bytes, at + 4))
}

#[inline(always)]
pub(crate) fn be128(bytes: &[u8], at: usize) -> u128 {
    u128::from(be64(bytes, at)) << 64 | u128::from(be64(bytes, at + 8))
}
