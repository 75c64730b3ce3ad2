use super::Site;
use crate::Error;
use capture::Writer;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use wire::{Direction, Packet, Time};

/// Bytes of a packet that are kept, unless all are: enough for headers with any options.
const SNAP_BYTES: usize = 128;

/// A capture on its way.
pub(crate) struct Capture {
    path: PathBuf,
    writer: Writer<File>,
    snap: Option<usize>,
    bytes: Vec<u8>,
}

impl Capture {
    pub fn create(path: &Path, site: Site, full_payload: bool) -> Result<Capture, Error> {
        let writer = File::create(path).and_then(|file| Writer::new(file, site.name()));
        let writer = writer.map_err(|source| Error::Write { path: path.into(), source })?;
        let snap = (!full_payload).then_some(SNAP_BYTES);
        Ok(Capture { path: path.into(), writer, snap, bytes: Vec::new() })
    }

    pub fn interface(&mut self, name: &str) -> Result<u32, Error> {
        self.writer.interface(name).map_err(failed(&self.path))
    }

    /// Says whether the packet could be written.
    pub fn packet(&mut self, interface: u32, at: Time, direction: Direction, packet: &Packet) -> Result<bool, Error> {
        self.bytes.clear();
        if packet.emit(&mut self.bytes, self.snap).is_err() {
            return Ok(false);
        }
        let len = packet.frame.wire_len().max(self.bytes.len() as u32);
        let written = self.writer.packet(interface, at, Some(direction), len, &self.bytes);
        written.map(|()| true).map_err(failed(&self.path))
    }

    pub fn finish(self, drops: &[u64]) -> Result<(), Error> {
        self.writer.finish(drops).map(drop).map_err(failed(&self.path))
    }
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> Error + '_ {
    |source| Error::Write { path: path.into(), source }
}
