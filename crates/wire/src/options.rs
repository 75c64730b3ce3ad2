//! TCP options: kind, length, data; but for 0 (end of list) and 1 (no operation), one byte each (RFC 9293 §3.1).

use crate::bytes::{be16, be32};
use crate::emit::{Writer, check};
use crate::mptcp::{Dss, Mptcp};
use crate::{EmitError, Malformed};
use std::fmt;

/// Most option bytes that a TCP header has room for.
pub(crate) const MAX: usize = 40;

pub(crate) const END: u8 = 0;
pub(crate) const NO_OPERATION: u8 = 1;
const MAXIMUM_SEGMENT_SIZE: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
pub(crate) const SACK: u8 = 5;
pub(crate) const TIMESTAMPS: u8 = 8;
pub(crate) const MPTCP: u8 = 30;

/// Timestamps as they are laid out on a 32-bit boundary, up to their values (RFC 7323, appendix A).
pub(crate) const PADDED_TIMESTAMPS: [u8; 4] = [NO_OPERATION, NO_OPERATION, TIMESTAMPS, 10];

const KNOWN: [u8; 8] = [END, NO_OPERATION, MAXIMUM_SEGMENT_SIZE, WINDOW_SCALE, SACK_PERMITTED, SACK, TIMESTAMPS, MPTCP];

/// The option bytes of a TCP header, at most 40.
#[derive(Clone, Copy)]
#[repr(align(8))] // copies in words: a third faster than in bytes
pub struct Options {
    /// Those beyond `len` mean nothing.
    bytes: [u8; MAX],
    len: u8,
    /// Bytes on the wire after these, which the capture cut.
    cut: u8,
}

/// One option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpOption<'a> {
    /// Maximum segment size (RFC 9293 §3.7.1).
    MaximumSegmentSize(u16),
    /// Shift of the window (RFC 7323 §2).
    WindowScale(u8),
    /// Selective acknowledgement permitted (RFC 2018 §2).
    SackPermitted,
    /// Selective acknowledgement (RFC 2018 §3).
    Sack(SackBlocks),
    /// Timestamps (RFC 7323 §3).
    Timestamps {
        /// Sender's clock.
        value: u32,
        /// Echo of the peer's clock.
        echo: u32,
    },
    /// Multipath TCP, kind 30 (RFC 8684, RFC 6824).
    Mptcp(Mptcp<'a>),
    /// Any other.
    Unknown {
        /// Kind.
        kind: u8,
        /// Bytes after the length.
        data: &'a [u8],
    },
}

/// Up to four ranges [left, right) that arrived out of order (RFC 2018 §3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(u32, u32); 4],
    len: u8,
}

/// The options of a header, in order.
#[derive(Clone, Debug)]
pub struct OptionsIter<'a> {
    rest: &'a [u8],
}

impl Options {
    /// No options.
    pub const NONE: Options = Options { bytes: [0; MAX], len: 0, cut: 0 };

    /// Makes it none.
    #[inline]
    pub fn clear(&mut self) {
        (self.len, self.cut) = (0, 0);
    }

    /// The bytes as on the wire, as far as they were captured.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// How many bytes those are.
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        u32::from(self.len)
    }

    /// All the room that there is for them: copying it is cheaper than copying what is used.
    #[inline]
    pub(crate) fn room(&self) -> &[u8; MAX] {
        &self.bytes
    }

    /// Whether the header has more of them than were captured: what is not here may have been there.
    #[inline]
    pub fn is_cut(&self) -> bool {
        self.cut > 0
    }

    /// Bytes on the wire, however many of them were captured.
    #[inline]
    pub fn wire_len(&self) -> u32 {
        u32::from(self.len) + u32::from(self.cut)
    }

    /// The options in order. One whose contents are malformed is an error and the next is read all the same; one whose
    /// length runs over the end is the last.
    #[inline]
    pub fn iter(&self) -> OptionsIter<'_> {
        OptionsIter { rest: self.as_bytes() }
    }

    /// Options as they are to be on the wire, well-formed or not.
    ///
    /// # Errors
    /// [`EmitError::NoRoom`] for more than 40 bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Options, EmitError> {
        if bytes.len() > MAX {
            return Err(EmitError::NoRoom { what: "TCP options", need: bytes.len(), room: MAX });
        }
        Ok(Options::read(bytes, bytes.len()))
    }

    /// Appends an option, and before it what no-operations it takes to end on a 32-bit boundary.
    ///
    /// # Errors
    /// [`EmitError`], the options unchanged, when 40 bytes do not hold it or its fields contradict each other.
    #[inline]
    pub fn push(&mut self, option: &TcpOption) -> Result<(), EmitError> {
        match option {
            TcpOption::Mptcp(Mptcp::Dss(dss)) => self.push_dss(dss),
            &TcpOption::Timestamps { value, echo } => self.push_timestamps(value, echo),
            _ => self.push_any(option),
        }
    }

    fn push_any(&mut self, option: &TcpOption) -> Result<(), EmitError> {
        let len = usize::from(self.len);
        let room = &mut self.bytes[len..];
        let need = match option.emit(room) {
            Ok(need) if need + padding(len + need) <= room.len() => need,
            _ => return Err(self.refuse(option)),
        };
        let padding = padding(len + need);
        if padding > 0 {
            room.copy_within(..need, padding);
            room[..padding].fill(NO_OPERATION);
        }
        self.len += (padding + need) as u8;
        Ok(())
    }

    /// Appends timestamps as nearly all segments begin with.
    ///
    /// # Errors
    /// [`EmitError::NoRoom`], the options unchanged, when 40 bytes do not hold them.
    #[inline]
    pub fn push_timestamps(&mut self, value: u32, echo: u32) -> Result<(), EmitError> {
        let len = usize::from(self.len);
        let Some(room) = self.bytes[len..].first_chunk_mut::<12>().filter(|_| len % 4 == 0) else {
            return self.push_any(&TcpOption::Timestamps { value, echo });
        };
        room[..4].copy_from_slice(&PADDED_TIMESTAMPS);
        room[4..8].copy_from_slice(&value.to_be_bytes());
        room[8..].copy_from_slice(&echo.to_be_bytes());
        self.len += 12;
        Ok(())
    }

    /// Appends a DSS as nearly all segments of Multipath TCP have one.
    ///
    /// # Errors
    /// [`EmitError::NoRoom`], the options unchanged, when 40 bytes do not hold it.
    #[inline(always)] // an option whose parts are known is soon written
    pub fn push_dss(&mut self, dss: &Dss) -> Result<(), EmitError> {
        let len = usize::from(self.len);
        // Where the longest finds room.
        let Some(room) = self.bytes[len..].first_chunk_mut().filter(|_| len % 4 == 0) else {
            return self.push_any(&TcpOption::Mptcp(Mptcp::Dss(*dss)));
        };
        self.len += dss.lay_out([NO_OPERATION, MPTCP], room) as u8;
        Ok(())
    }

    /// Why an option was not appended.
    #[cold]
    fn refuse(&self, option: &TcpOption) -> EmitError {
        let len = usize::from(self.len);
        match option.emit(&mut [0; MAX]) {
            Ok(need) => EmitError::NoRoom { what: "TCP option", need: padding(len + need) + need, room: MAX - len },
            Err(error) => error,
        }
    }

    /// The first `len` of `bytes`, or as many as there are.
    #[inline]
    pub(crate) fn read(bytes: &[u8], len: usize) -> Options {
        if let Some(all) = bytes.first_chunk::<MAX>() {
            // One copy of fixed size is cheaper than one of the right size.
            return Options { bytes: *all, len: len.min(MAX) as u8, cut: 0 };
        }
        let mut options = Options::NONE;
        let (on_wire, len) = (len.min(MAX), len.min(bytes.len()).min(MAX));
        // Nearly always whole words: a call to copy so few bytes costs more than the loop.
        let mut at = 0;
        while let Some(eight) = bytes[at..len].first_chunk::<8>() {
            options.bytes[at..at + 8].copy_from_slice(eight);
            at += 8;
        }
        options.bytes[at..len].copy_from_slice(&bytes[at..len]);
        (options.len, options.cut) = (len as u8, (on_wire - len) as u8);
        options
    }
}

/// No-operations before an option that would end after `end` bytes, for it to end on a 32-bit boundary.
fn padding(end: usize) -> usize {
    end.wrapping_neg() % 4
}

impl PartialEq for Options {
    fn eq(&self, other: &Self) -> bool {
        // A call for a few words takes longer than comparing them.
        let (words, rest) = self.as_bytes().as_chunks::<4>();
        let (other_words, other_rest) = other.as_bytes().as_chunks();
        words.iter().eq(other_words) && rest.iter().eq(other_rest)
    }
}

impl Eq for Options {}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_tuple("Options").field(&self.as_bytes()).finish()
    }
}

impl<'a> IntoIterator for &'a Options {
    type Item = Result<TcpOption<'a>, Malformed>;
    type IntoIter = OptionsIter<'a>;

    fn into_iter(self) -> OptionsIter<'a> {
        self.iter()
    }
}

impl<'a> Iterator for OptionsIter<'a> {
    type Item = Result<TcpOption<'a>, Malformed>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (&kind, rest) = self.rest.split_first()?;
            match kind {
                END => {
                    self.rest = &[];
                    return None;
                }
                NO_OPERATION => self.rest = rest,
                _ => {
                    let len = rest.first().map_or(0, |&len| usize::from(len));
                    if len < 2 || len > self.rest.len() {
                        return Some(Err(self.broken(len)));
                    }
                    let (option, rest) = self.rest.split_at(len);
                    self.rest = rest;
                    return Some(TcpOption::parse(kind, &option[2..]));
                }
            }
        }
    }
}

impl std::iter::FusedIterator for OptionsIter<'_> {}

impl OptionsIter<'_> {
    #[cold]
    fn broken(&mut self, len: usize) -> Malformed {
        let rest = std::mem::take(&mut self.rest);
        match rest.len() {
            1 => Malformed::short("TCP option", 2, 1),
            _ if len < 2 => Malformed::field("TCP option", "length", len as u32),
            have => Malformed::short("TCP option", len, have),
        }
    }
}

impl<'a> TcpOption<'a> {
    #[inline]
    fn parse(kind: u8, data: &'a [u8]) -> Result<Self, Malformed> {
        match (kind, data.len()) {
            (TIMESTAMPS, 8) => Ok(TcpOption::Timestamps { value: be32(data, 0), echo: be32(data, 4) }),
            (MPTCP, _) => Mptcp::parse(data).map(TcpOption::Mptcp),
            (SACK, 8 | 16 | 24 | 32) => Ok(TcpOption::Sack(SackBlocks::read(data))),
            (MAXIMUM_SEGMENT_SIZE, 2) => Ok(TcpOption::MaximumSegmentSize(be16(data, 0))),
            (WINDOW_SCALE, 1) => Ok(TcpOption::WindowScale(data[0])),
            (SACK_PERMITTED, 0) => Ok(TcpOption::SackPermitted),
            (TIMESTAMPS, len) => Err(Malformed::length("timestamps", len)),
            (SACK, len) => Err(Malformed::length("SACK", len)),
            (MAXIMUM_SEGMENT_SIZE, len) => Err(Malformed::length("maximum segment size", len)),
            (WINDOW_SCALE, len) => Err(Malformed::length("window scale", len)),
            (SACK_PERMITTED, len) => Err(Malformed::length("SACK permitted", len)),
            _ => Ok(TcpOption::Unknown { kind, data }),
        }
    }

    /// Writes the option with kind and length to the start of `out`; says how many bytes.
    fn emit(&self, out: &mut [u8]) -> Result<usize, EmitError> {
        let Some((head, body)) = out.split_at_mut_checked(2) else {
            return Err(EmitError::NoRoom { what: "TCP option", need: 2, room: out.len() });
        };
        let (kind, len) = match self {
            TcpOption::Mptcp(option) => (MPTCP, option.emit(body)?),
            plain => {
                let mut writer = Writer::new(body);
                (plain.emit_plain(&mut writer)?, writer.finish("TCP option")?)
            }
        };
        head.copy_from_slice(&[kind, len as u8 + 2]);
        Ok(len + 2)
    }

    /// Writes what follows kind and length; says the kind.
    fn emit_plain(&self, out: &mut Writer) -> Result<u8, EmitError> {
        match self {
            TcpOption::MaximumSegmentSize(size) => {
                out.put(&size.to_be_bytes());
                Ok(MAXIMUM_SEGMENT_SIZE)
            }
            TcpOption::WindowScale(shift) => {
                out.put(&[*shift]);
                Ok(WINDOW_SCALE)
            }
            TcpOption::SackPermitted => Ok(SACK_PERMITTED),
            TcpOption::Sack(sack) => {
                check(!sack.as_slice().is_empty(), "SACK", "no block")?;
                for (left, right) in sack.as_slice() {
                    out.put(&left.to_be_bytes());
                    out.put(&right.to_be_bytes());
                }
                Ok(SACK)
            }
            TcpOption::Timestamps { value, echo } => {
                out.put(&value.to_be_bytes());
                out.put(&echo.to_be_bytes());
                Ok(TIMESTAMPS)
            }
            TcpOption::Unknown { kind, data } => {
                check(!KNOWN.contains(kind), "TCP option", "kind")?;
                out.put(data);
                Ok(*kind)
            }
            TcpOption::Mptcp(_) => unreachable!("written by emit"),
        }
    }
}

impl SackBlocks {
    /// The first four of `blocks`.
    pub fn new(blocks: &[(u32, u32)]) -> SackBlocks {
        let mut sack = SackBlocks::default();
        let len = blocks.len().min(4);
        sack.blocks[..len].copy_from_slice(&blocks[..len]);
        sack.len = len as u8;
        sack
    }

    /// The ranges, in the order of the option.
    #[inline]
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.len)]
    }

    pub(crate) fn read(data: &[u8]) -> SackBlocks {
        let mut sack = SackBlocks::default();
        for (block, bytes) in sack.blocks.iter_mut().zip(data.chunks_exact(8)) {
            *block = (be32(bytes, 0), be32(bytes, 4));
            sack.len += 1;
        }
        sack
    }
}
