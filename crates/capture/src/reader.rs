use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use wire::{CaptureDirection, Time};

use crate::buffer::Buffer;
use crate::compression::{self, Position};
use crate::pcap::{self, Pcap};
use crate::pcapng::{self, Pcapng};
use crate::record::Found;
use crate::{Error, Fault, Interface, LinkType, Network, link_layer};

/// One capture, read packet by packet.
pub struct Reader {
    name: String,
    size: Option<u64>,
    position: Position,
    buffer: Buffer,
    format: Format,
    interfaces: Vec<Interface>,
    record: u64,
    finished: bool,
    cut: Option<Error>,
}

/// A packet of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// When it passed.
    pub at: Time,
    /// Index of its interface in [`Reader::interfaces`].
    pub interface: u32,
    /// How it begins.
    pub link_type: LinkType,
    /// Bytes on the wire, with the link layer's.
    pub original_len: u32,
    /// Its direction, where the capture says.
    pub direction: Option<CaptureDirection>,
    /// Its number in the capture, from 1.
    pub record: u64,
    /// The bytes that were captured.
    pub data: &'a [u8],
}

impl Packet<'_> {
    /// What is below the link layer.
    pub fn network(&self) -> Network {
        link_layer::network(self.link_type, self.data)
    }
}

enum Format {
    Pcap(Pcap),
    Pcapng(Pcapng),
}

impl Reader {
    /// Opens a file, or standard input for `-`, and reads its header.
    ///
    /// # Errors
    /// One line for what cannot be opened or is no capture.
    pub fn open(path: &Path) -> Result<Reader, Error> {
        if path.as_os_str() == "-" {
            return Reader::new("standard input", io::stdin());
        }
        let name = path.display().to_string();
        let file = File::open(path).and_then(|file| {
            let metadata = file.metadata()?;
            if metadata.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            Ok((file, metadata.is_file().then_some(metadata.len())))
        });
        match file {
            Ok((file, size)) => Ok(Reader { size, ..Reader::new(name, file)? }),
            Err(error) => Err(Error { capture: name, fault: Fault::from_io(error) }),
        }
    }

    /// Has it called by another name than its path.
    pub fn named(mut self, name: impl Into<String>) -> Reader {
        self.name = name.into();
        self
    }

    /// Reads a capture from anything; `name` is what errors and points call it.
    ///
    /// # Errors
    /// One line for what is no capture.
    pub fn new(name: impl Into<String>, source: impl Read + Send + 'static) -> Result<Reader, Error> {
        let name = name.into();
        match Reader::start(source) {
            Ok((buffer, position, format, interfaces)) => Ok(Reader {
                name,
                size: None,
                position,
                buffer,
                format,
                interfaces,
                record: 0,
                finished: false,
                cut: None,
            }),
            Err(fault) => Err(Error { capture: name, fault }),
        }
    }

    fn start(source: impl Read + Send + 'static) -> Result<(Buffer, Position, Format, Vec<Interface>), Fault> {
        let (plain, position) = compression::open(source)?;
        let mut buffer = Buffer::new(plain);
        if !buffer.need(4).map_err(|error| Fault::from_reading(error, 0))? {
            return Err(if buffer.available().is_empty() { Fault::Empty } else { Fault::Unknown });
        }
        let magic = *buffer.available().first_chunk().expect("needed above");
        let (format, interfaces) = if magic == pcapng::MAGIC {
            (Format::Pcapng(Pcapng::open(&mut buffer)?), Vec::new())
        } else if let Some(found) = pcap::magic(magic) {
            let (big_endian, nanos_per_tick) = found?;
            let (pcap, interface) = Pcap::open(&mut buffer, big_endian, nanos_per_tick)?;
            (Format::Pcap(pcap), vec![interface])
        } else {
            return Err(Fault::Unknown);
        };
        Ok((buffer, position, format, interfaces))
    }

    /// The next packet; none at the end, also where the capture is cut or damaged: then [`Reader::cut`] says where.
    ///
    /// # Errors
    /// When the operating system cannot read on.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "the packet borrows from the reader")]
    pub fn next(&mut self) -> Result<Option<Packet<'_>>, Error> {
        Ok(self.advance()?.map(|found| self.packet(&found)))
    }

    /// Finds the next packet, for [`Reader::packet`].
    #[inline]
    pub(crate) fn advance(&mut self) -> Result<Option<Found>, Error> {
        if self.finished {
            return Ok(None);
        }
        let record = self.record + 1;
        let found = match &mut self.format {
            Format::Pcap(pcap) => pcap.next(&mut self.buffer, record),
            Format::Pcapng(pcapng) => pcapng.next(&mut self.buffer, record, &mut self.interfaces),
        };
        match found {
            Ok(Some(found)) => {
                self.record = record;
                Ok(Some(found))
            }
            Ok(None) => self.finish(None),
            Err(fault) => self.finish(Some(fault)),
        }
    }

    /// The packet that was found last.
    #[inline]
    pub(crate) fn packet(&self, found: &Found) -> Packet<'_> {
        Packet {
            at: found.at,
            interface: found.interface,
            link_type: found.link_type,
            original_len: found.original_len,
            direction: found.direction,
            record: self.record,
            data: self.buffer.at(found.offset, found.length),
        }
    }

    #[cold]
    fn finish(&mut self, fault: Option<Fault>) -> Result<Option<Found>, Error> {
        self.finished = true;
        let Some(fault) = fault else { return Ok(None) };
        let error = Error { capture: self.name.clone(), fault };
        if !error.fault.is_cut() {
            return Err(error);
        }
        self.cut = Some(error);
        Ok(None)
    }

    /// What errors and points call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where the capture ends before its end, once [`Reader::next`] came to it.
    pub fn cut(&self) -> Option<&Error> {
        self.cut.as_ref()
    }

    /// The interfaces that were described so far, of all sections.
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// The file's size in bytes; none where it is no file.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// Bytes read so far of the file (as it is: compressed).
    pub fn position(&self) -> u64 {
        self.position.get()
    }
}
