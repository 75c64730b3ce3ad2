use crate::checksum::Sum;
use crate::network::total_len;
use crate::{Frame, Malformed};
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// The bytes of a payload: a part of what several packets may share, so that cutting and cloning copy nothing.
#[derive(Clone)]
pub struct Body {
    original: Arc<Original>,
    start: u32,
    len: u32,
}

/// A packet as it came from outside, or a super-frame that becomes several. What a [`Frame`] has no value for (flow
/// label, IP options, extension headers, reserved bits, wrong checksums) is kept here and written again.
#[derive(Debug, Default)]
pub struct Original {
    bytes: Vec<u8>,
    len: usize,
    headers: usize,
    is_summed: bool,
    /// What the headers say, if it came from outside.
    frame: Option<Frame>,
}

/// Where a transport checksum stands that is still to be made (`csum_start` and `csum_offset` of linux/virtio_net.h).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsummed {
    /// Where what it covers begins, besides the pseudo-header.
    pub start: u16,
    /// How far behind that it stands.
    pub offset: u16,
}

impl Original {
    /// Room for a packet of as many bytes.
    pub fn with_room(bytes: usize) -> Original {
        Original { bytes: vec![0; bytes], ..Original::default() }
    }

    /// Room that has these bytes in it, and none more.
    pub fn copy(bytes: &[u8]) -> Original {
        Original { bytes: bytes.to_vec(), ..Original::default() }
    }

    /// Where a packet's bytes belong, from its first header on.
    pub fn room(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// Takes the first `len` bytes for an IP packet. `is_summed` says whether its transport checksum is there; without,
    /// it is made when the packet is written.
    ///
    /// What is malformed behind the first header is [`L4::Other`](crate::L4::Other): it can pass, if not be understood.
    ///
    /// # Errors
    /// [`Malformed`] when the first header is.
    pub fn read(&mut self, len: usize, is_summed: bool) -> Result<Frame, Malformed> {
        let bytes = &self.bytes[..len];
        let frame = Frame::parse(bytes, len as u32).or_else(|_| Frame::opaque(bytes))?;
        // Padding of the link layer does not belong to it.
        let total = total_len(bytes);
        self.headers = total.saturating_sub(frame.payload.len as usize).min(len);
        (self.len, self.is_summed, self.frame) = (len.min(total), is_summed, Some(frame));
        Ok(frame)
    }

    /// Makes a checksum where the transport is none that a frame knows.
    pub fn complete(&mut self, Unsummed { start, offset }: Unsummed) {
        let Some(covered) = self.bytes[..self.len].get_mut(usize::from(start)..) else { return };
        let checksum = Sum::default().add(covered).finish();
        if let Some(field) = covered.get_mut(usize::from(offset)..).and_then(|rest| rest.first_chunk_mut()) {
            *field = checksum.to_be_bytes();
        }
        self.is_summed = true;
    }

    /// All of it.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Where its payload begins.
    #[inline]
    pub fn headers(&self) -> &[u8] {
        &self.bytes[..self.headers]
    }

    /// What the headers say.
    ///
    /// # Panics
    /// Where nothing was read.
    #[inline]
    pub(crate) fn frame(&self) -> &Frame {
        self.frame.as_ref().expect("headers that were read")
    }

    /// Whether its transport checksum is there.
    #[inline]
    pub fn is_summed(&self) -> bool {
        self.is_summed
    }
}

impl Body {
    /// These bytes of a packet, counted from its first header, as the payload of a packet that has the same headers but for
    /// what its [`Frame`] says.
    ///
    /// # Panics
    /// Beyond the end.
    #[inline]
    pub fn part(original: &Arc<Original>, range: Range<usize>) -> Body {
        assert!(range.start <= range.end && range.end <= original.len, "a part of what is there");
        Body { original: Arc::clone(original), start: range.start as u32, len: (range.end - range.start) as u32 }
    }

    /// What it is a part of.
    #[inline]
    pub fn original(&self) -> &Arc<Original> {
        &self.original
    }

    /// Which part.
    #[inline]
    pub fn range(&self) -> Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }

    /// Whether it is the payload of the original, all of it.
    #[inline]
    pub(crate) fn is_whole(&self) -> bool {
        let Original { headers, len, .. } = *self.original;
        self.start as usize == headers && (self.start + self.len) as usize == len
    }

    /// The bytes to be changed: a copy of their own, without the original's headers.
    pub fn to_mut(&mut self) -> &mut [u8] {
        if self.original.headers > 0 || Arc::get_mut(&mut self.original).is_none() {
            *self = Body::from(&**self);
        }
        let range = self.range();
        &mut Arc::get_mut(&mut self.original).expect("a copy that nobody else has").bytes[range]
    }
}

impl Deref for Body {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.original.bytes[self.range()]
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Body {
        let len = bytes.len();
        let len32 = u32::try_from(len).expect("a payload of less than 4 GB");
        Body { original: Arc::new(Original { bytes, len, ..Original::default() }), start: 0, len: len32 }
    }
}

impl From<&[u8]> for Body {
    fn from(bytes: &[u8]) -> Body {
        Body::from(bytes.to_vec())
    }
}

impl<const N: usize> From<[u8; N]> for Body {
    fn from(bytes: [u8; N]) -> Body {
        Body::from(bytes.to_vec())
    }
}

impl PartialEq for Body {
    fn eq(&self, other: &Body) -> bool {
        **self == **other && self.original.headers() == other.original.headers()
    }
}

impl Eq for Body {}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_tuple("Body").field(&&**self).finish()
    }
}
