//! The link log: what happened to each packet on its link, as CSV.

use crate::Error;
use link::Reason;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wire::{Direction, Time};

const HEADER: &str = "at_ns,link,direction,event,bytes,reason,element,queued_bytes,queued_packets";
const BUFFER_BYTES: usize = 1 << 16;

/// What happened to a packet on a link.
#[derive(Clone, Debug)]
pub(crate) enum Happened {
    /// It came to the link.
    Arrival,
    /// It left it at the other end.
    Departure,
    /// It ended: why, and in which element.
    Drop(Reason, Option<Arc<str>>),
}

/// A line of the log.
pub(crate) struct Line {
    pub at: Time,
    pub link: u32,
    pub direction: Direction,
    pub happened: Happened,
    pub bytes: u32,
    /// Bytes and packets that queue in this direction, afterwards.
    pub queued: (u64, u64),
}

pub(crate) struct Log {
    path: PathBuf,
    out: BufWriter<File>,
    links: Vec<Arc<str>>,
}

impl Log {
    pub fn create(path: &Path, links: &[Arc<str>]) -> Result<Log, Error> {
        let file = File::create(path).map_err(|source| Error::Write { path: path.into(), source })?;
        let out = BufWriter::with_capacity(BUFFER_BYTES, file);
        let mut log = Log { path: path.into(), out, links: links.to_vec() };
        writeln!(log.out, "{HEADER}").map_err(|source| log.failed(source))?;
        Ok(log)
    }

    pub fn write(&mut self, line: &Line) -> Result<(), Error> {
        let Line { at, link, direction, happened, bytes, queued: (queued_bytes, queued_packets) } = line;
        let (at, link) = (at.as_nanos(), &self.links[*link as usize]);
        let direction = direction.as_str();
        let (event, reason, element) = match happened {
            Happened::Arrival => ("arrival", "", ""),
            Happened::Departure => ("departure", "", ""),
            Happened::Drop(reason, element) => ("drop", reason.name(), element.as_deref().unwrap_or_default()),
        };
        let rest = format_args!("{bytes},{reason},{element},{queued_bytes},{queued_packets}");
        writeln!(self.out, "{at},{link},{direction},{event},{rest}").map_err(|source| self.failed(source))
    }

    pub fn finish(mut self) -> Result<(), Error> {
        self.out.flush().map_err(|source| self.failed(source))
    }

    fn failed(&self, source: std::io::Error) -> Error {
        Error::Write { path: self.path.clone(), source }
    }
}
