//! pcapng: blocks in sections, several interfaces (draft-ietf-opsawg-pcapng).

mod clock;
mod endian;
mod options;

use wire::{CaptureDirection, Time};

use crate::buffer::Buffer;
use crate::record::{Found, LONGEST};
use crate::{Fault, Interface, LinkType, pcap};
use clock::Clock;
use endian::Endian;
use options::options;

/// The type of a section header block, the same in both byte orders.
pub(crate) const MAGIC: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const INTERFACE_STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;

/// More interfaces are taken for garbage.
const MOST_INTERFACES: usize = 65_536;

pub(crate) struct Pcapng {
    endian: Endian,
    /// Index of the section's first interface among all.
    first: usize,
    /// Of all interfaces, as they are in the reader's list.
    clocks: Vec<Clock>,
    /// Of the packet before, for packets without their own.
    at: Time,
}

/// A block without its type and lengths.
struct Body<'a> {
    bytes: &'a [u8],
    endian: Endian,
}

impl Body<'_> {
    fn half(&self, at: usize) -> u16 {
        self.endian.half(self.bytes, at)
    }
    fn word(&self, at: usize) -> u32 {
        self.endian.word(self.bytes, at)
    }
    /// Two words, the higher first.
    fn double(&self, at: usize) -> u64 {
        u64::from(self.word(at)) << 32 | u64::from(self.word(at + 4))
    }
}

impl Pcapng {
    /// Reads the first section header.
    pub fn open(buffer: &mut Buffer) -> Result<Pcapng, Fault> {
        let mut pcapng = Pcapng { endian: Endian::Little, first: 0, clocks: Vec::new(), at: Time::default() };
        match pcapng.section(buffer, 0) {
            Err(Fault::CutBlock { .. }) => Err(Fault::Headless),
            Err(Fault::Block { .. }) => Err(Fault::Unknown),
            other => other.map(|()| pcapng),
        }
    }

    pub fn next(
        &mut self,
        buffer: &mut Buffer,
        record: u64,
        interfaces: &mut Vec<Interface>,
    ) -> Result<Option<Found>, Fault> {
        let last = record - 1;
        let reading = |error| Fault::from_reading(error, last);
        loop {
            if !buffer.need(8).map_err(reading)? {
                return if buffer.available().is_empty() { Ok(None) } else { Err(Fault::CutBlock { record: last }) };
            }
            let head: &[u8; 8] = buffer.available().first_chunk().expect("needed above");
            let (kind, length) = (self.endian.word(head, 0), self.endian.word(head, 4));
            if kind == SECTION_HEADER {
                self.section(buffer, last)?;
                self.first = interfaces.len();
                continue;
            }
            let is_packet = matches!(kind, ENHANCED_PACKET | SIMPLE_PACKET | OBSOLETE_PACKET);
            let known = is_packet || matches!(kind, INTERFACE_DESCRIPTION | INTERFACE_STATISTICS);
            if length < 12 || !length.is_multiple_of(4) || known && length as usize > LONGEST {
                return Err(Fault::Block { record: last, field: "length", value: length.into() });
            }
            let cut = || if is_packet { Fault::CutPacket { record } } else { Fault::CutBlock { record: last } };
            if !known {
                if !buffer.skip(length.into()).map_err(reading)? {
                    return Err(cut());
                }
                continue;
            }
            let length = length as usize;
            if !buffer.need(length).map_err(reading)? {
                return Err(cut());
            }
            let repeated = self.endian.word(buffer.available(), length - 4);
            if repeated as usize != length {
                return Err(Fault::Block { record: last, field: "repeated length", value: repeated.into() });
            }
            let offset = buffer.take(length) + 8;
            let body = Body { bytes: buffer.at(offset, length - 12), endian: self.endian };
            match kind {
                INTERFACE_DESCRIPTION => self.interface(&body, last, interfaces)?,
                INTERFACE_STATISTICS => self.statistics(&body, interfaces),
                _ => {
                    let mut found = match kind {
                        ENHANCED_PACKET => self.enhanced(&body, record, interfaces)?,
                        OBSOLETE_PACKET => self.obsolete(&body, record, interfaces)?,
                        _ => self.simple(&body, record, interfaces)?,
                    };
                    found.offset += offset;
                    self.at = found.at;
                    return Ok(Some(found));
                }
            }
        }
    }

    /// §4.1: byte-order magic, version, length of the section (not needed), options.
    fn section(&mut self, buffer: &mut Buffer, last: u64) -> Result<(), Fault> {
        const LEAST: u32 = 28;
        let reading = |error| Fault::from_reading(error, last);
        if !buffer.need(LEAST as usize).map_err(reading)? {
            return Err(Fault::CutBlock { record: last });
        }
        let header = buffer.available();
        let Some(endian) = Endian::of_section(header) else {
            let value = Endian::Little.word(header, 8).into();
            return Err(Fault::Block { record: last, field: "byte-order magic", value });
        };
        let (major, minor) = (endian.half(header, 12), endian.half(header, 14));
        if major != 1 {
            return Err(Fault::Version { format: "pcapng", major, minor });
        }
        let length = endian.word(header, 4);
        if length < LEAST || !length.is_multiple_of(4) {
            return Err(Fault::Block { record: last, field: "length", value: length.into() });
        }
        if !buffer.skip(length.into()).map_err(reading)? {
            return Err(Fault::CutBlock { record: last });
        }
        self.endian = endian;
        Ok(())
    }

    /// §4.2: link type, reserved, snap length, options.
    fn interface(&mut self, body: &Body, last: u64, interfaces: &mut Vec<Interface>) -> Result<(), Fault> {
        const FIXED: usize = 8;
        if body.bytes.len() < FIXED {
            let value = body.bytes.len() as u64;
            return Err(Fault::Block { record: last, field: "length of an interface description", value });
        }
        if interfaces.len() >= MOST_INTERFACES {
            return Err(Fault::Block { record: last, field: "number of interfaces", value: interfaces.len() as u64 });
        }
        let mut clock = Clock::default();
        let mut name = String::new();
        for (code, value) in options(&body.bytes[FIXED..], self.endian) {
            match (code, value) {
                (2, _) => name = interface_name(value),
                (9, &[resolution, ..]) => clock.set_resolution(resolution),
                (14, _) if value.len() == 8 => clock.set_offset(self.endian.double(value, 0) as i64),
                _ => {}
            }
        }
        interfaces.push(Interface {
            name,
            link_type: LinkType(body.half(0).into()),
            snap_length: body.word(4),
            resolution_ns: clock.resolution_ns(),
            drops: None,
        });
        self.clocks.push(clock);
        Ok(())
    }

    /// §4.3: interface, time stamp, captured and original length, bytes, options.
    #[inline]
    fn enhanced(&self, body: &Body, record: u64, interfaces: &mut [Interface]) -> Result<Found, Fault> {
        const FIXED: usize = 20;
        fits(body, FIXED, record)?;
        // Of known length, it is read without further checks.
        let fixed: &[u8; FIXED] = body.bytes.first_chunk().expect("fits");
        let fixed = Body { bytes: fixed, endian: body.endian };
        let found = self.packet(
            body,
            record,
            interfaces,
            fixed.word(0) as usize,
            fixed.double(4),
            FIXED,
            fixed.word(12),
            fixed.word(16),
        )?;
        Ok(self.with_options(found, body, interfaces))
    }

    /// §B of the draft: as the enhanced one, with shorter interface and drop count.
    fn obsolete(&self, body: &Body, record: u64, interfaces: &mut [Interface]) -> Result<Found, Fault> {
        const FIXED: usize = 20;
        const DROPS_UNKNOWN: u16 = 0xffff;
        fits(body, FIXED, record)?;
        let found = self.packet(
            body,
            record,
            interfaces,
            body.half(0).into(),
            body.double(4),
            FIXED,
            body.word(12),
            body.word(16),
        )?;
        if body.half(2) != DROPS_UNKNOWN {
            self.dropped(interfaces, found.interface, body.half(2).into());
        }
        Ok(self.with_options(found, body, interfaces))
    }

    /// §4.4: original length, bytes. It belongs to the first interface and has no time: it is given that of the packet before.
    fn simple(&self, body: &Body, record: u64, interfaces: &mut [Interface]) -> Result<Found, Fault> {
        const FIXED: usize = 4;
        fits(body, FIXED, record)?;
        let original = body.word(0);
        let snap_length = match interfaces.get(self.first) {
            Some(Interface { snap_length: 1.., .. }) => interfaces[self.first].snap_length,
            _ => u32::MAX,
        };
        let captured = original.min(snap_length).min((body.bytes.len() - FIXED) as u32);
        let found = self.packet(body, record, interfaces, 0, 0, FIXED, captured, original)?;
        Ok(Found { at: self.at, ..found })
    }

    #[inline]
    #[expect(clippy::too_many_arguments, reason = "the fields of a packet block")]
    fn packet(
        &self,
        body: &Body,
        record: u64,
        interfaces: &[Interface],
        interface: usize,
        ticks: u64,
        offset: usize,
        captured: u32,
        original: u32,
    ) -> Result<Found, Fault> {
        let lie = |field, value| Err(Fault::Packet { record, field, value });
        let index = self.first + interface;
        let (Some(description), Some(clock)) = (interfaces.get(index), self.clocks.get(index)) else {
            return lie("interface", interface as u64);
        };
        let length = captured as usize;
        if captured > longest(description.snap_length) || offset + length > body.bytes.len() {
            return lie("captured length", captured.into());
        }
        Ok(Found {
            at: clock.time(ticks),
            interface: index as u32,
            link_type: description.link_type,
            original_len: original.max(captured),
            direction: None,
            offset,
            length,
        })
    }

    /// epb_flags (2) holds the direction, epb_dropcount (4) what was lost since the packet before.
    #[inline]
    fn with_options(&self, mut found: Found, body: &Body, interfaces: &mut [Interface]) -> Found {
        let rest = body.bytes.get(found.offset + found.length.next_multiple_of(4)..).unwrap_or(&[]);
        for (code, value) in options(rest, self.endian) {
            match code {
                2 if value.len() == 4 => {
                    found.direction = match self.endian.word(value, 0) & 0b11 {
                        1 => Some(CaptureDirection::Inbound),
                        2 => Some(CaptureDirection::Outbound),
                        _ => None,
                    }
                }
                4 if value.len() == 8 => self.dropped(interfaces, found.interface, self.endian.double(value, 0)),
                _ => {}
            }
        }
        found
    }

    fn dropped(&self, interfaces: &mut [Interface], interface: u32, more: u64) {
        let drops = &mut interfaces[interface as usize].drops;
        *drops = Some(drops.unwrap_or(0).saturating_add(more));
    }

    /// §4.6: interface, time stamp, options: isb_ifdrop (5) and isb_osdrop (7), counted from the start.
    fn statistics(&self, body: &Body, interfaces: &mut [Interface]) {
        const FIXED: usize = 12;
        if body.bytes.len() < FIXED {
            return;
        }
        let Some(interface) = interfaces.get_mut(self.first + body.word(0) as usize) else { return };
        let mut drops = None;
        for (code, value) in options(&body.bytes[FIXED..], self.endian) {
            if matches!(code, 5 | 7) && value.len() == 8 {
                drops = Some(drops.unwrap_or(0u64).saturating_add(self.endian.double(value, 0)));
            }
        }
        interface.drops = drops.or(interface.drops);
    }
}

/// Names of interfaces are short (Linux: 15 bytes); Windows' have some 50. Longer ones are cut: a file may describe 65 536.
fn interface_name(value: &[u8]) -> String {
    const MOST_BYTES: usize = 256;
    String::from_utf8_lossy(&value[..value.len().min(MOST_BYTES)]).trim_end_matches('\0').to_owned()
}

/// Largest captured length to believe; a snap length of 0 means none.
#[inline]
fn longest(snap_length: u32) -> u32 {
    if snap_length == 0 { LONGEST as u32 } else { pcap::longest(snap_length) }
}

#[inline]
fn fits(body: &Body, fixed: usize, record: u64) -> Result<(), Fault> {
    if body.bytes.len() >= fixed {
        return Ok(());
    }
    Err(Fault::Packet { record, field: "block length", value: body.bytes.len() as u64 + 12 })
}
