use std::io::{self, Write};

use wire::{CaptureDirection, Time};

/// Few writes of whole pages: each costs as much as some hundred packets, and of larger ones Linux has to look for memory
/// in one piece.
const WRITE_BYTES: usize = 1 << 15;

/// Writes a pcapng: one section, little endian, interfaces of raw IP packets with nanoseconds.
pub struct Writer<W: Write> {
    sink: W,
    host: String,
    interfaces: u32,
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
        let mut writer = Writer { sink, host, interfaces: 0, last: Time::default(), blocks, begun: 0 };
        // §4.1: byte-order magic, version 1.0, length of the section not known.
        writer.begin(0x0a0d_0d0a, &[0x1a2b_3c4d, 1, u32::MAX, u32::MAX]);
        writer.option(4, concat!("mptcplab ", env!("CARGO_PKG_VERSION")).as_bytes()); // shb_userappl
        writer.end_options();
        writer.end()?;
        Ok(writer)
    }

    /// Declares an interface; the number is what [`Writer::packet`] takes.
    ///
    /// # Errors
    /// The sink's.
    pub fn interface(&mut self, name: &str) -> io::Result<u32> {
        const RAW_IP: u32 = 101;
        const NO_SNAP_LENGTH: u32 = 0;
        const NANOSECONDS: u8 = 9;
        let name = if self.host.is_empty() { name.to_owned() } else { format!("{}:{name}", self.host) };
        self.begin(1, &[RAW_IP, NO_SNAP_LENGTH]); // §4.2
        self.option(2, name.as_bytes()); // if_name
        self.option(9, &[NANOSECONDS]); // if_tsresol
        self.end_options();
        self.end()?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
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
        assert!(interface < self.interfaces, "interface {interface} was not declared");
        self.last = at;
        let [high, low] = ticks(at);
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
    pub fn finish(mut self, drops: &[u64]) -> io::Result<W> {
        for (interface, drops) in (0..self.interfaces).zip(drops) {
            let [high, low] = ticks(self.last);
            self.begin(5, &[interface, high, low]); // §4.6
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

/// Nanoseconds as two words, the higher first.
fn ticks(at: Time) -> [u32; 2] {
    let nanos = at.as_nanos().max(0) as u64;
    [(nanos >> 32) as u32, nanos as u32]
}
