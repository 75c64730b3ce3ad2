use crate::{Change, Direction, Element, Out, QueueState, Unsupported};
use std::collections::VecDeque;
use wire::{Packet, Time};

/// Elements in a row, for each direction in its own order.
///
/// While a chain is late, its elements are woken at their own deadlines in the order of time (ties: the element that
/// was named first), so that lateness does not add up.
#[derive(Debug, Default)]
pub struct Chain {
    slots: Vec<Slot>,
    /// The elements that packets of a direction meet, in order.
    order: [Vec<u32>; 2],
    earliest: Time,
    /// Packets that left an element together and are to go on, the last first.
    together: Vec<(u32, Direction, Box<Packet>)>,
    /// What was in flight when the elements were replaced, and what came behind it since: in order, with the time at
    /// which it leaves.
    leaving: [VecDeque<(Time, Box<Packet>)>; 2],
}

#[derive(Debug)]
struct Slot {
    element: Box<dyn Element>,
    deadline: Time,
    /// The slot after this one, for each direction.
    next: [u32; 2],
}

/// Behind the last slot.
const END: u32 = u32::MAX;

impl Chain {
    /// Packets that travel up meet the elements with the indices `up`, in this order, those that travel down the
    /// elements `down`. An element may be in both: then it is shared by the directions.
    ///
    /// # Panics
    /// When an index is none of an element's or is twice in one list.
    pub fn new(elements: Vec<Box<dyn Element>>, up: &[usize], down: &[usize]) -> Chain {
        let slot = |element: Box<dyn Element>| Slot { deadline: element.deadline(), element, next: [END; 2] };
        let mut slots: Vec<Slot> = elements.into_iter().map(slot).collect();
        let order = [up, down].map(|list| list.iter().map(|&index| index as u32).collect::<Vec<_>>());
        for (way, list) in order.iter().enumerate() {
            for (place, &index) in list.iter().enumerate() {
                assert!(!list[..place].contains(&index), "an element is met once");
                slots[index as usize].next[way] = list.get(place + 1).copied().unwrap_or(END);
            }
        }
        let mut chain = Chain { slots, order, ..Chain::default() };
        chain.reckon();
        chain
    }

    /// A chain whose directions share nothing.
    pub fn of(uplink: Vec<Box<dyn Element>>, downlink: Vec<Box<dyn Element>>) -> Chain {
        let up: Vec<usize> = (0..uplink.len()).collect();
        let down: Vec<usize> = (uplink.len()..uplink.len() + downlink.len()).collect();
        Chain::new(uplink.into_iter().chain(downlink).collect(), &up, &down)
    }

    /// A packet goes on at slot `at`; what comes of it runs through to the end.
    #[inline]
    fn pass(&mut self, now: Time, mut at: u32, mut direction: Direction, mut packet: Box<Packet>, out: &mut Out) {
        loop {
            let next = if let Some(slot) = self.slots.get_mut(at as usize) {
                let before = (out.sent.len(), out.dropped.len());
                slot.element.push(now, direction, packet, out);
                self.left(at, before, out)
            } else {
                self.exit(now, direction, packet, out);
                None
            };
            let Some(next) = next.or_else(|| self.together.pop()) else { return };
            (at, direction, packet) = next;
        }
    }

    /// To be called after a call of the element `index`, before which `out` had as many packets: where the first one
    /// that left it goes on. The others that did are put by.
    #[inline]
    fn left(&mut self, index: u32, before: (usize, usize), out: &mut Out) -> Option<(u32, Direction, Box<Packet>)> {
        let slot = &mut self.slots[index as usize];
        slot.deadline = slot.element.deadline();
        let (sent, dropped) = before;
        if out.dropped.len() > dropped {
            out.dropped[dropped..].iter_mut().for_each(|dropped| dropped.element = index);
        }
        if out.sent.len() == sent {
            return None;
        }
        let next = slot.next;
        if let [(way, _)] = out.sent[sent..]
            && next[way as usize] == END
            && self.leaving[way as usize].is_empty()
        {
            return None; // it is where it goes
        }
        if out.sent.len() > sent + 1 {
            let others = out.sent.drain(sent + 1..).rev();
            self.together.extend(others.map(|(way, packet)| (next[way as usize], way, packet)));
        }
        let (way, packet) = out.sent.pop()?;
        Some((next[way as usize], way, packet))
    }

    #[inline]
    fn exit(&mut self, now: Time, direction: Direction, packet: Box<Packet>, out: &mut Out) {
        let leaving = &mut self.leaving[direction as usize];
        match leaving.back() {
            None => out.send(direction, packet),
            Some(&(before, _)) => leaving.push_back((before.max(now), packet)),
        }
    }

    /// Does what was to be done before `now`, and at `now` if `inclusive`.
    fn catch_up(&mut self, now: Time, inclusive: bool, out: &mut Out) {
        while self.earliest < now || inclusive && self.earliest == now && now < Time::MAX {
            let at = self.earliest;
            if self.leaving.iter().any(|leaving| !leaving.is_empty()) {
                self.release(at, out);
            }
            let mut index = 0;
            while let Some(slot) = self.slots.get_mut(index) {
                if slot.deadline <= at {
                    let before = (out.sent.len(), out.dropped.len());
                    slot.element.wake(at, out);
                    self.go_on(at, index, before, out);
                }
                index += 1;
            }
            self.reckon();
        }
    }

    /// What was in flight when the elements were replaced leaves when its time has come.
    #[cold]
    fn release(&mut self, now: Time, out: &mut Out) {
        for direction in [Direction::Up, Direction::Down] {
            let leaving = &mut self.leaving[direction as usize];
            while leaving.front().is_some_and(|(leaves, _)| *leaves <= now)
                && let Some((_, packet)) = leaving.pop_front()
            {
                out.send(direction, packet);
            }
        }
    }

    /// What left the element last called runs through to the end.
    #[inline]
    fn go_on(&mut self, now: Time, index: usize, before: (usize, usize), out: &mut Out) {
        if let Some((next, way, packet)) = self.left(index as u32, before, out) {
            self.pass(now, next, way, packet, out);
        }
    }

    #[inline]
    fn reckon(&mut self) {
        let leaving = self.leaving.iter().filter_map(|leaving| leaving.front()).map(|(leaves, _)| *leaves);
        let earliest = leaving.min().unwrap_or(Time::MAX);
        self.earliest = self.slots.iter().fold(earliest, |earliest, slot| earliest.min(slot.deadline));
    }

    /// Puts the elements of `new` in the place of these. What waits for its turn to be served, or would have come to,
    /// meets the new ones, in order; what is behind the last server is in flight and leaves when it would have left
    /// the element that it is in. Nothing overtakes it.
    fn replace(&mut self, now: Time, new: Chain, out: &mut Out) {
        let mut old = std::mem::replace(self, new);
        self.leaving = std::mem::take(&mut old.leaving);
        let mut again = Vec::new();
        let mut taken = Vec::new();
        for list in &old.order {
            let is_server = |&index: &u32| old.slots[index as usize].element.is_server();
            let last_server = list.iter().rposition(is_server);
            for (place, &index) in list.iter().enumerate().rev() {
                old.slots[index as usize].element.take(&mut taken);
                let in_flight = last_server.is_none_or(|server| place > server);
                for (leaves, direction, packet) in taken.drain(..) {
                    if in_flight && leaves < Time::MAX {
                        let leaving = &mut self.leaving[direction as usize];
                        let before = leaving.back().map_or(now, |(before, _)| *before);
                        leaving.push_back((leaves.max(before), packet));
                    } else {
                        again.push((direction, packet));
                    }
                }
            }
        }
        for (direction, packet) in again {
            self.enter(now, direction, packet, out);
        }
        self.reckon();
    }

    fn enter(&mut self, now: Time, direction: Direction, packet: Box<Packet>, out: &mut Out) {
        let first = self.order[direction as usize].first().copied().unwrap_or(END);
        self.pass(now, first, direction, packet, out);
    }
}

impl Element for Chain {
    fn push(&mut self, now: Time, direction: Direction, packet: Box<Packet>, out: &mut Out) {
        if self.earliest < now {
            self.catch_up(now, false, out);
        }
        self.enter(now, direction, packet, out);
        self.reckon();
    }

    #[inline]
    fn wake(&mut self, now: Time, out: &mut Out) {
        self.catch_up(now, true, out);
    }

    #[inline]
    fn deadline(&self) -> Time {
        self.earliest
    }

    /// [`Change::Profile`] replaces the elements; any other change goes to the first element that takes it.
    fn change(&mut self, now: Time, change: Change, out: &mut Out) -> Result<(), Unsupported> {
        self.catch_up(now, false, out);
        let result = self.apply(now, change, out);
        self.reckon();
        result
    }

    fn take(&mut self, packets: &mut Vec<(Time, Direction, Box<Packet>)>) {
        for direction in [Direction::Up, Direction::Down] {
            let leaving = self.leaving[direction as usize].drain(..);
            packets.extend(leaving.map(|(leaves, packet)| (leaves, direction, packet)));
            for &index in self.order[direction as usize].iter().rev() {
                let slot = &mut self.slots[index as usize];
                slot.element.take(packets);
                slot.deadline = slot.element.deadline();
            }
        }
        self.reckon();
    }

    fn queues<'a>(&'a self, states: &mut Vec<QueueState<'a>>) {
        self.slots.iter().for_each(|slot| slot.element.queues(states));
    }

    fn is_server(&self) -> bool {
        self.slots.iter().any(|slot| slot.element.is_server())
    }
}

impl Chain {
    fn apply(&mut self, now: Time, mut change: Change, out: &mut Out) -> Result<(), Unsupported> {
        if let Change::Profile(new) = change {
            self.replace(now, *new, out);
            return Ok(());
        }
        for index in 0..self.slots.len() {
            let before = (out.sent.len(), out.dropped.len());
            let result = self.slots[index].element.change(now, change, out);
            self.go_on(now, index, before, out);
            match result {
                Ok(()) => return Ok(()),
                Err(Unsupported(back)) => change = back,
            }
        }
        Err(Unsupported(change))
    }
}
