use crate::checksum::Sum;
use crate::revise;
use crate::{Body, Content, EmitError, Frame, L4, Unsummed, pattern};

/// A frame on its way, with the bytes of its payload where they are not a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Headers and length.
    pub frame: Frame,
    /// The payload's bytes. [`Content::Pattern`] needs none.
    pub body: Option<Body>,
}

impl Packet {
    /// Appends the packet to `out`, or its first `snap` bytes, with the checksums of the whole packet. Bytes of the
    /// payload that are neither a pattern nor in the body are zeros. A packet that came from outside is written as it
    /// came, but for what its frame says otherwise; a checksum that was wrong stays wrong.
    ///
    /// Where the payload is a pattern, what `snap` cuts off costs nothing.
    ///
    /// # Errors
    /// [`EmitError`], `out` unchanged, when the packet would be too long or be read back as another.
    pub fn emit(&self, out: &mut Vec<u8>, snap: Option<usize>) -> Result<(), EmitError> {
        let start = out.len();
        if let Some(bytes) = self.unchanged() {
            out.extend_from_slice(&bytes[..bytes.len().min(snap.unwrap_or(usize::MAX))]);
            return Ok(());
        }
        let len = self.frame.payload.len;
        let payload = self.payload();
        if let Err(error) = self.append_headers(payload, out) {
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

    /// Appends the headers alone and leaves the transport checksum to others where that can be: where it stands, there is
    /// then the sum of the pseudo-header. [`None`]: it is as it is to be.
    ///
    /// # Errors
    /// [`EmitError`], `out` unchanged, when the packet would be too long or be read back as another.
    pub fn emit_headers(&self, out: &mut Vec<u8>) -> Result<Option<Unsummed>, EmitError> {
        let start = out.len();
        let is_summed = self.outside().is_some_and(|body| {
            let original = body.original();
            // One that became a packet of the other family is made anew.
            original.is_summed() && original.bytes()[0] >> 4 == if self.frame.ip.source.is_ipv4() { 4 } else { 6 }
        });
        let can_be_left = matches!(self.frame.l4, L4::Tcp(_) | L4::Udp { .. }) && self.frame.ip.fragment.is_none();
        let payload = if can_be_left { &[] } else { self.payload() };
        if let Err(error) = self.append_headers(payload, out) {
            out.truncate(start);
            return Err(error);
        }
        if is_summed || !can_be_left {
            return Ok(None);
        }
        let header = self.frame.l4.header_len();
        let start = out.len() - start - header as usize;
        let Some(offset) = self.frame.l4.checksum_offset() else { return Ok(None) };
        let at = out.len() - header as usize + usize::from(offset);
        let sum = revise::pseudo_header(&self.frame, header + self.frame.payload.len).folded();
        out[at..at + 2].copy_from_slice(&sum.to_be_bytes());
        Ok(Some(Unsummed { start: start as u16, offset }))
    }

    /// The packet as it came from outside, headers and all, if nobody changed it and nothing is missing.
    #[inline]
    pub fn unchanged(&self) -> Option<&[u8]> {
        let original = &**self.outside().filter(|body| body.is_whole())?.original();
        (original.is_summed() && *original.frame() == self.frame).then(|| original.bytes())
    }

    /// The payload's bytes, as far as they are there; none of a pattern.
    #[inline]
    pub fn payload(&self) -> &[u8] {
        match (&self.body, self.frame.payload.content) {
            (Some(body), Content::Unsaid) => &body[..body.len().min(self.frame.payload.len as usize)],
            _ => &[],
        }
    }

    /// The body, if headers belong to it.
    #[inline]
    fn outside(&self) -> Option<&Body> {
        self.body.as_ref().filter(|body| !body.original().headers().is_empty())
    }

    fn append_headers(&self, payload: &[u8], out: &mut Vec<u8>) -> Result<(), EmitError> {
        if let Some(body) = self.outside() {
            return revise::headers(body.original(), &self.frame, payload, out);
        }
        let sum = match self.frame.payload.content {
            Content::Pattern(position) => pattern::sum(position, self.frame.payload.len),
            Content::Unsaid => Sum::default().add(payload),
        };
        self.frame.emit_headers(sum, payload, out)
    }
}
