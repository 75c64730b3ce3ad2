//! DSS, the data sequence signal, carries the DATA_ACK and says what the bytes of a subflow mean at connection level
//! (RFC 8684 §3.3, figure 9).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +---------------+---------------+-------+-----------------------+
//! |     Kind      |    Length     |Subtype| (reserved)  |F|m|M|a|A|
//! +---------------+---------------+-------+-----------------------+
//! |           Data ACK (4 or 8 octets, depending on flags)        |
//! +---------------------------------------------------------------+
//! |   Data Sequence Number (4 or 8 octets, depending on flags)    |
//! +---------------------------------------------------------------+
//! |              Subflow Sequence Number (4 octets)               |
//! +-------------------------------+-------------------------------+
//! |  Data-Level Length (2 octets) |      Checksum (2 octets)      |
//! +-------------------------------+-------------------------------+
//! ```
//!
//! No flag tells of the checksum: the connection agreed on it, and the length shows it.

use crate::Malformed;
use crate::bytes::{be16, be32, be64};
use crate::checksum::Sum;
use crate::emit::Writer;
use crate::pattern;

pub(super) const SUBTYPE: u8 = 2;

const DATA_ACK: u8 = 0x01; // A
const LONG_ACK: u8 = 0x02; // a
const MAPPING: u8 = 0x04; // M
const LONG_SEQ: u8 = 0x08; // m
const DATA_FIN: u8 = 0x10; // F

/// Bytes of the longest, with kind and length; a multiple of 4.
pub(crate) const LONGEST: usize = 28;

/// Flags of a mapping with a long number beside a DATA_ACK of 4 or 8 bytes.
const SHORT_ACK_FLAGS: u8 = DATA_ACK | MAPPING | LONG_SEQ;
const LONG_ACK_FLAGS: u8 = SHORT_ACK_FLAGS | LONG_ACK;

/// Data sequence signal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dss {
    /// Connection-level acknowledgement.
    pub data_ack: Option<DataNumber>,
    /// What the subflow's bytes mean at connection level.
    pub mapping: Option<Mapping>,
    /// DATA_FIN.
    pub data_fin: bool,
}

/// A data sequence number as sent: all 64 bits or the low 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataNumber {
    /// 8 bytes.
    Long(u64),
    /// 4 bytes.
    Short(u32),
}

/// A range of data sequence numbers laid on a range of subflow sequence numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// First data sequence number.
    pub data_seq: DataNumber,
    /// First subflow sequence number, relative to the SYN's.
    pub subflow_seq: u32,
    /// Length; 0 is the infinite mapping (RFC 8684 §3.7). A DATA_FIN counts 1.
    pub len: u16,
    /// Checksum, where the connection uses it.
    pub checksum: Option<u16>,
}

impl Dss {
    /// Reads the option from the bytes after kind and length; none if it is another or malformed.
    #[inline]
    pub(crate) fn read(data: &[u8]) -> Option<Self> {
        let (&[first, flags], numbers) = data.split_first_chunk()?;
        if first >> 4 != SUBTYPE {
            return None;
        }
        let (data_ack, map) = DataNumber::read(flags, DATA_ACK, LONG_ACK, numbers)?;
        let (data_seq, map) = DataNumber::read(flags, MAPPING, LONG_SEQ, map)?;
        let mapping = match (data_seq, map.len()) {
            (None, 0) => None,
            (Some(data_seq), len @ (6 | 8)) => {
                let checksum = (len == 8).then(|| be16(map, 6));
                Some(Mapping { data_seq, subflow_seq: be32(map, 0), len: be16(map, 4), checksum })
            }
            _ => return None,
        };
        Some(Dss { data_ack, mapping, data_fin: flags & DATA_FIN != 0 })
    }

    /// Reads the option as [`Dss::lay_out`] writes the usual ones, and gives what follows it; none if it is none of them.
    #[inline]
    pub(crate) fn read_usual([padding, kind]: [u8; 2], bytes: &[u8]) -> Option<(Self, &[u8])> {
        if let Some((head, rest)) = bytes.split_first_chunk::<12>()
            && head[..4] == [kind, 12, SUBTYPE << 4, LONG_ACK | DATA_ACK]
        {
            let data_ack = Some(DataNumber::Long(be64(head, 4)));
            return Some((Dss { data_ack, ..Dss::default() }, rest));
        }
        let (head, after) = bytes.split_first_chunk::<10>()?;
        if head[..3] != [padding, padding, kind] || head[4] != SUBTYPE << 4 {
            return None;
        }
        let (data_ack, after) = match (head[3], head[5]) {
            (22, SHORT_ACK_FLAGS) => (DataNumber::Short(be32(head, 6)), after),
            (26, LONG_ACK_FLAGS) => {
                let (low, after) = after.split_first_chunk::<4>()?;
                (DataNumber::Long(u64::from(be32(head, 6)) << 32 | u64::from(be32(low, 0))), after)
            }
            _ => return None,
        };
        let (tail, rest) = after.split_first_chunk::<14>()?;
        let data_seq = DataNumber::Long(be64(tail, 0));
        let mapping = Mapping { data_seq, subflow_seq: be32(tail, 8), len: be16(tail, 12), checksum: None };
        Some((Dss { data_ack: Some(data_ack), mapping: Some(mapping), data_fin: false }, rest))
    }

    pub(super) fn parse(data: &[u8]) -> Result<Self, Malformed> {
        Dss::read(data).ok_or(Malformed::length("DSS", data.len()))
    }

    fn flags(&self) -> u8 {
        let fin = if self.data_fin { DATA_FIN } else { 0 };
        let ack = self.data_ack.map_or(0, |number| number.flags(DATA_ACK, LONG_ACK));
        fin | ack | self.mapping.map_or(0, |mapping| mapping.data_seq.flags(MAPPING, LONG_SEQ))
    }

    /// Writes the whole option as nearly all segments have it: with kind and length, and before them what `padding` it
    /// takes to end on a 32-bit boundary. Says how many bytes; those after them mean nothing.
    #[inline(always)] // most of it falls away where the parts are known
    pub(crate) fn lay_out(&self, around: [u8; 2], out: &mut [u8; LONGEST]) -> usize {
        self.lay_out_usual(around, out).unwrap_or_else(|| self.lay_out_any(around, out))
    }

    #[inline(never)]
    fn lay_out_any(&self, [padding, kind]: [u8; 2], out: &mut [u8; LONGEST]) -> usize {
        // Only the length and checksum of a mapping are not whole words.
        let start = match self.mapping {
            Some(Mapping { checksum: None, .. }) => 2,
            _ => 0,
        };
        out[..2].fill(padding);
        let mut at = start + 4;
        if let Some(data_ack) = self.data_ack {
            at += data_ack.lay_out(&mut out[at..]);
        }
        if let Some(Mapping { data_seq, subflow_seq, len, checksum }) = self.mapping {
            at += data_seq.lay_out(&mut out[at..]);
            out[at..at + 4].copy_from_slice(&subflow_seq.to_be_bytes());
            out[at + 4..at + 6].copy_from_slice(&len.to_be_bytes());
            at += 6;
            if let Some(checksum) = checksum {
                out[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
                at += 2;
            }
        }
        out[start..start + 4].copy_from_slice(&[kind, (at - start) as u8, SUBTYPE << 4, self.flags()]);
        at
    }

    /// Does that for a long DATA_ACK alone, and for a mapping with a long number and no checksum beside a DATA_ACK: what
    /// [`Dss::read_usual`] reads.
    #[inline(always)]
    fn lay_out_usual(&self, [padding, kind]: [u8; 2], out: &mut [u8; LONGEST]) -> Option<usize> {
        let data_ack = self.data_ack.filter(|_| !self.data_fin)?;
        let Some(mapping) = self.mapping else {
            let DataNumber::Long(data_ack) = data_ack else { return None };
            out[..4].copy_from_slice(&[kind, 12, SUBTYPE << 4, LONG_ACK | DATA_ACK]);
            out[4..12].copy_from_slice(&data_ack.to_be_bytes());
            return Some(12);
        };
        let Mapping { data_seq: DataNumber::Long(data_seq), subflow_seq, len, checksum: None } = mapping else {
            return None;
        };
        let at = match data_ack {
            DataNumber::Short(data_ack) => {
                out[..6].copy_from_slice(&[padding, padding, kind, 22, SUBTYPE << 4, SHORT_ACK_FLAGS]);
                out[6..10].copy_from_slice(&data_ack.to_be_bytes());
                10
            }
            DataNumber::Long(data_ack) => {
                out[..6].copy_from_slice(&[padding, padding, kind, 26, SUBTYPE << 4, LONG_ACK_FLAGS]);
                out[6..14].copy_from_slice(&data_ack.to_be_bytes());
                14
            }
        };
        out[at..at + 8].copy_from_slice(&data_seq.to_be_bytes());
        out[at + 8..at + 12].copy_from_slice(&subflow_seq.to_be_bytes());
        out[at + 12..at + 14].copy_from_slice(&len.to_be_bytes());
        Some(at + 14)
    }

    pub(super) fn emit(&self, out: &mut Writer) {
        out.put(&[SUBTYPE << 4, self.flags()]);
        if let Some(data_ack) = self.data_ack {
            data_ack.emit(out);
        }
        if let Some(Mapping { data_seq, subflow_seq, len, checksum }) = self.mapping {
            data_seq.emit(out);
            out.put(&subflow_seq.to_be_bytes());
            out.put(&len.to_be_bytes());
            if let Some(checksum) = checksum {
                out.put(&checksum.to_be_bytes());
            }
        }
    }
}

impl DataNumber {
    /// Reads a number whose flags are `present` and `long`, and gives what follows it; `long` alone means nothing.
    #[inline(always)]
    fn read(flags: u8, present: u8, long: u8, bytes: &[u8]) -> Option<(Option<DataNumber>, &[u8])> {
        if flags & present == 0 {
            return Some((None, bytes));
        }
        if flags & long != 0 {
            let (number, rest) = bytes.split_first_chunk()?;
            return Some((Some(DataNumber::Long(u64::from_be_bytes(*number))), rest));
        }
        let (low, rest) = bytes.split_first_chunk()?;
        Some((Some(DataNumber::Short(u32::from_be_bytes(*low))), rest))
    }

    fn flags(self, present: u8, long: u8) -> u8 {
        match self {
            DataNumber::Short(_) => present,
            DataNumber::Long(_) => present | long,
        }
    }

    #[inline]
    fn lay_out(self, out: &mut [u8]) -> usize {
        match self {
            DataNumber::Short(low) => {
                out[..4].copy_from_slice(&low.to_be_bytes());
                4
            }
            DataNumber::Long(number) => {
                out[..8].copy_from_slice(&number.to_be_bytes());
                8
            }
        }
    }

    fn emit(self, out: &mut Writer) {
        match self {
            DataNumber::Short(low) => out.put(&low.to_be_bytes()),
            DataNumber::Long(number) => out.put(&number.to_be_bytes()),
        }
    }
}

/// Checksum of a mapping of `len` bytes (RFC 8684 §3.3.1): over a pseudo-header, in which the data sequence number
/// always has 64 bits, and the bytes mapped. A DATA_FIN counts in `len` and has no byte.
pub fn dss_checksum(data_seq: u64, subflow_seq: u32, len: u16, payload: &[u8]) -> u16 {
    pseudo_header(data_seq, subflow_seq, len).add(payload).finish()
}

/// The same where the bytes mapped are `bytes` of the [`pattern`](crate::pattern) from `position` on.
pub fn dss_checksum_of_pattern(data_seq: u64, subflow_seq: u32, len: u16, position: u64, bytes: u32) -> u16 {
    pseudo_header(data_seq, subflow_seq, len).plus(pattern::sum(position, bytes)).finish()
}

fn pseudo_header(data_seq: u64, subflow_seq: u32, len: u16) -> Sum {
    // It ends in 16 zero bits.
    Sum::default().add(&data_seq.to_be_bytes()).add(&subflow_seq.to_be_bytes()).add(&len.to_be_bytes())
}
