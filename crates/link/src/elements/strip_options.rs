use super::Place;
use crate::describe::{Fault, fault, parameters};
use crate::parameter::Text;
use crate::{Direction, Element, Out};
use wire::{Flags, L4, Options, Packet, Time};

parameters! {
    /// MPTCP options are overwritten with no-operations, as by firewalls that let no option pass which they do not know.
    "strip-options"
    struct Settings {
        /// Whose: `"all"` segments', `"syn"`'s, `"syn-ack"`'s, or `"data"`'s, those without SYN.
        segments: Text = Text("all".into()),
    }
}

const SEGMENTS: [(&str, Segments); 4] =
    [("all", Segments::All), ("syn", Segments::Syn), ("syn-ack", Segments::SynAck), ("data", Segments::Data)];
/// Kinds of TCP options (RFC 9293 §3.1, RFC 8684 §3).
const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const MPTCP: u8 = 30;

pub(super) fn make(settings: Settings, _: &Place) -> Result<Box<dyn Element>, Fault> {
    let Some((_, segments)) = SEGMENTS.into_iter().find(|(name, _)| *name == settings.segments.0) else {
        let known = SEGMENTS.map(|(name, _)| name).join(", ");
        return Err(fault("segments", format!("there is no `{}`, only {known}", settings.segments.0)));
    };
    Ok(Box::new(StripOptions { segments }))
}

#[derive(Clone, Copy, Debug)]
enum Segments {
    All,
    Syn,
    SynAck,
    Data,
}

impl Segments {
    fn include(self, flags: Flags) -> bool {
        let (syn, ack) = (flags.has(Flags::SYN), flags.has(Flags::ACK));
        match self {
            Segments::All => true,
            Segments::Syn => syn && !ack,
            Segments::SynAck => syn && ack,
            Segments::Data => !syn,
        }
    }
}

struct StripOptions {
    segments: Segments,
}

impl Element for StripOptions {
    fn push(&mut self, _now: Time, direction: Direction, mut packet: Box<Packet>, out: &mut Out) {
        if let L4::Tcp(tcp) = &mut packet.frame.l4
            && self.segments.include(tcp.flags)
            && let Some(stripped) = stripped(&tcp.options)
        {
            tcp.options = stripped;
        }
        out.send(direction, packet);
    }
}

/// As many bytes without MPTCP, if there was any. Behind what is malformed nothing is known.
fn stripped(options: &Options) -> Option<Options> {
    let mut bytes = options.as_bytes().to_vec();
    let (mut at, mut found) = (0, false);
    while let Some(&kind) = bytes.get(at) {
        let len = match (kind, bytes.get(at + 1)) {
            (NO_OPERATION, _) => 1,
            (END, _) | (_, None | Some(0 | 1)) => break,
            (_, Some(&len)) => usize::from(len),
        };
        let Some(option) = bytes.get_mut(at..at + len) else { break };
        if kind == MPTCP {
            option.fill(NO_OPERATION);
            found = true;
        }
        at += len;
    }
    found.then(|| Options::from_bytes(&bytes).expect("as many as before"))
}
