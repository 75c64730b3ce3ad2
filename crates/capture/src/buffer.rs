use std::io::{self, Read};

/// Room at first; it grows for a longer record only as the bytes for it arrive.
const INITIAL: usize = 128 * 1024;

/// Bytes of a source, as many as needed at a time.
pub(crate) struct Buffer {
    source: Box<dyn Read + Send>,
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Buffer {
    pub fn new(source: Box<dyn Read + Send>) -> Buffer {
        Buffer { source, bytes: vec![0; INITIAL], start: 0, end: 0 }
    }

    /// What was read and not yet consumed.
    #[inline]
    pub fn available(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Makes at least `need` bytes available; false when the source ends before.
    #[inline]
    pub fn need(&mut self, need: usize) -> io::Result<bool> {
        if self.end - self.start >= need { Ok(true) } else { self.fill(need) }
    }

    /// Takes `length` available bytes: their offset, for [`Buffer::at`], valid until more are needed.
    #[inline]
    pub fn take(&mut self, length: usize) -> usize {
        debug_assert!(self.end - self.start >= length);
        let offset = self.start;
        self.start += length;
        offset
    }

    /// `length` bytes at an offset that [`Buffer::take`] gave.
    #[inline]
    pub fn at(&self, offset: usize, length: usize) -> &[u8] {
        &self.bytes[offset..offset + length]
    }

    /// Leaves out `length` bytes, however many; false when the source ends before.
    pub fn skip(&mut self, mut length: u64) -> io::Result<bool> {
        loop {
            let now = length.min((self.end - self.start) as u64);
            self.start += now as usize;
            length -= now;
            if length == 0 {
                return Ok(true);
            }
            if !self.need(1)? {
                return Ok(false);
            }
        }
    }

    #[cold]
    fn fill(&mut self, need: usize) -> io::Result<bool> {
        self.bytes.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        while self.end < need {
            if self.end == self.bytes.len() {
                self.bytes.resize(self.bytes.len() * 2, 0);
            }
            match self.source.read(&mut self.bytes[self.end..]) {
                Ok(0) => return Ok(false),
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }
}
