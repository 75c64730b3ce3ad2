//! The classic format: one header, then records (draft-ietf-opsawg-pcap).

use wire::Time;

use crate::buffer::Buffer;
use crate::record::Found;
use crate::{Fault, Interface, LinkType};

/// No tool writes longer packets; a snap length may allow them, up to [`crate::record::LONGEST`].
const LONGEST_USUAL: u32 = 256 * 1024;

const HEADER: usize = 24;
const RECORD_HEADER: usize = 16;

pub(crate) struct Pcap {
    big_endian: bool,
    nanos_per_tick: i64,
    link_type: LinkType,
    longest: u32,
}

/// Largest captured length to believe.
pub(crate) fn longest(snap_length: u32) -> u32 {
    snap_length.clamp(LONGEST_USUAL, crate::record::LONGEST as u32)
}

/// The magic number: (whether big endian, nanoseconds per tick).
pub(crate) fn magic(bytes: [u8; 4]) -> Option<Result<(bool, i64), Fault>> {
    let little = u32::from_le_bytes(bytes);
    for (value, big_endian) in [(little, false), (little.swap_bytes(), true)] {
        match value {
            0xa1b2_c3d4 => return Some(Ok((big_endian, 1000))),
            0xa1b2_3c4d => return Some(Ok((big_endian, 1))),
            0xa1b2_cd34 => {
                let kind = "in the \"modified\" pcap format of Kuznetzov's libpcap";
                return Some(Err(Fault::Foreign { kind, advice: "convert it with editcap -F pcapng" }));
            }
            _ => {}
        }
    }
    None
}

impl Pcap {
    /// Reads the file's header, whose magic number is known already.
    pub fn open(buffer: &mut Buffer, big_endian: bool, nanos_per_tick: i64) -> Result<(Pcap, Interface), Fault> {
        if !buffer.need(HEADER).map_err(|error| Fault::from_reading(error, 0))? {
            return Err(Fault::Headless);
        }
        let header = buffer.available();
        let word = |at| u32_at(header, at, big_endian);
        let half = |at| if big_endian { be16(header, at) } else { be16(header, at).swap_bytes() };
        let (major, minor) = (half(4), half(6));
        if major != 2 {
            return Err(Fault::Version { format: "pcap", major, minor });
        }
        let snap_length = word(16);
        // The upper six bits tell of a frame check sequence.
        let link_type = LinkType(word(20) & 0x03ff_ffff);
        let interface = Interface {
            name: String::new(),
            link_type,
            snap_length,
            resolution_ns: nanos_per_tick as u64,
            drops: None,
        };
        buffer.take(HEADER);
        Ok((Pcap { big_endian, nanos_per_tick, link_type, longest: longest(snap_length) }, interface))
    }

    #[inline]
    pub fn next(&mut self, buffer: &mut Buffer, record: u64) -> Result<Option<Found>, Fault> {
        let reading = |error| Fault::from_reading(error, record - 1);
        if !buffer.need(RECORD_HEADER).map_err(reading)? {
            return if buffer.available().is_empty() { Ok(None) } else { Err(Fault::CutPacket { record }) };
        }
        let header: &[u8; RECORD_HEADER] = buffer.available().first_chunk().expect("needed above");
        let word = |at| u32_at(header, at, self.big_endian);
        let at = i64::from(word(0)) * 1_000_000_000 + i64::from(word(4)) * self.nanos_per_tick;
        let (captured, original_len) = (word(8), word(12));
        if captured > self.longest {
            return Err(Fault::Packet { record, field: "captured length", value: captured.into() });
        }
        let length = captured as usize;
        if !buffer.need(RECORD_HEADER + length).map_err(reading)? {
            return Err(Fault::CutPacket { record });
        }
        let offset = buffer.take(RECORD_HEADER + length) + RECORD_HEADER;
        Ok(Some(Found {
            at: Time::from_nanos(at),
            interface: 0,
            link_type: self.link_type,
            original_len: original_len.max(captured),
            direction: None,
            offset,
            length,
        }))
    }
}

#[inline]
fn u32_at(bytes: &[u8], at: usize, big_endian: bool) -> u32 {
    let word = u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    if big_endian { word.swap_bytes() } else { word }
}

fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}
