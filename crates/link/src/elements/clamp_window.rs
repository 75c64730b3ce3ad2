use super::Context;
use crate::flow::{Flow, Flows};
use crate::options::{WINDOW_SCALE, revise};
use crate::parameter::{Bytes, Text};
use crate::which::Directions;
use crate::{Direction, Element, Out};
use parameters::{Fault, fault, parameters};
use wire::{Flags, L4, Packet, Tcp, Time};

parameters! {
    /// Receive windows are reduced. Boxes that shape traffic without dropping packets do this (Karandikar et al., TCP
    /// rate control, 2000). The window scale is taken from the handshake (RFC 7323 §2); if the handshake was not seen,
    /// windows are not changed. The window of MPTCP is that of the connection (RFC 8684 §3.3.4), so clamping it on one
    /// path limits all paths. It needs to see both directions: put it into `middleboxes`, or share it.
    "clamp-window"
    struct Settings {
        /// Largest window that passes.
        bytes: Bytes,
        /// Direction of the segments whose windows are reduced: `"up"`, `"down"` or `"both"`. Windows of segments that
        /// go up limit downloads.
        direction: Text = Text("both".into()),
    }
}

pub(super) fn make(settings: Settings, _: &Context) -> Result<Box<dyn Element>, Fault> {
    if settings.bytes.0 == 0 {
        return Err(fault("bytes", "leaves no window"));
    }
    Ok(Box::new(ClampWindow {
        bytes: settings.bytes.0,
        directions: Directions::read(&settings.direction)?,
        flows: Flows::new(None),
    }))
}

struct ClampWindow {
    bytes: u64,
    directions: Directions,
    /// What each direction's SYN said of its scale.
    flows: Flows<[Option<u8>; 2]>,
}

impl Element for ClampWindow {
    fn push(&mut self, now: Time, direction: Direction, mut packet: Box<Packet>, out: &mut Out) {
        let flow = Flow::of(direction, &packet);
        if let (Some(flow), L4::Tcp(tcp)) = (flow, &mut packet.frame.l4) {
            let shift = self.shift(now, direction, flow, tcp);
            if let Some(shift) = shift.filter(|_| self.directions.include(direction)) {
                let most = (self.bytes >> shift).clamp(1, u64::from(u16::MAX)) as u16;
                tcp.window = tcp.window.min(most);
            }
        }
        out.send(direction, packet);
    }

    fn sees_both_directions(&self) -> bool {
        true
    }
}

impl ClampWindow {
    /// By how much the window in a segment is shifted; none where that is not known.
    fn shift(&mut self, now: Time, direction: Direction, flow: Flow, tcp: &mut Tcp) -> Option<u8> {
        if tcp.flags.has(Flags::SYN) {
            let mut said = None;
            revise(tcp, |option| {
                if let [WINDOW_SCALE, 3, shift] = *option {
                    said = Some(shift.min(14));
                }
                false
            });
            match self.flows.get(now, &flow) {
                Some(shifts) => shifts[direction as usize] = said,
                None => {
                    let mut shifts = [None; 2];
                    shifts[direction as usize] = said;
                    self.flows.insert(now, flow, shifts);
                }
            }
            return Some(0);
        }
        // RFC 7323 §2.2: only if both said something.
        match *self.flows.get(now, &flow)? {
            [Some(up), Some(down)] => Some([up, down][direction as usize]),
            _ => Some(0),
        }
    }
}
