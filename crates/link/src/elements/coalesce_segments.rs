use super::Context;
use crate::flow::Flow;
use crate::parameter::{Bytes, Duration, Text};
use crate::segment::{append, plain};
use crate::which::one_of;
use crate::{Direction, Element, Out};
use parameters::{Fault, fault, parameters};
use wire::{Flags, L4, Packet, Time};

parameters! {
    /// Consecutive segments are merged into one. Traffic normalisers and offloads in the wrong place do this (Honda et
    /// al., IMC 2011). A segment waits for the next one, unless it ends a burst (PSH, FIN); it is forwarded when the
    /// waiting time is over.
    "coalesce-segments"
    struct Settings {
        /// Longest time that a segment waits for others.
        wait: Duration = Duration(1_000_000),
        /// Largest payload of a merged segment in bytes.
        largest: Bytes = Bytes(2896),
        /// Which options the merged segment gets: those of the `"first"` or of the `"last"` segment. The options of the
        /// others are lost.
        options: Text = Text("first".into()),
    }
}

/// What an IP packet has room for beside its headers.
const MOST_BYTES: u64 = 65_000;

pub(super) fn make(settings: Settings, _: &Context) -> Result<Box<dyn Element>, Fault> {
    let first = one_of("options", &settings.options.0, &[("first", true), ("last", false)])?;
    if settings.largest.0 > MOST_BYTES {
        return Err(fault("largest", format!("is more than the {MOST_BYTES} bytes that fit into a packet")));
    }
    let (wait_ns, largest) = (settings.wait.nanos(), settings.largest.0 as u32);
    Ok(Box::new(CoalesceSegments { wait_ns, largest, first, held: Vec::new() }))
}

struct CoalesceSegments {
    wait_ns: i64,
    largest: u32,
    /// The first's options stay.
    first: bool,
    /// In the order in which they go on; at most one of each flow and direction.
    held: Vec<Held>,
}

struct Held {
    until: Time,
    direction: Direction,
    flow: Flow,
    packet: Box<Packet>,
}

impl Element for CoalesceSegments {
    fn push(&mut self, now: Time, direction: Direction, packet: Box<Packet>, out: &mut Out) {
        self.wake(now, out);
        let Some(flow) = Flow::of(direction, &packet) else { return out.send(direction, packet) };
        let held = self.held.iter().position(|held| held.direction == direction && held.flow == flow);
        let packet = match held {
            Some(index) if self.fit(&self.held[index].packet, &packet) => {
                let mut held = self.held.remove(index);
                self.merge(&mut held.packet, &packet);
                if !is_last(&held.packet) && held.packet.frame.payload.len < self.largest {
                    self.held.insert(index, held);
                } else {
                    out.send(direction, held.packet);
                }
                return;
            }
            // What it does not fit goes before it.
            Some(index) => {
                out.send(direction, self.held.remove(index).packet);
                packet
            }
            None => packet,
        };
        let waits = plain(&packet).is_some() && packet.frame.payload.len > 0 && !is_last(&packet);
        if waits && packet.frame.payload.len < self.largest && self.wait_ns > 0 {
            self.held.push(Held { until: now + self.wait_ns, direction, flow, packet });
        } else {
            out.send(direction, packet);
        }
    }

    fn wake(&mut self, now: Time, out: &mut Out) {
        while self.deadline() <= now {
            let held = self.held.remove(0);
            out.send(held.direction, held.packet);
        }
    }

    fn deadline(&self) -> Time {
        self.held.first().map_or(Time::MAX, |held| held.until)
    }

    fn take(&mut self, packets: &mut Vec<(Time, Direction, Box<Packet>)>) {
        packets.extend(self.held.drain(..).map(|held| (held.until, held.direction, held.packet)));
    }
}

impl CoalesceSegments {
    /// Whether `next` follows `held` and finds room.
    fn fit(&self, held: &Packet, next: &Packet) -> bool {
        let (Some(before), Some(after)) = (plain(held), plain(next)) else { return false };
        let len = held.frame.payload.len;
        next.frame.payload.len > 0
            && before.seq.wrapping_add(len) == after.seq
            && len + next.frame.payload.len <= self.largest
            && held.frame.ip.tos == next.frame.ip.tos
    }

    /// The latest word on what arrived is the last's.
    fn merge(&self, packet: &mut Packet, next: &Packet) {
        append(packet, next);
        if let (L4::Tcp(tcp), L4::Tcp(last)) = (&mut packet.frame.l4, &next.frame.l4) {
            (tcp.ack, tcp.window) = (last.ack, last.window);
            tcp.flags = tcp.flags.with(last.flags);
            if !self.first {
                tcp.options = last.options;
            }
        }
    }
}

fn is_last(packet: &Packet) -> bool {
    plain(packet).is_some_and(|tcp| tcp.flags.has(Flags::PSH) || tcp.flags.has(Flags::FIN))
}
