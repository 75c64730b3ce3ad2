use super::Context;
use crate::parameter::{Bytes, Text};
use crate::segment::{part, plain, strip_all};
use crate::which::one_of;
use crate::{Direction, Element, Out};
use parameters::{Fault, fault, parameters};
use wire::{Packet, Time};

parameters! {
    /// Segments are split into smaller ones. Network cards with segmentation offload and some traffic shapers do this
    /// (Honda et al., IMC 2011). An MPTCP mapping holds for the bytes that it names, whichever piece carries it (RFC
    /// 8684 §3.3.1).
    "split-segments"
    struct Settings {
        /// Largest payload of a piece in bytes.
        largest: Bytes = Bytes(536),
        /// Which pieces get the MPTCP options of the segment: `"each"`, as with network cards (Raiciu et al., NSDI
        /// 2012), or only the `"first"`.
        options: Text = Text("each".into()),
    }
}

pub(super) fn make(settings: Settings, _: &Context) -> Result<Box<dyn Element>, Fault> {
    let each = one_of("options", &settings.options.0, &[("each", true), ("first", false)])?;
    match u32::try_from(settings.largest.0) {
        Ok(largest) if largest > 0 => Ok(Box::new(SplitSegments { largest, each })),
        _ => Err(fault("largest", "is not a segment length")),
    }
}

struct SplitSegments {
    largest: u32,
    each: bool,
}

impl Element for SplitSegments {
    fn push(&mut self, _now: Time, direction: Direction, packet: Box<Packet>, out: &mut Out) {
        let len = packet.frame.payload.len;
        if len <= self.largest || plain(&packet).is_none() {
            return out.send(direction, packet);
        }
        for start in (0..len).step_by(self.largest as usize) {
            let mut piece = part(&packet, start, self.largest.min(len - start));
            if start > 0 && !self.each {
                strip_all(&mut piece);
            }
            out.send(direction, piece);
        }
    }
}
