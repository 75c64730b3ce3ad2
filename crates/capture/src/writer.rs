use std::io::{self, Write};

use wire::{CaptureDirection, Time};

use crate::{Interface, LinkType};

/// Few writes of whole pages: each costs as much as some hundred packets, and of larger ones Linux has to look for memory
/// in one piece.
const WRITE_BYTES: usize = 1 << 15;

/// Writes a pcapng: one section, little endian, interfaces of raw IP packets with nanoseconds.
pub struct Writer<W: Write> {
    sink: W,
    host: String,
    /// Of each interface that was declared: nanoseconds of a step of its clock.
    steps_ns: Vec<u64>,
    /// The last time written, which the closing statistics bear.
    last: Time,
    /// Blocks that wait to be written.
    blocks: Vec<u8>,
    /// Where the last of them begins.
    begun: usize,
}

impl<W: Write> Writer<W> {
    /// Begins a capture made at `host`; its interfaces will be named `host:interface`, or plainly where `host` is empty.
    ///
    /// # Errors
    /// The sink's, here as below: blocks are written together, so it may be one of an earlier call.
    pub fn new(sink: W, host: &str) -> io::Result<Writer<W>> {
        let (host, blocks) = (host.to_owned(), Vec::with_capacity(2 * WRITE_BYTES));
        let mut writer = Writer { sink, host, steps_ns: Vec::new(), last: Time::default(), blocks, begun: 0 };
        // §4.1: byte-order magic, version 1.0, length of the section not known.
        writer.begin(0x0a0d_0d0a, &[0x1a2b_3c4d, 1, u32::MAX, u32::MAX]);
        writer.option(4, concat!("mptcplab ", env!("CARGO_PKG_VERSION")).as_bytes()); // shb_userappl
        writer.end_options();
        writer.end()?;
        Ok(writer)
    }

    /// Declares an interface of raw IP; the number is what [`Writer::packet`] takes.
    ///
    /// # Errors
    /// The sink's.
    pub fn interface(&mut self, name: &str) -> io::Result<u32> {
        let name = if self.host.is_empty() { name.to_owned() } else { format!("{}:{name}", self.host) };
        let link_type = LinkType::RAW;
        self.describe(&Interface { name, link_type, snap_length: 0, resolution_ns: 1, drops: None })
    }

    /// Declares an interface as another capture describes it, but for its drops. A clock whose step is no power of ten
    /// becomes one of nanoseconds.
    ///
    /// # Errors
    /// The sink's.
    pub fn describe(&mut self, interface: &Interface) -> io::Result<u32> {
        let powers = (0_u8..=9).rev().map(|power| (power, 10_u64.pow(9 - u32::from(power))));
        let found = powers.into_iter().find(|&(_, step_ns)| step_ns == interface.resolution_ns);
        let (power, step_ns) = found.unwrap_or((9, 1));
        self.begin(1, &[interface.link_type.0, interface.snap_length]); // §4.2; reserved bits are 0
        if !interface.name.is_empty() {
            self.option(2, interface.name.as_bytes()); // if_name
        }
        self.option(9, &[power]); // if_tsresol
        self.end_options();
        self.end()?;
        self.steps_ns.push(step_ns);
        Ok(self.steps_ns.len() as u32 - 1)
    }

    /// Writes an IP packet of which the wire carried `original_len` bytes. Times before the epoch become the epoch.
    ///
    /// # Errors
    /// The sink's.
    ///
    /// # Panics
    /// When the interface was not declared, or there are more bytes than the wire carried.
    pub fn packet(
        &mut self,
        interface: u32,
        at: Time,
        direction: Option<CaptureDirection>,
        original_len: u32,
        bytes: &[u8],
    ) -> io::Result<()> {
        self.packet_with(interface, at, direction, original_len, |out| out.extend_from_slice(bytes))
    }

    /// The same of a packet whose bytes `append` appends: they are made where they stay.
    ///
    /// # Errors
    /// The sink's.
    ///
    /// # Panics
    /// When the interface was not declared, or there are more bytes than the wire carried.
    #[inline]
    pub fn packet_with(
        &mut self,
        interface: u32,
        at: Time,
        direction: Option<CaptureDirection>,
        original_len: u32,
        append: impl FnOnce(&mut Vec<u8>),
    ) -> io::Result<()> {
        let step_ns = self.steps_ns.get(interface as usize);
        let step_ns = *step_ns.unwrap_or_else(|| panic!("interface {interface} was not declared"));
        self.last = at;
        let [high, low] = ticks(at, step_ns);
        const CAPTURED: usize = 20;
        self.begin(6, &[interface, high, low, 0, original_len]); // §4.3
        let start = self.blocks.len();
        append(&mut self.blocks);
        let captured = self.blocks.len() - start;
        assert!(captured <= original_len as usize, "{captured} bytes of {original_len}");
        self.set(CAPTURED, captured as u32);
        self.pad();
        if let Some(direction) = direction {
            const EPB_FLAGS: u32 = 2 | 4 << 16; // code and length
            const END_OF_OPTIONS: u32 = 0;
            let flags = match direction {
                CaptureDirection::Inbound => 1,
                CaptureDirection::Outbound => 2,
            };
            self.blocks.extend_from_slice(words([EPB_FLAGS, flags, END_OF_OPTIONS]).as_flattened());
        }
        self.end()
    }

    /// Ends the capture with the number of packets that each interface dropped, in order of declaration, and gives the
    /// sink back. Of interfaces without a number nothing is said.
    ///
    /// # Errors
    /// The sink's.
    pub fn finish(self, drops: &[u64]) -> io::Result<W> {
        let drops: Vec<_> = drops.iter().copied().map(Some).collect();
        self.finish_known(&drops)
    }

    /// The same where the drops of some interfaces are not known.
    ///
    /// # Errors
    /// The sink's.
    pub fn finish_known(mut self, drops: &[Option<u64>]) -> io::Result<W> {
        for interface in 0..self.steps_ns.len().min(drops.len()) {
            let Some(drops) = drops[interface] else { continue };
            let [high, low] = ticks(self.last, self.steps_ns[interface]);
            self.begin(5, &[interface as u32, high, low]); // §4.6
            self.option(5, &drops.to_le_bytes()); // isb_ifdrop
            self.end_options();
            self.end()?;
        }
        self.sink.write_all(&self.blocks)?;
        self.sink.flush()?;
        Ok(self.sink)
    }

    /// Begins a block; its length is set at its end.
    #[inline]
    fn begin<const N: usize>(&mut self, kind: u32, fields: &[u32; N]) {
        self.begun = self.blocks.len();
        self.blocks.extend_from_slice(words([kind, 0]).as_flattened());
        self.blocks.extend_from_slice(words(*fields).as_flattened());
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        let length = value.len().min(usize::from(u16::MAX));
        self.blocks.extend_from_slice(&code.to_le_bytes());
        self.blocks.extend_from_slice(&(length as u16).to_le_bytes());
        self.blocks.extend_from_slice(&value[..length]);
        self.pad();
    }

    fn end_options(&mut self) {
        self.blocks.extend_from_slice(&[0; 4]); // opt_endofopt
    }

    /// To a 32-bit boundary: blocks begin at one.
    #[inline]
    fn pad(&mut self) {
        let padding = (self.blocks.len() - self.begun).wrapping_neg() % 4;
        self.blocks.extend_from_slice(&[0; 3][..padding]);
    }

    /// Sets a word of the block.
    #[inline]
    fn set(&mut self, offset: usize, word: u32) {
        self.blocks[self.begun + offset..][..4].copy_from_slice(&word.to_le_bytes());
    }

    /// Sets both lengths of the block and writes when there are many.
    #[inline]
    fn end(&mut self) -> io::Result<()> {
        const LENGTH: usize = 4;
        let length = (self.blocks.len() - self.begun + 4) as u32;
        self.set(LENGTH, length);
        self.blocks.extend_from_slice(&length.to_le_bytes());
        let whole = self.blocks.len() / WRITE_BYTES * WRITE_BYTES;
        if whole > 0 {
            self.sink.write_all(&self.blocks[..whole])?;
            self.blocks.drain(..whole);
        }
        Ok(())
    }
}

/// As they stand in the file.
fn words<const N: usize>(words: [u32; N]) -> [[u8; 4]; N] {
    words.map(u32::to_le_bytes)
}

/// A time as two words, the higher first.
#[inline]
fn ticks(at: Time, step_ns: u64) -> [u32; 2] {
    let nanos = at.as_nanos().max(0) as u64;
    // Nearly always: a division takes longer than all the rest.
    let ticks = if step_ns == 1 { nanos } else { nanos / step_ns };
    [(ticks >> 32) as u32, ticks as u32]
}
