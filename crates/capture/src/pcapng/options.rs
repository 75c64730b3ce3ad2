use super::endian::Endian;

/// The options of a block (§3.5): code and value. Ends at the end-of-options or at the first that does not fit.
#[inline]
pub(crate) fn options(mut bytes: &[u8], endian: Endian) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        if bytes.len() < 4 {
            return None;
        }
        let (code, length) = (endian.half(bytes, 0), usize::from(endian.half(bytes, 2)));
        if code == 0 {
            return None;
        }
        let value = bytes.get(4..4 + length)?;
        bytes = bytes.get(4 + length.next_multiple_of(4)..).unwrap_or(&[]);
        Some((code, value))
    })
}
