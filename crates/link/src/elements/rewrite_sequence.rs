use super::Context;
use crate::flow::{Flow, Flows};
use crate::options::{SACK, revise};
use crate::parameter::Flag;
use crate::random::Stream;
use crate::{Direction, Element, Out};
use parameters::{Fault, parameters};
use wire::{Flags, L4, Packet, Tcp, Time};

parameters! {
    /// Sequence numbers are rewritten, as by firewalls that randomise initial sequence numbers: each direction of a
    /// connection gets a random offset when the SYN passes (Honda et al., IMC 2011). Because of such boxes, MPTCP's
    /// mappings count from the SYN (RFC 8684 §3.3.1). It needs to see both directions: put it into `middleboxes`, or
    /// share it.
    "rewrite-sequence"
    struct Settings {
        /// Whether selective acknowledgements are rewritten too. If not, they refer to data that was never sent (seen
        /// by Hesmans et al., HotMiddlebox 2013).
        sack: Flag = Flag(true),
    }
}

pub(super) fn make(settings: Settings, context: &Context) -> Result<Box<dyn Element>, Fault> {
    let (sack, stream) = (settings.sack.0, context.stream("offsets"));
    Ok(Box::new(RewriteSequence { sack, stream, flows: Flows::new(None) }))
}

struct RewriteSequence {
    sack: bool,
    stream: Stream,
    /// What is added to the numbers that each direction sends.
    flows: Flows<[u32; 2]>,
}

impl Element for RewriteSequence {
    fn push(&mut self, now: Time, direction: Direction, mut packet: Box<Packet>, out: &mut Out) {
        if let Some(offsets) = self.offsets(now, direction, &packet)
            && let L4::Tcp(tcp) = &mut packet.frame.l4
        {
            let [own, other] = match direction {
                Direction::Up => offsets,
                Direction::Down => [offsets[1], offsets[0]],
            };
            tcp.seq = tcp.seq.wrapping_add(own);
            if tcp.flags.has(Flags::ACK) {
                tcp.ack = tcp.ack.wrapping_sub(other);
            }
            if self.sack {
                rewrite_blocks(tcp, other);
            }
        }
        out.send(direction, packet);
    }

    fn sees_both_directions(&self) -> bool {
        true
    }
}

impl RewriteSequence {
    /// Those of the packet's connection; none where it began before.
    fn offsets(&mut self, now: Time, direction: Direction, packet: &Packet) -> Option<[u32; 2]> {
        let L4::Tcp(tcp) = &packet.frame.l4 else { return None };
        let flow = Flow::of(direction, packet)?;
        if let Some(known) = self.flows.get(now, &flow) {
            return Some(*known);
        }
        if !tcp.flags.has(Flags::SYN) || tcp.flags.has(Flags::ACK) {
            return None;
        }
        let offsets = [0; 2].map(|_: u32| self.stream.below(1 << 32) as u32);
        self.flows.insert(now, flow, offsets);
        Some(offsets)
    }
}

/// Each edge of each block (RFC 2018 §3).
fn rewrite_blocks(tcp: &mut Tcp, offset: u32) {
    revise(tcp, |option| {
        let is_sack = option[0] == SACK;
        if is_sack {
            for edge in option[2..].chunks_exact_mut(4) {
                let number = u32::from_be_bytes([edge[0], edge[1], edge[2], edge[3]]);
                edge.copy_from_slice(&number.wrapping_sub(offset).to_be_bytes());
            }
        }
        is_sack
    });
}
