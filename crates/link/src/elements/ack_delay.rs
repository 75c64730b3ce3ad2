use super::Context;
use crate::parameter::Duration;
use crate::{Direction, Element, Out};
use parameters::{Fault, parameters};
use std::collections::VecDeque;
use wire::{Flags, L4, Packet, Time};

parameters! {
    /// Every ACK without data is delayed, also the one that completes the handshake: a published test for split
    /// connections (Wei et al., PAM 2006). Put it into the uplink. If no round-trip time of data measured at the server
    /// is as long as the delay, a box on the path acknowledges in the client's place. Segments with data overtake
    /// delayed ACKs.
    "ack-delay"
    struct Settings {
        /// How long ACKs are delayed.
        delay: Duration,
    }
}

pub(super) fn make(settings: Settings, _: &Context) -> Result<Box<dyn Element>, Fault> {
    Ok(Box::new(AckDelay { nanos: settings.delay.nanos(), held: VecDeque::new() }))
}

struct AckDelay {
    nanos: i64,
    held: VecDeque<(Time, Direction, Box<Packet>)>,
}

impl Element for AckDelay {
    fn push(&mut self, now: Time, direction: Direction, packet: Box<Packet>, out: &mut Out) {
        self.wake(now, out);
        if is_pure(&packet) {
            self.held.push_back((now + self.nanos, direction, packet));
            self.wake(now, out);
        } else {
            out.send(direction, packet);
        }
    }

    fn wake(&mut self, now: Time, out: &mut Out) {
        while self.deadline() <= now
            && let Some((_, direction, packet)) = self.held.pop_front()
        {
            out.send(direction, packet);
        }
    }

    fn deadline(&self) -> Time {
        self.held.front().map_or(Time::MAX, |(at, ..)| *at)
    }

    fn take(&mut self, packets: &mut Vec<(Time, Direction, Box<Packet>)>) {
        packets.extend(self.held.drain(..));
    }
}

/// Nothing but an ACK.
fn is_pure(packet: &Packet) -> bool {
    let L4::Tcp(tcp) = &packet.frame.l4 else { return false };
    let other = [Flags::SYN, Flags::FIN, Flags::RST].into_iter().any(|flag| tcp.flags.has(flag));
    packet.frame.payload.len == 0 && tcp.flags.has(Flags::ACK) && !other
}
