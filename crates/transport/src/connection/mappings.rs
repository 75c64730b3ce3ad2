//! What the bytes of a subflow mean at connection level (RFC 8684 §3.3.1).

use std::collections::VecDeque;
use std::ops::Range;

/// A mapping that the peer sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Offset of its first byte in the subflow.
    pub offset: u64,
    /// Offset of that byte in the connection's data.
    pub data_offset: u64,
    /// Bytes of data, without a DATA_FIN.
    pub len: u32,
    /// With checksums: ones' complement sum of all that is summed but the payload, the checksum itself included.
    pub check: Option<u16>,
}

impl Mapping {
    /// Offset after its last byte.
    #[inline]
    fn end(&self) -> u64 {
        self.offset + u64::from(self.len)
    }
}

/// The mappings of a subflow whose bytes are not all delivered.
#[derive(Debug, Default)]
pub struct Mappings {
    /// By offset, without overlap.
    known: VecDeque<Mapping>,
    /// From here on the subflow is the rest of the connection's data: the infinite mapping (RFC 8684 §3.7).
    infinite: Option<(u64, u64)>,
    /// Sums of segments that mappings with a checksum wait for, by offset.
    sums: VecDeque<(Range<u64>, u16)>,
}

/// Mappings, and sums, that are kept: more than any window has segments. A peer could send one for every byte of a
/// gigabyte.
const MOST: usize = 1 << 18;

/// What the next bytes of a subflow are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Data for `data_offset`.
    Data {
        /// Of its first byte.
        data_offset: u64,
        /// Bytes.
        len: u64,
    },
    /// Of a mapping that must be whole before it can be checked.
    Incomplete,
    /// No data, up to where the infinite mapping begins.
    Void {
        /// The offset where it does.
        until: u64,
    },
    /// Bytes that no mapping covers.
    Unmapped,
    /// Bytes of the mapping at `data_offset` whose checksum is wrong.
    Broken {
        /// Of its first byte.
        data_offset: u64,
    },
}

impl Mappings {
    /// Takes a mapping. One that contradicts an earlier one is ignored, as are repetitions. Says whether its bytes are now what
    /// it says.
    pub fn insert(&mut self, mapping: Mapping) -> bool {
        if mapping.len == 0 || self.known.len() >= MOST {
            return false;
        }
        let precedes = |known: &Mapping| known.end() <= mapping.offset;
        if self.known.back().is_none_or(precedes) {
            self.known.push_back(mapping);
        } else {
            let at = self.known.partition_point(|known| known.offset < mapping.offset);
            let after_previous = at == 0 || precedes(&self.known[at - 1]);
            if !after_previous || mapping.end() > self.known[at].offset {
                return false;
            }
            self.known.insert(at, mapping);
        }
        self.infinite.is_none()
    }

    /// From subflow `offset` on everything is data from `data_offset` on.
    pub fn continue_without(&mut self, offset: u64, data_offset: u64) {
        self.infinite.get_or_insert((offset, data_offset));
    }

    /// The data offset of the byte at `offset` and the bytes from there on that belong together, if they are known.
    pub fn piece(&self, offset: u64) -> Option<(u64, u64)> {
        if let Some((start, data_offset)) = self.infinite.filter(|(start, _)| offset >= *start) {
            return Some((data_offset + (offset - start), u64::MAX));
        }
        let at = self.count(|known| known.offset <= offset);
        let mapping = self.known.get(at.checked_sub(1)?)?;
        let (within, len) = (offset - mapping.offset, u64::from(mapping.len));
        (within < len).then(|| (mapping.data_offset + within, len - within))
    }

    /// How many from the first on are `before` an offset that is mostly after all.
    fn count(&self, before: impl Fn(&Mapping) -> bool) -> usize {
        match self.known.back() {
            Some(last) if !before(last) => self.known.partition_point(before),
            _ => self.known.len(),
        }
    }

    /// Remembers the ones' complement sum of a segment's payload, for checksums.
    #[inline(never)] // most connections have no checksums
    pub fn sum(&mut self, segment: Range<u64>, sum: u16) {
        let at = self.sums.partition_point(|(known, _)| known.start < segment.start);
        let is_new = self.sums.get(at).is_none_or(|(known, _)| known.start != segment.start);
        if is_new && self.sums.len() < MOST {
            self.sums.insert(at, (segment, sum));
        }
    }

    /// What the bytes of the subflow from `range.start` on are, where those of `range` are in order.
    pub fn next(&mut self, range: Range<u64>) -> Next {
        let first = loop {
            match self.known.front() {
                Some(known) if known.end() <= range.start => _ = self.known.pop_front(),
                first => break first.filter(|known| known.offset <= range.start).copied(),
            }
        };
        while self.sums.front().is_some_and(|(segment, _)| segment.end <= range.start) {
            self.sums.pop_front();
        }
        if let Some((offset, data_offset)) = self.infinite {
            // What lies before it, its sender begins again with.
            return match range.start.checked_sub(offset) {
                Some(beyond) => Next::Data { data_offset: data_offset + beyond, len: range.end - range.start },
                None => Next::Void { until: offset.min(range.end) },
            };
        }
        let Some(mapping) = first else { return Next::Unmapped };
        let end = mapping.end();
        if let Some(check) = mapping.check {
            if end > range.end {
                return Next::Incomplete;
            }
            if self.payload_sum(mapping.offset..end).is_some_and(|sum| add(check, sum) != u16::MAX) {
                return Next::Broken { data_offset: mapping.data_offset };
            }
        }
        let len = end.min(range.end) - range.start;
        Next::Data { data_offset: mapping.data_offset + (range.start - mapping.offset), len }
    }

    /// Sum of the payload of a mapping; none where its segments overlap or cross its ends, as a sender that cuts its
    /// stream anew may make them: then it cannot be told from the sums.
    #[inline(never)] // as above
    fn payload_sum(&self, mapping: Range<u64>) -> Option<u16> {
        let mut at = mapping.start;
        let mut whole = 0;
        for (segment, sum) in &self.sums {
            if segment.end <= mapping.start || segment.start >= mapping.end {
                continue;
            }
            if segment.start != at || segment.end > mapping.end {
                return None;
            }
            // At an odd offset the bytes of a word change places (RFC 1071 §2 (B)).
            let odd = (segment.start - mapping.start) % 2 == 1;
            whole = add(whole, if odd { sum.swap_bytes() } else { *sum });
            at = segment.end;
        }
        (at == mapping.end).then_some(whole)
    }
}

/// What [`Mapping::check`] is for a mapping as received (RFC 8684 §3.3.1).
#[inline(never)] // most connections have no checksums
pub fn check(data_seq: u64, subflow_seq: u32, len: u16, checksum: u16) -> u16 {
    add(!wire::mptcp::dss_checksum(data_seq, subflow_seq, len, &[]), checksum)
}

/// Ones' complement addition.
fn add(a: u16, b: u16) -> u16 {
    let (sum, carry) = a.overflowing_add(b);
    sum + u16::from(carry)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(offset: u64, data_offset: u64, len: u32) -> Mapping {
        Mapping { offset, data_offset, len, check: None }
    }

    #[test]
    fn bytes_are_what_their_mapping_says() {
        let mut mappings = Mappings::default();
        mappings.insert(mapping(1, 100, 10));
        mappings.insert(mapping(21, 500, 10));
        mappings.insert(mapping(11, 300, 10));
        assert_eq!(mappings.next(1..8), Next::Data { data_offset: 100, len: 7 });
        assert_eq!(mappings.next(8..21), Next::Data { data_offset: 107, len: 3 });
        assert_eq!(mappings.next(11..40), Next::Data { data_offset: 300, len: 10 });
        assert_eq!(mappings.next(25..40), Next::Data { data_offset: 504, len: 6 });
        assert_eq!(mappings.next(31..40), Next::Unmapped);
        mappings.continue_without(31, 777);
        assert_eq!(mappings.next(33..40), Next::Data { data_offset: 779, len: 7 });
    }

    #[test]
    fn what_waits_is_bounded() {
        let mut mappings = Mappings::default();
        for n in 0..MOST as u64 + 10 {
            mappings.insert(mapping(2 * n, n, 1));
            mappings.sum(2 * n..2 * n + 1, 0);
        }
        assert_eq!((mappings.known.len(), mappings.sums.len()), (MOST, MOST));
    }

    #[test]
    fn contradictions_are_ignored() {
        let mut mappings = Mappings::default();
        mappings.insert(mapping(1, 100, 10));
        for (offset, len) in [(1, 10), (1, 5), (5, 10), (10, 1), (0, 2)] {
            mappings.insert(mapping(offset, 900, len));
        }
        assert_eq!(mappings.next(1..20), Next::Data { data_offset: 100, len: 10 });
        assert_eq!((mappings.piece(10), mappings.piece(11)), (Some((109, 1)), None));
    }

    #[test]
    fn checksum_over_segments_of_any_length() {
        let payload = [1, 2, 3, 4, 5, 6, 7];
        let checksum = wire::mptcp::dss_checksum(77, 1, 7, &payload);
        let sum = |bytes: &[u8]| !wire::mptcp::dss_checksum(0, 0, 0, bytes);
        for (cut, wrong) in [(3, 0), (4, 0), (3, 1)] {
            let mut mappings = Mappings::default();
            let check = check(77, 1, 7, checksum + wrong);
            mappings.insert(Mapping { offset: 1, data_offset: 0, len: 7, check: Some(check) });
            mappings.sum(1 + cut as u64..8, sum(&payload[cut..]));
            assert_eq!(mappings.next(1..1 + cut as u64), Next::Incomplete);
            mappings.sum(1..1 + cut as u64, sum(&payload[..cut]));
            let expected =
                if wrong == 0 { Next::Data { data_offset: 0, len: 7 } } else { Next::Broken { data_offset: 0 } };
            assert_eq!(mappings.next(1..8), expected, "cut at {cut}");
        }
    }
}
