use std::io::{self, BufWriter, Write};

use wire::{Direction, Time};

/// Fewer, larger writes: each costs as much as some hundred packets.
const BUFFER_BYTES: usize = 1 << 16;

/// Writes a pcapng: one section, little endian, interfaces of raw IP packets with nanoseconds.
pub struct Writer<W: Write> {
    sink: BufWriter<W>,
    host: String,
    interfaces: u32,
    /// The last time written, which the closing statistics bear.
    last: Time,
    block: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Begins a capture made at `host`; its interfaces will be named `host:interface`, or plainly where `host` is empty.
    ///
    /// # Errors
    /// The sink's, here as below.
    pub fn new(sink: W, host: &str) -> io::Result<Writer<W>> {
        let (sink, host) = (BufWriter::with_capacity(BUFFER_BYTES, sink), host.to_owned());
        let mut writer = Writer { sink, host, interfaces: 0, last: Time::default(), block: Vec::new() };
        // §4.1: byte-order magic, version 1.0, length of the section not known.
        writer.begin(0x0a0d_0d0a, &[0x1a2b_3c4d, 1, u32::MAX, u32::MAX]);
        writer.option(4, concat!("mptcplab ", env!("CARGO_PKG_VERSION")).as_bytes()); // shb_userappl
        writer.end(true)?;
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
        self.end(true)?;
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
        direction: Option<Direction>,
        original_len: u32,
        bytes: &[u8],
    ) -> io::Result<()> {
        assert!(interface < self.interfaces, "interface {interface} was not declared");
        assert!(bytes.len() <= original_len as usize, "{} bytes of {original_len}", bytes.len());
        self.last = at;
        let [high, low] = ticks(at);
        const EPB_FLAGS: u32 = 2 | 4 << 16; // code and length
        let flags = direction.map(|direction| match direction {
            Direction::Inbound => 1u32,
            Direction::Outbound => 2,
        });
        let padded = bytes.len().next_multiple_of(4);
        let len = (32 + padded + if flags.is_some() { 12 } else { 0 }) as u32;
        // §4.3, in one go: nearly all that is written is this.
        self.block.clear();
        self.block
            .extend_from_slice(words([6, len, interface, high, low, bytes.len() as u32, original_len]).as_flattened());
        self.block.extend_from_slice(bytes);
        self.block.extend_from_slice(&[0; 3][..padded - bytes.len()]);
        match flags {
            Some(flags) => self.block.extend_from_slice(words([EPB_FLAGS, flags, 0, len]).as_flattened()),
            None => self.block.extend_from_slice(words([len]).as_flattened()),
        }
        self.sink.write_all(&self.block)
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
            self.end(true)?;
        }
        self.sink.into_inner().map_err(io::IntoInnerError::into_error)
    }

    fn begin(&mut self, kind: u32, words: &[u32]) {
        self.block.clear();
        for word in [kind, 0].iter().chain(words) {
            self.block.extend_from_slice(&word.to_le_bytes());
        }
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        let length = value.len().min(usize::from(u16::MAX));
        self.block.extend_from_slice(&code.to_le_bytes());
        self.block.extend_from_slice(&(length as u16).to_le_bytes());
        self.padded(&value[..length]);
    }

    fn padded(&mut self, bytes: &[u8]) {
        self.block.extend_from_slice(bytes);
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    /// Closes the options where there are any, sets both lengths and writes the block.
    fn end(&mut self, options: bool) -> io::Result<()> {
        if options {
            self.block.extend_from_slice(&[0; 4]); // opt_endofopt
        }
        let length = (self.block.len() as u32 + 4).to_le_bytes();
        self.block[4..8].copy_from_slice(&length);
        self.block.extend_from_slice(&length);
        self.sink.write_all(&self.block)
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
