use super::Context;
use crate::options::{strip, subtype};
use crate::parameter::Text;
use crate::which::{Directions, Segments, one_of};
use crate::{Direction, Element, Out};
use parameters::{Fault, parameters};
use wire::{L4, Packet, Time};

parameters! {
    /// MPTCP options are overwritten with no-operation options, as some firewalls do with options that they do not
    /// know. Some strip them from all segments, others from SYNs, from SYNs of one direction, or from data segments
    /// only (Honda et al., IMC 2011).
    "strip-options"
    struct Settings {
        /// Segments that it changes: `"all"`, `"syn"` (SYNs without ACK), `"syn-ack"`, or `"data"` (segments without
        /// SYN).
        segments: Text = Text("all".into()),
        /// Direction in which it changes segments: `"both"`, `"up"` or `"down"`.
        direction: Text = Text("both".into()),
        /// Option that it strips: `"all"`, or one of them by its name in RFC 8684: `"mp-capable"`, `"mp-join"`,
        /// `"dss"`, `"add-addr"`, `"remove-addr"`, `"mp-prio"`, `"mp-fail"`, `"mp-fastclose"` or `"mp-tcprst"`.
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
