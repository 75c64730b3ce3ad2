use crate::{Direction, Element, Out};
use std::collections::VecDeque;
use wire::{Packet, Time};

/// What was in flight when the elements of a chain were replaced, and what came behind it since: nothing overtakes it.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    /// By direction, in order, with the time at which it leaves.
    leaving: [VecDeque<(Time, Box<Packet>)>; 2],
}

impl InFlight {
    /// A packet that leaves then, or with the one before it if that is later.
    pub fn add(&mut self, leaves: Time, direction: Direction, packet: Box<Packet>) {
        let leaving = &mut self.leaving[direction as usize];
        let before = leaving.back().map_or(leaves, |(before, _)| *before);
        leaving.push_back((leaves.max(before), packet));
    }

    pub fn is_empty(&self) -> bool {
        self.leaving.iter().all(VecDeque::is_empty)
    }
}

impl Element for InFlight {
    fn push(&mut self, now: Time, direction: Direction, packet: Box<Packet>, out: &mut Out) {
        self.wake(now, out);
        if self.leaving[direction as usize].is_empty() {
            out.send(direction, packet);
        } else {
            self.add(now, direction, packet);
        }
    }

    fn wake(&mut self, now: Time, out: &mut Out) {
        for direction in [Direction::Up, Direction::Down] {
            let leaving = &mut self.leaving[direction as usize];
            while leaving.front().is_some_and(|(leaves, _)| *leaves <= now)
                && let Some((_, packet)) = leaving.pop_front()
            {
                out.send(direction, packet);
            }
        }
    }

    fn deadline(&self) -> Time {
        let first = self.leaving.iter().filter_map(|leaving| leaving.front()).map(|(leaves, _)| *leaves);
        first.min().unwrap_or(Time::MAX)
    }

    fn take(&mut self, packets: &mut Vec<(Time, Direction, Box<Packet>)>) {
        for direction in [Direction::Up, Direction::Down] {
            let leaving = self.leaving[direction as usize].drain(..);
            packets.extend(leaving.map(|(leaves, packet)| (leaves, direction, packet)));
        }
    }
}
