//! Writing: the error, and a cursor that counts on where room ends so that the error can tell what was needed.

/// Why a value cannot be put into bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmitError {
    /// It does not fit.
    #[error("{what} needs {need} bytes, there is room for {room}")]
    NoRoom {
        /// What was to be written.
        what: &'static str,
        /// Bytes needed.
        need: usize,
        /// Bytes free.
        room: usize,
    },
    /// A field holds what no bytes stand for, or what would be read back as something else.
    #[error("{what}: {field} cannot be written")]
    Field {
        /// What was to be written.
        what: &'static str,
        /// The field.
        field: &'static str,
    },
}

pub(crate) struct Writer<'a> {
    out: &'a mut [u8],
    len: usize,
}

impl<'a> Writer<'a> {
    pub fn new(out: &'a mut [u8]) -> Self {
        Writer { out, len: 0 }
    }

    pub fn put(&mut self, bytes: &[u8]) {
        let end = self.len + bytes.len();
        if let Some(room) = self.out.get_mut(self.len..end) {
            room.copy_from_slice(bytes);
        }
        self.len = end;
    }

    /// Bytes written.
    pub fn finish(self, what: &'static str) -> Result<usize, EmitError> {
        if self.len > self.out.len() {
            return Err(EmitError::NoRoom { what, need: self.len, room: self.out.len() });
        }
        Ok(self.len)
    }
}

/// An error unless `holds`.
pub(crate) fn check(holds: bool, what: &'static str, field: &'static str) -> Result<(), EmitError> {
    if holds { Ok(()) } else { Err(EmitError::Field { what, field }) }
}
