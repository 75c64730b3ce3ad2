use super::Context;
use crate::flight::Flight;
use crate::parameter::{Duration, Ratio};
use crate::random::Grid;
use crate::{Direction, Element, Out, parameter};
use parameters::{Fault, fault, parameters};
use wire::{Packet, Time};

parameters! {
    /// Packets leave only in slots that a base station's scheduler grants: each slot with probability `share`, as under
    /// proportionally fair scheduling with other devices. A device with an empty queue must first send a request, which
    /// takes `request`, as in the uplinks of LTE (3GPP TS 36.321 §5.4.4) and WiMAX (IEEE 802.16 §6.3.6). Packets that
    /// arrive while others wait need no request of their own. Grants depend on time, not on packets. Any number of
    /// packets may leave in a slot; a rate element limits them.
    "grants"
    struct Settings {
        /// Length of a slot, at least 100 µs.
        slot: Duration = Duration(1_000_000),
        /// Share of slots that are granted, at least 0.1 %.
        share: Ratio = Ratio(1.0),
        /// Time from the request to the first slot that may be granted.
        request: Duration = Duration(0),
    }
}

const MIN_SHARE: f64 = 0.001;

pub(super) fn make(settings: Settings, context: &Context) -> Result<Box<dyn Element>, Fault> {
    let Settings { slot, share, request } = settings;
    let slot = parameter::step("slot", slot)?;
    if share.0 < MIN_SHARE {
        return Err(fault("share", "must be at least 0.1 %"));
    }
    Ok(Box::new(Grants {
        share: share.0,
        request: request.nanos(),
        slots: context.streams().map(|mut stream| Grid::new(stream.word(), context.start, slot)),
        last: [Time::from_nanos(i64::MIN); 2],
        waiting: Flight::default(),
    }))
}

struct Grants {
    share: f64,
    request: i64,
    /// Of each direction.
    slots: [Grid; 2],
    /// When the last packet of a direction leaves.
    last: [Time; 2],
    waiting: Flight<(Direction, Box<Packet>)>,
}

impl Grants {
    /// The first slot that is granted, from `time` on.
    fn grant(&self, direction: Direction, time: Time) -> Time {
        let slots = &self.slots[direction as usize];
        let mut slot = slots.next(time);
        while slots.uniform(slot, 0) >= self.share {
            slot += 1;
        }
        slots.time(slot)
    }
}

impl Element for Grants {
    fn push(&mut self, now: Time, direction: Direction, packet: Box<Packet>, out: &mut Out) {
        self.wake(now, out);
        let last = self.last[direction as usize];
        let from = if last > now { last } else { now + self.request };
        let leaves = self.grant(direction, from);
        self.last[direction as usize] = leaves;
        self.waiting.add(leaves, (direction, packet));
    }

    fn wake(&mut self, now: Time, out: &mut Out) {
        while let Some((direction, packet)) = self.waiting.next(now) {
            out.send(direction, packet);
        }
    }

    fn deadline(&self) -> Time {
        self.waiting.deadline()
    }

    fn take(&mut self, packets: &mut Vec<(Time, Direction, Box<Packet>)>) {
        packets.extend(self.waiting.drain().map(|(at, (direction, packet))| (at, direction, packet)));
    }
}
