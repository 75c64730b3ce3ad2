use std::io::{self, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Fault;

/// Bytes read of a source so far, for progress.
#[derive(Clone, Default)]
pub(crate) struct Position(Arc<AtomicU64>);

impl Position {
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The plain bytes of `source`, which may be compressed by gzip or zstd (in several members or frames).
pub(crate) fn open(source: impl Read + Send + 'static) -> Result<(Box<dyn Read + Send>, Position), Fault> {
    let position = Position::default();
    let mut source = Counted { source, position: position.clone() };
    let start = beginning(&mut source).map_err(Fault::from_io)?;
    let whole = Cursor::new(start.clone()).chain(source);
    let plain: Box<dyn Read + Send> = match start.as_slice() {
        [] => return Err(Fault::Empty),
        [0x1f, 0x8b, ..] => Box::new(flate2::read::MultiGzDecoder::new(whole)),
        [0x28, 0xb5, 0x2f, 0xfd] => {
            Box::new(zstd::Decoder::with_buffer(BufReader::with_capacity(64 * 1024, whole)).map_err(Fault::from_io)?)
        }
        [0xfd, b'7', b'z', b'X'] => return Err(foreign("compressed by xz")),
        [b'B', b'Z', b'h', _] => return Err(foreign("compressed by bzip2")),
        [0x04, 0x22, 0x4d, 0x18] => return Err(foreign("compressed by lz4")),
        [b'P', b'K', 3, 4] => return Err(foreign("a zip archive")),
        _ => Box::new(whole),
    };
    Ok((plain, position))
}

fn foreign(kind: &'static str) -> Fault {
    Fault::Foreign { kind, advice: "unpack it first (gzip and zstd are read as they are)" }
}

/// The first four bytes, or fewer when there are no more.
fn beginning(source: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut start = Vec::with_capacity(4);
    source.take(4).read_to_end(&mut start)?;
    Ok(start)
}

struct Counted<R> {
    source: R,
    position: Position,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(into)?;
        self.position.0.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}
