use crate::checksum::Sum;
use crate::{Content, EmitError, Frame, pattern};

/// A frame on its way, with the bytes of its payload where they are not a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Headers and length.
    pub frame: Frame,
    /// The payload's bytes. [`Content::Pattern`] needs none.
    pub body: Option<Box<[u8]>>,
}

impl Packet {
    /// Appends the packet to `out`, or its first `snap` bytes, with the checksums of the whole packet. Bytes of the
    /// payload that are neither a pattern nor in the body are zeros.
    ///
    /// Where the payload is a pattern, what `snap` cuts off costs nothing.
    ///
    /// # Errors
    /// [`EmitError`], `out` unchanged, when the packet would be too long or be read back as another.
    pub fn emit(&self, out: &mut Vec<u8>, snap: Option<usize>) -> Result<(), EmitError> {
        let start = out.len();
        let body = self.body.as_deref().unwrap_or_default();
        let len = self.frame.payload.len;
        let (sum, payload) = match self.frame.payload.content {
            Content::Pattern(position) => (pattern::sum(position, len), &[][..]),
            Content::Unsaid => {
                let payload = &body[..body.len().min(len as usize)];
                (Sum::default().add(payload), payload)
            }
        };
        if let Err(error) = self.frame.emit_headers(sum, payload, out) {
            out.truncate(start);
            return Err(error);
        }
        let written = out.len() - start;
        let end = (written + len as usize).min(snap.unwrap_or(usize::MAX));
        let Some(room) = end.checked_sub(written) else {
            out.truncate(start + end);
            return Ok(());
        };
        match self.frame.payload.content {
            Content::Pattern(position) => {
                out.resize(start + end, 0);
                pattern::fill(position, &mut out[start + written..]);
            }
            Content::Unsaid => {
                out.extend_from_slice(&payload[..payload.len().min(room)]);
                out.resize(start + end, 0);
            }
        }
        Ok(())
    }
}
