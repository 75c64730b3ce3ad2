/// The byte order of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endian {
    Little,
    Big,
}

impl Endian {
    /// From the byte-order magic of a section header block.
    pub fn of_section(block: &[u8]) -> Option<Endian> {
        match block[8..12] {
            [0x4d, 0x3c, 0x2b, 0x1a] => Some(Endian::Little),
            [0x1a, 0x2b, 0x3c, 0x4d] => Some(Endian::Big),
            _ => None,
        }
    }

    #[inline]
    pub fn half(self, bytes: &[u8], at: usize) -> u16 {
        let raw = [bytes[at], bytes[at + 1]];
        match self {
            Endian::Little => u16::from_le_bytes(raw),
            Endian::Big => u16::from_be_bytes(raw),
        }
    }

    #[inline]
    pub fn word(self, bytes: &[u8], at: usize) -> u32 {
        let raw = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        match self {
            Endian::Little => u32::from_le_bytes(raw),
            Endian::Big => u32::from_be_bytes(raw),
        }
    }

    #[inline]
    pub fn double(self, bytes: &[u8], at: usize) -> u64 {
        let (first, second) = (u64::from(self.word(bytes, at)), u64::from(self.word(bytes, at + 4)));
        match self {
            Endian::Little => second << 32 | first,
            Endian::Big => first << 32 | second,
        }
    }
}
