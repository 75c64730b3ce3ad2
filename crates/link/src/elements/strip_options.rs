use super::Context;
use crate::options::{strip, subtype};
use crate::parameter::Text;
use crate::which::{Directions, Segments, one_of};
use crate::{Direction, Element, Out};
use parameters::{Fault, parameters};
use wire::{L4, Packet, Time};

parameters! {
    /// MPTCP options are overwritten with no-operations, as by firewalls that know them not. These look at all segments,
    /// at SYNs, at one of them, or at data alone (Honda et al., IMC 2011).
    "strip-options"
    struct Settings {
        /// Whose: `"all"` segments', `"syn"`'s, `"syn-ack"`'s, or `"data"`'s, those without SYN.
        segments: Text = Text("all".into()),
        /// Of which direction: `"both"`, `"up"` or `"down"`.
        direction: Text = Text("both".into()),
        /// Which: `"all"`, or one alone by its name in RFC 8684, `"mp-capable"`, `"mp-join"`, `"dss"`, `"add-addr"`,
        /// `"remove-addr"`, `"mp-prio"`, `"mp-fail"`, `"mp-fastclose"` or `"mp-tcprst"`.
        option: Text = Text("all".into()),
    }
}

/// Subtypes (RFC 8684 §7.2).
const OPTIONS: [(&str, Option<u8>); 10] = [
    ("all", None),
    ("mp-capable", Some(0)),
    ("mp-join", Some(1)),
    ("dss", Some(2)),
    ("add-addr", Some(3)),
    ("remove-addr", Some(4)),
    ("mp-prio", Some(5)),
    ("mp-fail", Some(6)),
    ("mp-fastclose", Some(7)),
    ("mp-tcprst", Some(8)),
];

pub(super) fn make(settings: Settings, _: &Context) -> Result<Box<dyn Element>, Fault> {
    Ok(Box::new(StripOptions {
        segments: Segments::read(&settings.segments)?,
        directions: Directions::read(&settings.direction)?,
        only: one_of("option", &settings.option.0, &OPTIONS)?,
    }))
}

struct StripOptions {
    segments: Segments,
    directions: Directions,
    /// The subtype, if one alone goes.
    only: Option<u8>,
}

impl Element for StripOptions {
    fn push(&mut self, _now: Time, direction: Direction, mut packet: Box<Packet>, out: &mut Out) {
        if let L4::Tcp(tcp) = &mut packet.frame.l4
            && self.segments.include(tcp.flags)
            && self.directions.include(direction)
        {
            strip(tcp, |option| self.only.is_none() || self.only == subtype(option));
        }
        out.send(direction, packet);
    }
}
