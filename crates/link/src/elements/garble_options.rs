use super::Context;
use crate::options::{MPTCP, revise};
use crate::parameter::{Ratio, Text};
use crate::random::Stream;
use crate::which::{Directions, Segments, one_of};
use crate::{Direction, Element, Out};
use parameters::{Fault, parameters};
use wire::{L4, Packet, Time};

parameters! {
    /// MPTCP options are corrupted, which the end hosts must handle (RFC 8684 §3.7) and which Honda et al. (IMC 2011)
    /// looked for in the Internet. The TCP checksum stays correct. Options are chosen at random, independently of each
    /// other.
    "garble-options"
    struct Settings {
        /// How an option is corrupted: `"replace"` changes its kind to one that nobody knows; `"flip"` flips one bit
        /// after its length and subtype; `"length"` sets its length field to an impossible value. The first two leave
        /// the length as it is.
        how: Text = Text("replace".into()),
        /// Share of the options that are corrupted.
        ratio: Ratio = Ratio(1.0),
        /// Segments that it changes: `"all"`, `"syn"` (SYNs without ACK), `"syn-ack"`, or `"data"` (segments without
        /// SYN).
        segments: Text = Text("all".into()),
        /// Direction in which it changes segments: `"both"`, `"up"` or `"down"`.
        direction: Text = Text("both".into()),
    }
}

/// For experiments (RFC 4727 §4.2): nobody expects it.
const UNKNOWN_KIND: u8 = 253;
/// Kind, length, and the byte with the subtype.
const HEAD: usize = 3;
/// No option is that long, and no header has room for it.
const OVER_THE_END: u8 = 41;

pub(super) fn make(settings: Settings, context: &Context) -> Result<Box<dyn Element>, Fault> {
    let all = [("replace", How::Replace), ("flip", How::Flip), ("length", How::Length)];
    Ok(Box::new(GarbleOptions {
        how: one_of("how", &settings.how.0, &all)?,
        ratio: settings.ratio.0,
        segments: Segments::read(&settings.segments)?,
        directions: Directions::read(&settings.direction)?,
        streams: context.streams(),
    }))
}

#[derive(Clone, Copy, Debug)]
enum How {
    Replace,
    Flip,
    Length,
}

struct GarbleOptions {
    how: How,
    ratio: f64,
    segments: Segments,
    directions: Directions,
    streams: [Stream; 2],
}

impl Element for GarbleOptions {
    fn push(&mut self, _now: Time, direction: Direction, mut packet: Box<Packet>, out: &mut Out) {
        if let L4::Tcp(tcp) = &mut packet.frame.l4
            && self.segments.include(tcp.flags)
            && self.directions.include(direction)
        {
            let (how, ratio, stream) = (self.how, self.ratio, &mut self.streams[direction as usize]);
            revise(tcp, |option| {
                let goes = option[0] == MPTCP && stream.chance(ratio);
                if goes {
                    garble(how, stream, option);
                }
                goes
            });
        }
        out.send(direction, packet);
    }
}

fn garble(how: How, stream: &mut Stream, option: &mut [u8]) {
    match how {
        How::Replace => option[0] = UNKNOWN_KIND,
        How::Length => option[1] = OVER_THE_END,
        How::Flip if option.len() > HEAD => {
            let bit = stream.below(8 * (option.len() - HEAD) as u64) as usize;
            option[HEAD + bit / 8] ^= 1 << (bit % 8);
        }
        How::Flip => {}
    }
}
